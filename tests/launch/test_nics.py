"""Network devices."""

import pytest

from paddle._launch import nics
from paddle._launch.errors import DeviceError


def test_the_loopback_device_has_the_loopback_address() -> None:
    assert nics.devices()["lo"] == "127.0.0.1"
    assert nics.addresses_of(["lo"]) == ("127.0.0.1",)


def test_no_devices_are_no_addresses() -> None:
    assert nics.addresses_of([]) == ()


def test_an_unknown_device_is_answered_with_those_that_exist() -> None:
    with pytest.raises(DeviceError) as caught:
        nics.addresses_of(["lo", "nic9"])
    assert "'nic9' does not exist" in str(caught.value)
    assert "lo (127.0.0.1)" in str(caught.value)
    assert caught.value.exit_status == 2


def test_a_name_longer_than_the_kernel_knows_is_just_unknown() -> None:
    with pytest.raises(DeviceError, match="does not exist"):
        nics.addresses_of(["n" * 500])


def test_a_device_without_an_address_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nics, "devices", lambda: {"eth0": None, "eth1": "10.0.0.7"})
    assert nics.addresses_of(["eth1"]) == ("10.0.0.7",)
    with pytest.raises(DeviceError, match=r"'eth0' has no IPv4 address.*eth1 \(10\.0\.0\.7\)"):
        nics.addresses_of(["eth0"])


@pytest.mark.parametrize(
    ("address", "expected"), [("127.0.0.2", True), ("10.0.0.7", False), ("0.0.0.0", False)]
)
def test_loopback_is_what_only_this_machine_reaches(address: str, expected: bool) -> None:
    assert nics.is_loopback(address) is expected

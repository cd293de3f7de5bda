"""Network devices of this machine and their IPv4 addresses, asked of the kernel.

It must never know what an address is used for. Guarantee: a device is turned into the address that it has
now, or refused by name beside those that there are.
"""

from __future__ import annotations

import fcntl
import socket
import struct
from collections.abc import Iterable, Sequence

from paddle._launch.errors import DeviceError

_SIOCGIFADDR = 0x8915
_ADDRESS = slice(
    20, 24
)  # of struct ifreq: 16 bytes of name, then a sockaddr_in whose address is its bytes 4 to 7


def devices() -> dict[str, str | None]:
    """Give every network device with its IPv4 address, ``None`` where it has none."""
    return {name: _address(name) for _, name in socket.if_nameindex()}


def addresses_of(names: Sequence[str]) -> tuple[str, ...]:
    """Give the address of each device in ``names``; raise ``DeviceError`` for one that has none."""
    known = devices()
    for name in names:
        if not known.get(name):
            trouble = "has no IPv4 address" if name in known else "does not exist"
            having = ", ".join(f"{other} ({address})" for other, address in known.items() if address)
            raise DeviceError(
                f"Network device {name!r} {trouble}. This machine has {having or 'none with an address'}. "
                "Name one of these with --nics (PADDLE_NIC in conf.py)."
            )
    return tuple(address for name in names if (address := known[name]))


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches ``address``."""
    return address.startswith("127.") or address in ("localhost", "::1")


def exposed(addresses: Iterable[str], how: str) -> list[str]:
    """What to tell people who serve without a token at those of ``addresses`` that others reach; ``how``: to
    start with one."""
    return [
        f"NO TOKEN IS SET: whoever reaches {address} can read, change and stop this training. Make a token, "
        "`(umask 077; python3 -c 'import secrets; print(secrets.token_hex(32))' > job.token)`, and start "
        f"{how}."
        for address in addresses
        if not is_loopback(address)
    ]


def _address(name: str) -> str | None:
    request = struct.pack("256s", name.encode())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            answer = fcntl.ioctl(asked.fileno(), _SIOCGIFADDR, request)
        except OSError:
            return None
    return socket.inet_ntoa(answer[_ADDRESS])

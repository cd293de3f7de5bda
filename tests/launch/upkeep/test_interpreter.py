"""Which wheels fit a node's Python is told by its tags; a Python for which there are none is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging import tags
from packaging.markers import default_environment

from paddle._launch.agent import premises
from paddle._launch.errors import NodeUnfit
from paddle._launch.machines.said import understood
from paddle._launch.upkeep.interpreter import Interpreter, Premises

SAID = premises.look(Path("/no/such/root"))
HERE = understood(SAID, Premises)


def changed(**how: object) -> Premises:
    return msgspec.structs.replace(HERE, **how)


def test_of_this_python_they_are_those_that_pip_takes() -> None:
    assert list(tags.platform_tags()) == sorted(
        HERE.interpreter.platforms, key=list(tags.platform_tags()).index
    )
    assert HERE.interpreter.abi == next(tags.cpython_tags()).abi
    assert HERE.interpreter.version == f"{sys.version_info[0]}.{sys.version_info[1]}"


def test_conditions_are_asked_of_what_this_python_says_of_itself() -> None:
    own = dict.fromkeys(("platform_release", "platform_version"), "")  # a kernel's: no kind of Python
    assert HERE.interpreter.marks == {
        name: own.get(name, value) for name, value in default_environment().items() if name != "extra"
    }


@given(st.integers(5, 99), st.integers(5, 99), st.sampled_from(["x86_64", "aarch64", "ppc64le", "i686"]))
def test_a_wheel_for_glibc_fits_where_that_is_as_new(its: int, nodes: int, machine: str) -> None:
    platforms = Interpreter("cp311", machine, ("glibc", f"2.{nodes}"), "3.11.2").platforms
    oldest = 5 if machine in ("x86_64", "i686") else 17
    assert (f"manylinux_2_{its}_{machine}" in platforms) == (oldest <= its <= nodes)
    assert (f"manylinux2014_{machine}" in platforms) == (nodes >= 17)
    assert all(platform.endswith(f"_{machine}") for platform in platforms)
    assert not any("musl" in platform for platform in platforms)


@given(st.integers(0, 9), st.integers(0, 9))
def test_a_wheel_for_musl_fits_where_that_is_as_new(its: int, nodes: int) -> None:
    platforms = Interpreter("cp312", "aarch64", ("musl", f"1.{nodes}"), "3.12.1").platforms
    assert (f"musllinux_1_{its}_aarch64" in platforms) == (its <= nodes)
    assert not any("manylinux" in platform for platform in platforms)


def test_the_newest_comes_first() -> None:
    platforms = Interpreter("cp311", "x86_64", ("glibc", "2.17"), "3.11.2").platforms
    assert platforms[:3] == ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_16_x86_64")
    assert platforms[-1] == "linux_x86_64"


def test_a_python_of_32_bits_on_a_kernel_of_64_takes_those_of_32() -> None:
    assert changed(machine="x86_64", bits=32).interpreter.machine == "i686"
    assert changed(machine="aarch64", bits=32).interpreter.machine == "armv7l"
    assert changed(machine="aarch64", bits=64).interpreter.machine == "aarch64"


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"implementation": "pypy"}, ["is pypy", "needs CPython", "fab install --python="]),
        ({"libc": ("", "")}, ["does not say which library of C", "fab install --python="]),
    ],
)
def test_a_python_for_which_there_can_be_no_wheels_is_named(how: dict[str, object], words: list[str]) -> None:
    with pytest.raises(NodeUnfit) as caught:
        _ = changed(**how).interpreter
    assert HERE.python in str(caught.value)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    "how",
    [
        {"abi": "cp311/../../evil"},
        {"abi": "cp311\n"},
        {"abi": "pp311"},
        {"abi": "cp3" + "1" * 5000},
        {"machine": "../x86_64"},
        {"machine": ""},
        {"libc": ["glibc", "x"]},
        {"libc": ["glibc", "2.36-abc/../../../../evil"]},
        {"libc": ["glibc", "2." + "9" * 5000]},
        {"libc": ["uclibc", "1.0"]},
        {"libc": ["glibc"]},
        {"implementation": "\x1b[2J"},
        {"version": "3.11"},
        {"version": "3.11.2; python_version"},
        {"python": "python3\nrm"},
        {"bits": 128},
        {"free": -1},
        {"free": 10**400},
        {"free": 1e400},
        {"venvs": [1]},
        {"ground": "x" * 10_000},
    ],
)
def test_what_no_python_is_called_is_refused_and_becomes_no_path(
    how: dict[str, object],
) -> None:
    with pytest.raises(NodeUnfit, match="it says of itself what is not understood") as caught:
        understood({**SAID, **how}, Premises)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_it_is_called_what_people_call_it() -> None:
    assert str(Interpreter("cp311", "x86_64", ("glibc", "2.36"), "3.11.2")) == (
        "CPython 3.11 on x86_64 with glibc 2.36"
    )
    assert "free-threaded" in str(Interpreter("cp313t", "x86_64", ("glibc", "2.36"), "3.13.0"))

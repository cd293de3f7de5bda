"""The programs that are being written: the default ones, and what stands for them within a block of code.

It must never know what is written. Guarantee: leaving a guard, by an error too, brings back what was before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paddle._program.errors import BadArgument
from paddle._program.program import Program

_main, _startup = Program(), Program()
_names: list[str] = []


def default_main_program() -> Program:
    """The program that layers are appended to."""
    return _main


def default_startup_program() -> Program:
    """The program that gives variables their first values."""
    return _startup


def switch_main_program(program: Program) -> Program:
    """Append layers to another program from now on; returns the one before."""
    global _main
    before, _main = _main, program
    return before


def switch_startup_program(program: Program) -> Program:
    """Append initializers to another program from now on; returns the one before."""
    global _startup
    before, _startup = _startup, program
    return before


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Append to these programs within the block."""
    for program in (main_program, startup_program):
        if program is not None and not isinstance(program, Program):
            raise BadArgument(f"program_guard takes Programs, not {program!r}")
    main = switch_main_program(main_program)
    startup = None if startup_program is None else switch_startup_program(startup_program)
    try:
        yield
    finally:
        switch_main_program(main)
        if startup is not None:
            switch_startup_program(startup)


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Operators of the block belong together, for people who read the program."""
    _names.append(prefix or "")
    try:
        yield
    finally:
        _names.pop()

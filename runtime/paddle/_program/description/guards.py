"""The programs that are being written: the default ones, and what stands for them within a block of code.

It must never know what is written. Guarantee: leaving a guard, by an error too, brings back what was before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paddle._program.description.program import Program
from paddle._program.description.written import now
from paddle._program.errors import BadArgument


def default_main_program() -> Program:
    """The program that layers are appended to."""
    writing = now()
    if writing.main is None:
        writing.main = Program()
    return writing.main


def default_startup_program() -> Program:
    """The program that gives variables their first values."""
    writing = now()
    if writing.startup is None:
        writing.startup = Program()
    return writing.startup


def switch_main_program(program: Program) -> Program:
    """Append layers to another program from now on; returns the one before."""
    before = default_main_program()
    now().main = program
    return before


def switch_startup_program(program: Program) -> Program:
    """Append initializers to another program from now on; returns the one before."""
    before = default_startup_program()
    now().startup = program
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
    """Operators of the block belong together, for people who read the program: each says so in its attribute
    ``op_namescope``, ``/outer/inner/``. A second block of one name is counted: ``/outer_1/``."""
    programs = (default_main_program(), default_startup_program())
    before = [program._name_scope for program in programs]
    for program, outer in zip(programs, before, strict=True):
        program._name_scope = program._counted_scope(f"{outer or '/'}{prefix or ''}")
    try:
        yield
    finally:
        for program, outer in zip(programs, before, strict=True):
            program._name_scope = outer

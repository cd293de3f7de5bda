"""Program: blocks of operators, as people write them, look at them and change them.

It must never know how it is run. Guarantee: ``_version`` differs between any two states of a program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any

from paddle._program.description.block import Block, reads_of
from paddle._program.description.operator import BACKWARD, FORWARD, LR_SCHED, OPTIMIZE, Operator
from paddle._program.description.variable import Parameter, Variable
from paddle._program.description.written import now
from paddle._program.errors import BadArgument


class Program:
    """See the module's text. ``random_seed``: 0 draws anew in every run of the startup program."""

    def __init__(self) -> None:
        self.blocks = [Block(self, 0)]
        self.current_block_idx = 0
        self._seed = now().seed
        self._version = 0
        self._op_role = FORWARD
        self._name_scope = ""  # of operators that are appended now
        self._scopes: Counter[str] = Counter()  # how many there were, by name
        self._is_test = False
        self._rates: dict[str, Any] = {}  # learning rates that the program drives: variable -> what gives it
        self._schedules: dict[
            str, Any
        ] = {}  # those of them that a job's servers compute: variable -> schedule
        self._carrier: Any = None  # what gives the exchange of a distributed program; None: in this process
        self._beginning: Any = None  # what a parameter server's program begins with, where it loads it
        self._twins: dict[object, Program] = {}  # parts of it as it is now, by what they are for

    def _counted_scope(self, path: str) -> str:
        """The name of another scope: its path, and how many had it before, if any."""
        before = self._scopes[path]
        self._scopes[path] += 1
        return f"{path}_{before}/" if before else f"{path}/"

    def _bump(self) -> None:
        self._version += 1
        self._twins = {}

    def _twin(self, what: object, make: Callable[[], Program]) -> Program:
        """A part of the program that is run in its place, made once as long as this does not change."""
        found = self._twins.get(what)
        if found is None:
            found = self._twins[what] = make()
        return found

    @property
    def random_seed(self) -> int:
        """The seed of all randomness of its operators."""
        return self._seed

    @random_seed.setter
    def random_seed(self, seed: int) -> None:
        if not isinstance(seed, int):
            raise BadArgument(f"Program.random_seed is an int, not {seed!r}")
        self._seed = seed
        self._bump()

    def global_seed(self, seed: int = 0) -> None:
        """The ``random_seed`` of this program, and of all that are made later."""
        self.random_seed = seed
        now().seed = seed

    @property
    def num_blocks(self) -> int:
        """How many blocks it has."""
        return len(self.blocks)

    @property
    def desc(self) -> Program:
        """Stands for the description that upstream keeps beside."""
        return self

    def global_block(self) -> Block:
        """The first block."""
        return self.blocks[0]

    def block(self, index: int) -> Block:
        """The block of that number."""
        return self.blocks[index]

    def current_block(self) -> Block:
        """The block that is being written."""
        return self.blocks[self.current_block_idx]

    def _create_block(self, parent_idx: int | None = None) -> Block:
        parent = self.current_block_idx if parent_idx is None else parent_idx
        self.blocks.append(Block(self, len(self.blocks), parent))
        self.current_block_idx = len(self.blocks) - 1
        self._bump()
        return self.current_block()

    def _rollback(self) -> None:
        self.current_block_idx = self.current_block().parent_idx

    create_block, rollback = _create_block, _rollback

    def list_vars(self) -> Iterator[Variable]:
        """All variables of all blocks."""
        return (each for block in self.blocks for each in list(block.vars.values()))

    def all_parameters(self) -> list[Parameter]:
        """All parameters."""
        return [each for block in self.blocks for each in block.all_parameters()]

    @contextmanager
    def _role_guard(self, role: int) -> Iterator[None]:
        before, self._op_role = self._op_role, role
        try:
            yield
        finally:
            self._op_role = before

    def _optimized_guard(self, param_and_grads: Any = None) -> Any:
        return self._role_guard(OPTIMIZE)

    def _lr_schedule_guard(self, is_with_opt: bool = False) -> Any:
        return self._role_guard(LR_SCHED | (OPTIMIZE if is_with_opt else 0))

    def _backward_role_guard(self) -> Any:
        return self._role_guard(BACKWARD)

    optimized_guard = _optimized_guard

    def clone(self, for_test: bool = False) -> Program:
        """A copy that later changes do not touch. ``for_test``: without gradients and updates, and operators
        that behave otherwise in a test (dropout, batch_norm) do so. Parameters keep their names."""
        twin = Program.__new__(type(self))
        vars(twin).update(vars(self))
        twin._rates, twin._twins = dict(self._rates), {}
        twin.blocks = [_copied(block, twin) for block in self.blocks]
        for op in (op for block in twin.blocks for op in block.ops):
            op.attrs = {
                name: twin.blocks[value.idx] if isinstance(value, Block) else value
                for name, value in op.attrs.items()
            }
        if for_test:
            twin._is_test = True
            for block in twin.blocks:
                _turn_to_test(block)
        return twin

    def _prune(self, targets: Sequence[Any]) -> Program:
        """A copy with only those operators on which ``targets`` depend."""
        return self._prune_with_input([], targets)

    def _prune_with_input(self, feeded_var_names: Sequence[str], targets: Sequence[Any]) -> Program:
        """The same, where some variables will be fed. What moves parameters is kept where it is a target
        itself: it writes what everything reads."""
        several = targets if isinstance(targets, list | tuple) else [targets]
        twin = self.clone()
        block = twin.global_block()
        asked = [self._place_of(each) for each in several if isinstance(each, Operator)]
        wanted = {_name_of_target(each) for each in several if not isinstance(each, Operator)}
        wanted -= set(feeded_var_names)
        kept: list[Operator] = []
        for place, op in reversed(list(enumerate(block.ops))):
            if place in asked or (not op.is_move and not wanted.isdisjoint(op.output_arg_names)):
                wanted.update(name for name in reads_of(op) if name not in feeded_var_names)
                kept.append(op)
        block.ops = kept[::-1]
        used = {name for op in kept for name in (*reads_of(op), *op.output_arg_names)} | wanted
        used |= set(feeded_var_names)
        block.vars = {name: each for name, each in block.vars.items() if name in used}
        return twin

    prune = _prune

    def _place_of(self, op: Operator) -> int:
        """Where in the first block an operator stands: this program's own, or of what it was copied from."""
        ops = self.global_block().ops
        for place, each in enumerate(ops):
            if each is op:
                return place
        alike = [
            each.type == op.type and each.outputs == op.outputs and each.where == op.where for each in ops
        ]
        if True not in alike:
            raise BadArgument(f"a program is pruned to its own operators, and {op.type!r} is none of them")
        return alike.index(True)

    def _inference_optimize(self, prune_read_op: bool = True) -> Program:
        return self.clone(for_test=True)

    def state_dict(self, mode: str = "all", scope: Any = None) -> dict[str, Any]:
        """What it keeps in a scope, the global one if None, by its names: ``mode`` is all, param (parameters)
        or opt (what optimizers remember, and learning rates)."""
        from paddle._program.files.state import state_of_program

        return state_of_program(self, mode, scope)

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Any = None) -> None:
        """Set what it keeps. Names that it does not have are passed over with a warning."""
        from paddle._program.files.state import set_program_state

        set_program_state(self, state_dict, scope)

    def serialize_to_string(self) -> bytes:
        """The bytes of it, as the original keeps programs."""
        from paddle._program.description import program_desc

        return program_desc.serialized(self)

    @staticmethod
    def parse_from_string(binary_str: bytes) -> Program:
        """The program of such bytes; who may be trained is not among them, where 1.x wrote them."""
        from paddle._program.description import program_desc

        return program_desc.parsed(binary_str)

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """The text form of the same. ``with_details``: for people, a line for each variable and operator."""
        from paddle._program.description import program_desc

        if with_details:
            return "\n".join(block.to_string(throw_on_error, with_details) for block in self.blocks)
        return program_desc.text(self)

    def __str__(self) -> str:
        return self.to_string()

    __repr__ = __str__


def _name_of_target(target: Any) -> str:
    if isinstance(target, str):
        return target
    if isinstance(target, Variable):
        return target.name
    raise BadArgument(f"a program is pruned to variables, names or operators, not {target!r}")


def _copied(block: Block, program: Program) -> Block:
    twin = Block(program, block.idx, block.parent_idx, block.forward_block_idx)
    for name, variable in block.vars.items():
        twin.vars[name] = own = copy(variable)
        own.block = twin
    for op in block.ops:
        twin.ops.append(_copied_op(op, twin))
    return twin


def _copied_op(op: Operator, block: Block) -> Operator:
    twin = copy(op)
    twin.block, twin.attrs = block, dict(op.attrs)
    twin.inputs = {slot: list(names) for slot, names in op.inputs.items()}
    twin.outputs = {slot: list(names) for slot, names in op.outputs.items()}
    return twin


def _turn_to_test(block: Block) -> None:
    dropped = [op for op in block.ops if op.role & (BACKWARD | OPTIMIZE | LR_SCHED)]
    block.ops = [op for op in block.ops if not op.role & (BACKWARD | OPTIMIZE | LR_SCHED)]
    for op in block.ops:
        if "is_test" in op.attrs:
            op.attrs["is_test"] = True
    used = {name for op in block.ops for name in (*reads_of(op), *op.output_arg_names)}
    for name in {name for op in dropped for name in (*op.input_arg_names, *op.output_arg_names)} - used:
        variable = block.vars.get(name)
        if variable is not None and not isinstance(variable, Parameter) and not variable.is_data:
            del block.vars[name]

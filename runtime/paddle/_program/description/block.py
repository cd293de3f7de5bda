"""Block: variables by name, and operators in order. The body of a program, or of a loop or branch in it.

It must never know how an operator is computed; it has the room's rows infer what one gives. Guarantee: a
variable is found in its block or one of those around it, and every change is a new version of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from paddle._program.description.described import OperatorDesc, VariableDesc
from paddle._program.description.operator import ROLE, Operator, names_of
from paddle._program.description.variable import Parameter, Variable
from paddle._program.errors import BadProgram, check_known

if TYPE_CHECKING:
    from paddle._program.description.program import Program


class Block:
    """See the module's text. ``parent_idx``: -1 for the global block."""

    def __init__(self, program: Program, idx: int, parent_idx: int = -1, forward_idx: int = -1) -> None:
        self.program = program
        self.idx = idx
        self.parent_idx = parent_idx
        self.forward_block_idx = forward_idx
        self.vars: dict[str, Variable] = {}
        self.ops: list[Operator] = []
        self._places: tuple[tuple[int, int], dict[int, int]] | None = None

    def place_of(self, op: Operator) -> int:
        """Where an operator of it stands; one that is being written stands behind all others."""
        now = (self.program._version, len(self.ops))
        if self._places is None or self._places[0] != now:
            self._places = (now, {id(each): place for place, each in enumerate(self.ops)})
        return self._places[1].get(id(op), len(self.ops))

    @property
    def desc(self) -> Block:
        """Stands for the description that upstream keeps beside."""
        return self

    def op_size(self) -> int:
        """How many operators it has."""
        return len(self.ops)

    def op(self, index: int) -> OperatorDesc:
        """What is kept beside the operator of that number."""
        return self.ops[index].desc

    def find_var(self, name: str | bytes) -> VariableDesc | None:
        """What is kept beside its own variable of that name; None where there is none."""
        found = self.vars.get(name.decode() if isinstance(name, bytes) else name)
        return None if found is None else found.desc

    @property
    def parent(self) -> Block | None:
        """The block around it."""
        return None if self.parent_idx < 0 else self.program.blocks[self.parent_idx]

    def has_var(self, name: str) -> bool:
        """Whether it has a variable of that name itself."""
        return name in self.vars

    def var(self, name: str) -> Variable:
        """Its own variable of that name."""
        try:
            return self.vars[name]
        except KeyError:
            near = [each for each in self.vars if name.partition(".")[0] in each]
            known = ", ".join(near or list(self.vars)[:20]) or "none"
            raise BadProgram(f"var {name} not in this block: it has {known}") from None

    def _find_var_recursive(self, name: str) -> Variable | None:
        block: Block | None = self
        while block is not None:
            if name in block.vars:
                return block.vars[name]
            block = block.parent
        return None

    def _var_recursive(self, name: str) -> Variable:
        found = self._find_var_recursive(name)
        return self.var(name) if found is None else found

    var_recursive = _var_recursive

    def has_var_recursive(self, name: str) -> bool:
        """Whether it or a block around it has a variable of that name."""
        return self._find_var_recursive(name) is not None

    def all_parameters(self) -> list[Parameter]:
        """Its parameters, in order of creation."""
        return list(self.iter_parameters())

    def iter_parameters(self) -> Iterator[Parameter]:
        """The same, one by one."""
        return (each for each in self.vars.values() if isinstance(each, Parameter))

    def create_var(self, name: str | None = None, initializer: Any = None, **traits: Any) -> Variable:
        """Declare a variable; one of that name that is there already is returned. That data are declared
        twice, in two ways, is an error. ``initializer`` writes its value here."""
        from paddle._program.description import unique_name

        name = unique_name.generate("_generated_var") if name is None else name
        if name not in self.vars:
            self.vars[name] = Variable(self, name, **traits)
            self.program._bump()
        elif traits.get("is_data"):
            _check_same(self.vars[name], Variable(self, name, **traits))
        if initializer is not None:
            initializer(self.vars[name], self)
        return self.vars[name]

    def _clone_variable(self, var: Variable, force_persistable: bool = True) -> Variable:
        """Declare here what another program has; a scope holds one value of both. No parameter here."""
        traits = {name: getattr(var, name) for name in ("dtype", "lod_level", "type", "is_data")}
        is_kept = force_persistable or var.persistable
        shape = var.shape if var.has_shape else None
        return self.create_var(var.name, shape=shape, persistable=is_kept, **traits)

    clone_variable = _clone_variable

    def create_parameter(
        self, name: str, shape: Any, dtype: Any, initializer: Any = None, **traits: Any
    ) -> Parameter:
        """Declare a parameter in the global block; ``initializer`` writes its first value here."""
        block = self.program.global_block()
        known = block.vars.get(name)
        if isinstance(known, Parameter):
            if known.shape != tuple(shape):
                raise BadProgram(
                    f"parameter {name!r} has shape {known.shape}, another use of it wants {tuple(shape)}"
                )
            made = known
        elif known is not None and known.is_data:
            raise BadProgram(
                f"variable {name!r} is fed, with the shape {known.shape}: a parameter of that name would "
                "take its place; give the parameter another name"
            )
        else:
            made = Parameter(block, shape, dtype, name=name, **traits)
            block.vars[name] = made
            self.program._bump()
        is_new = known is None  # nothing can have written it, and nobody looks through thousands of operators
        if initializer is not None and (is_new or not any(name in op.output_arg_names for op in block.ops)):
            initializer(made, block)
        return made

    def append_op(
        self,
        type: str,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        **others: Any,
    ) -> Operator:
        """Append an operator, and infer what it gives."""
        check_known("append_op", others, "stop_gradient")
        return self._insert_op(len(self.ops), type, inputs, outputs, attrs)

    def _prepend_op(self, type: str, inputs: Any = None, outputs: Any = None, attrs: Any = None) -> Operator:
        return self._insert_op(0, type, inputs, outputs, attrs)

    prepend_op = _prepend_op

    def _insert_op(
        self, index: int, type: str, inputs: Any = None, outputs: Any = None, attrs: Any = None
    ) -> Operator:
        from paddle._program.lowering.inferring import infer
        from paddle._program.lowering.op_rows import completed

        given = {name: value for name, value in (attrs or {}).items() if value is not None}
        given.setdefault(ROLE, self.program._op_role)
        if self.program._name_scope:
            given.setdefault("op_namescope", self.program._name_scope)
        made = Operator(self, type, names_of(inputs), names_of(outputs), completed(type, given))
        for name in made.output_arg_names:
            if self._find_var_recursive(name) is None:
                self.create_var(name)
        infer(made)
        self.ops.insert(index, made)
        for name in made.output_arg_names:
            self._var_recursive(name).op = made
        self.program._bump()
        return made

    insert_op = _insert_op

    def _remove_op(self, index: int) -> None:
        del self.ops[index]
        self.program._bump()

    remove_op = _remove_op

    def _remove_var(self, name: str) -> None:
        self.vars.pop(name, None)
        self.program._bump()

    def _rename_var(self, old: str, new: str) -> Variable:
        variable = self.var(old)
        del self.vars[old]
        variable.name = new
        self.vars[new] = variable
        for op in self.ops:
            op._rename_input(old, new)
            op._rename_output(old, new)
        return variable

    def to_string(self, throw_on_error: bool = True, with_details: bool = False) -> str:
        """For people."""
        lines = [f"    {each.to_string(throw_on_error, with_details=True)}" for each in self.vars.values()]
        lines += [f"    {each.to_string()}" for each in self.ops]
        return "\n".join([f"{{ // block {self.idx}", *lines, "}"])

    __str__ = __repr__ = to_string


def _check_same(known: Variable, made: Variable) -> None:
    for trait in ("shape", "dtype", "lod_level"):
        was, now = getattr(known, trait), getattr(made, trait)
        if was != now:
            raise BadProgram(
                f"variable {known.name!r} has been created before. The previous {trait} is {was}, the new "
                f"one is {now}: give it another name, or begin a new Program"
            )


def reads_of(op: Operator) -> list[str]:
    """All names that an operator reads, those that its blocks read of the outside among them."""
    names = op.input_arg_names
    names += [name for update in op.moves for name in update.input("LearningRate")]
    for block in blocks_of(op):
        names += [name for each in block.ops for name in reads_of(each) if name not in block.vars]
    return names


def blocks_of(op: Operator) -> list[Block]:
    """The blocks that are an operator's own."""
    return [value for value in op.attrs.values() if isinstance(value, Block)]

"""Updates: what the operators that move parameters mean to whoever keeps these.

A row says which rule of the engine an operator is, with which numbers, and under which names and in which
slots a program sees what the rule remembers: who writes the operator goes by it, too. It must never know
where parameters live.

Guarantee: operators of equal numbers and one learning rate are one ``Group``: the keeper of its parameters
has one rule for all, as a job's UpdateSpec says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any

from paddle._engine.exchange import AverageSpec, ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import COUNTS, OPEN
from paddle._program.description.counted_tables import counted_tables
from paddle._program.description.open_tables import open_tables
from paddle._program.description.operator import DIST
from paddle._program.errors import BadProgram
from paddle._program.lowering.entries import entry_of

if TYPE_CHECKING:
    from paddle._program.description.block import Block
    from paddle._program.description.operator import Operator


@dataclass(frozen=True)
class Kept:
    """What a rule remembers of a parameter: in the operator's input ``slot``, and under the ``name`` that
    programs see behind the parameter's. ``of``: what the engine's rule calls it; or it is a number to the
    ``power`` of the steps taken: the attribute of that number, which is also its first value."""

    slot: str
    name: str
    of: str = ""
    power: str = ""


@dataclass(frozen=True)
class UpdateRow:
    """``rule``: the engine's. ``options``: its numbers, by the operator's attributes. ``keeps``: what it
    remembers."""

    rule: str
    options: Callable[[Mapping[str, Any]], dict[str, float]] = lambda attrs: {}
    keeps: tuple[Kept, ...] = ()

    @property
    def slots(self) -> dict[str, str]:
        """What the rule remembers, by the operator's input slots."""
        return {each.slot: each.of for each in self.keeps if each.of}

    @property
    def powers(self) -> dict[str, str]:
        """Input slots that hold a number to the power of the steps taken, by the attribute of that number."""
        return {each.slot: each.power for each in self.keeps if each.power}


def _named(**names: str) -> Callable[[Mapping[str, Any]], dict[str, float]]:
    """The rule's options, by the names of the attributes that say them."""
    return lambda attrs: {option: float(attrs[name]) for option, name in names.items()}


def _is_of_two(attrs: Mapping[str, Any]) -> bool:
    """Whether an operator is of 2.x, which says one more of it: there some rules are other ones."""
    return "multi_precision" in attrs


def _of_adam(attrs: Mapping[str, Any], **more: str) -> dict[str, float]:
    """2.x corrects epsilon as it does the root that it is added to."""
    named = _named(**_BETAS, lazy="lazy_mode", **more)(attrs)
    return {**named, "corrected": 1.0} if _is_of_two(attrs) else named


def _of_adadelta(attrs: Mapping[str, Any]) -> dict[str, float]:
    """Later ones, of 2.5 and 2.6, move by the learning rate, and by what was known before the move."""
    named = _named(epsilon="epsilon", rho="rho")(attrs)
    return {**named, "later": 1.0} if _is_of_two(attrs) else named


def _of_lamb(attrs: Mapping[str, Any]) -> dict[str, float]:
    """Programs of fluid do not say if they always adapt: they do."""
    return _named(**_BETAS, weight_decay="weight_decay")(attrs) | {
        "always_adapt": float(attrs.get("always_adapt", True))
    }


_DRAWN = RowInitial("uniform", -1, 1)
"""How rows of a counted table are drawn: the rest is its rule's."""
_BETAS = {"beta1": "beta1", "beta2": "beta2", "epsilon": "epsilon"}
_VELOCITY = (Kept("Velocity", "velocity", "velocity"),)
_POWER = Kept("Beta1Pow", "beta1_pow_acc", power="beta1")
_ADAM = (
    Kept("Moment1", "moment1", "first"),
    Kept("Moment2", "moment2", "second"),
    _POWER,
    Kept("Beta2Pow", "beta2_pow_acc", power="beta2"),
)

UPDATES: dict[str, UpdateRow] = {
    "sgd": UpdateRow("sgd"),
    "momentum": UpdateRow("fluid_momentum", _named(momentum="mu", nesterov="use_nesterov"), _VELOCITY),
    "lars_momentum": UpdateRow(
        "lars_momentum",
        _named(momentum="mu", coefficient="lars_coeff", weight_decay="lars_weight_decay"),
        _VELOCITY,
    ),
    "adagrad": UpdateRow(
        "fluid_adagrad", _named(epsilon="epsilon"), (Kept("Moment", "moment", "square_sum"),)
    ),
    "decayed_adagrad": UpdateRow(
        "fluid_decayed_adagrad",
        _named(decay="decay", epsilon="epsilon"),
        (Kept("Moment", "moment", "mean_square"),),
    ),
    "adadelta": UpdateRow(
        "fluid_adadelta",
        _of_adadelta,
        (
            Kept("AvgSquaredGrad", "_avg_squared_grad", "mean_square"),
            Kept("AvgSquaredUpdate", "_avg_squared_update", "mean_square_move"),
        ),
    ),
    "rmsprop": UpdateRow(
        "fluid_rmsprop",
        _named(rho="decay", epsilon="epsilon", momentum="momentum", centered="centered"),
        (
            Kept("MeanSquare", "mean_square", "mean_square"),
            Kept("MeanGrad", "mean_grad", "mean"),
            Kept("Moment", "momentum", "velocity"),
        ),
    ),
    "ftrl": UpdateRow(
        "ftrl",
        _named(l1="l1", l2="l2", lr_power="lr_power"),
        (Kept("SquaredAccumulator", "squared", "square_sum"), Kept("LinearAccumulator", "linear", "linear")),
    ),
    "adam": UpdateRow("adam", _of_adam, _ADAM),
    "adamw": UpdateRow("adamw", lambda attrs: _of_adam(attrs, decay="coeff"), _ADAM),
    "adamax": UpdateRow(
        "adamax",
        _named(**_BETAS),
        (Kept("Moment", "moment", "first"), Kept("InfNorm", "inf_norm", "largest"), _POWER),
    ),
    "lamb": UpdateRow("lamb", _of_lamb, _ADAM),
    "dpsgd": UpdateRow("private_sgd", _named(most="clip", batch="batch_size", spread="sigma", seed="seed")),
}
"""One row for each rule, for optimizers of all generations: these say names and order of arguments."""


TALK = frozenset({"send", "send_barrier", "recv", "fetch_barrier", "split_byref", "split_selected_rows"})
"""Operators of a trainer that together are its exchange with parameter servers (ops/talking.py)."""
_WAITS = frozenset({"send_barrier", "recv", "fetch_barrier"})
"""Those of them that stand behind all gradients."""


def columns_of(op: Operator) -> dict[str, str]:
    """What the original's servers keep of a row that an update operator moves, by the operator's slots, and
    what the rule calls it."""
    known = UPDATES[op.type]
    return {slot: of for slot, of in known.slots.items() if op.input(slot)}


def powers_of(op: Operator) -> dict[str, float]:
    """Beside these, numbers to the power of the steps taken, by slots."""
    known = UPDATES[op.type]
    return {slot: float(op.attrs[of]) for slot, of in known.powers.items() if op.input(slot)}


def steps_after(now: float, number: float) -> int:
    """After how many steps a program has ``now`` for a number to their power; 0 where that does not say."""
    return max(round(log(max(now, 1e-38)) / log(number)) - 1, 0) if 0 < number < 1 else 0


def moved_at(op: Operator) -> Sequence[Operator]:
    """The update operators that are done where this one stands."""
    return (op,) if op.type in UPDATES else op.moves


def is_update(op: Operator) -> bool:
    """Whether an operator is there to move parameters, and computes nothing else."""
    return op.type in UPDATES or is_talk(op)


def is_talk(op: Operator) -> bool:
    """Whether it is of an exchange, or shows what that does: of what is received in blocks makes the whole,
    or gives blocks that a server keeps their first values."""
    return op.type in TALK or op.role == DIST


def in_turn(ops: Iterable[Operator]) -> list[Operator]:
    """Operators in the order in which they are done. A ``send`` stands in a program behind what makes its
    gradient; what is sent moves parameters once all gradients are there, and in the order of the updates it
    stands for. The other operators of the exchange are parts of that, and nothing without it."""
    sends: list[Operator] = []
    others: list[Operator] = []
    at: int | None = None
    for op in ops:
        if op.moves:
            sends.append(op)
        elif not is_talk(op):
            others.append(op)
        elif at is None and op.type in _WAITS:
            at = len(others)
    before = len(others) if at is None else at
    return [*others[:before], *sorted(sends, key=lambda op: op.turn), *others[before:]]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A variable of a program, ``name``, that shows what the rule remembers of a ``parameter``: its ``slot``,
    or a number to the ``power`` of the steps."""

    name: str
    parameter: str
    slot: str = ""
    power: float = 0.0


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that are moved by one rule at one rate. ``rate``: the variable that holds it; empty where
    the rule has no use for one, None where the job's servers compute it."""

    rate: str | None
    update: UpdateSpec
    parameters: tuple[ParameterSpec, ...]
    remembered: tuple[Remembered, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return tuple(each.name for each in self.parameters)

    @property
    def tables(self) -> tuple[str, ...]:
        """Those whose gradients are rows: a program that trains none may take another for one."""
        return tuple(each.name for each in self.parameters if each.sparse)

    @property
    def key(self) -> object:
        """What groups have in common that keep the same."""
        options = tuple(sorted(self.update.rule.options.items()))
        return self.update.rule.name, options, self.update.average, self.parameters


def groups(block: Block, updates: Sequence[Operator], sparse: frozenset[str]) -> list[Group]:
    """The groups of update operators, in order of first mention."""
    found: dict[object, list[tuple[ParameterSpec, list[Remembered]]]] = {}
    rates: dict[object, tuple[str | None, UpdateSpec]] = {}
    average, open, own = _average(block), open_tables(block.program), own_rates(block)
    counted = counted_tables(block.program)
    for op in updates:
        known = UPDATES[op.type]
        options = known.options(op.attrs)
        rate, multiplier = _rate_of(own, op)
        if op.type == "dpsgd" and op.input("Param")[0] in sparse:
            raise BadProgram(
                f"operator 'dpsgd' (written at {op.where}) moves parameters by whole gradients, as in 1.8, "
                f"and the gradient of {op.input('Param')[0]!r} is rows: look it up with is_sparse=False"
            )
        key = (known.rule, tuple(sorted(options.items())), rate)
        rule = RuleSpec(name=known.rule, options=options)
        schedule = block.program._schedules.get(rate)
        update = UpdateSpec(rule=rule, schedule=schedule or ScheduleSpec(), reduce="mean", average=average)
        rates.setdefault(key, (rate if schedule is None else None, update))
        name = op.input("Param")[0]
        shape = block._var_recursive(name).shape
        told: dict[str, Any] = {"shape": shape, "sparse": name in sparse}
        if name in open:  # how its rows begin says the scope
            told = {"shape": (OPEN, shape[1]), "sparse": True, "rows": RowsSpec(entry=entry_of(open[name]))}
        if name in counted:
            rows = RowsSpec(initial=_DRAWN, rule=RuleSpec(name="counted", options=counted[name]))
            told = {"shape": (OPEN, COUNTS + shape[1]), "sparse": True, "rows": rows}
        spec = ParameterSpec(name=name, learning_rate=multiplier, **told)
        found.setdefault(key, []).append((spec, _remembered(op, known, name)))
    return [
        Group(
            *rates[key],
            tuple(spec for spec, _ in members),
            tuple(each for _, several in members for each in several),
        )
        for key, members in found.items()
    ]


def _average(block: Block) -> AverageSpec | None:
    """Over how many steps the program wants parameters averaged, if it does."""
    for op in block.ops:
        if op.type == "average_accumulates":
            named = op.attrs["average_window"], op.attrs["min_average_window"], op.attrs["max_average_window"]
            window, least, most = named
            return AverageSpec(window=window, min_window=least, max_window=most)
    return None


def _remembered(op: Operator, known: UpdateRow, name: str) -> list[Remembered]:
    slots = [(slot, of) for slot, of in known.slots.items() if op.input(slot)]
    powers = [(slot, of) for slot, of in known.powers.items() if op.input(slot)]
    return [
        *(Remembered(op.input(slot)[0], name, slot=of) for slot, of in slots),
        *(Remembered(op.input(slot)[0], name, power=float(op.attrs[of])) for slot, of in powers),
    ]


def own_rates(block: Block) -> dict[str, Operator]:
    """What makes rates of parameters of their own, by the variables that hold these."""
    own = (op for op in block.ops if op.type == "scale" and op.attrs.get("own_learning_rate"))
    return {name: op for op in own for name in op.output_arg_names}


def rates_of(own: Mapping[str, Operator], op: Operator) -> list[str]:
    """The variables of the learning rates of what is moved where it stands. ``own``: of ``own_rates``."""
    return [_rate_of(own, each)[0] for each in moved_at(op) if each.input("LearningRate")]


def _rate_of(own: Mapping[str, Operator], op: Operator) -> tuple[str, float]:
    """The variable of the job's learning rate, and what a parameter's own operators multiply it by."""
    if op.type == "adadelta" and not _is_of_two(op.attrs):  # which has no use for one, nor a slot
        return "", 1.0
    if not op.input("LearningRate"):
        raise BadProgram(
            f"operator {op.type!r} needs an input in slot 'LearningRate' (written at {op.where})"
        )
    name, multiplier = op.input("LearningRate")[0], 1.0
    while writer := own.get(name):
        multiplier *= float(writer.attrs["scale"])
        name = writer.input("X")[0]
    return name, multiplier

"""Rows of update operators: one for a rule, whoever writes the operator."""

from __future__ import annotations

import pytest

import paddle
import paddle.fluid as fluid
from paddle._engine.exchange import RuleSpec
from paddle._engine.rules import rule
from paddle._program.lowering.updates import UPDATES


def written(of_fluid: bool, name: str, *numbers: float) -> tuple[str, dict[str, str], dict[str, object]]:
    """The update operator that an optimizer writes: type, what it remembers by slot, and its numbers."""
    main, startup = fluid.Program(), fluid.Program()
    paddle.enable_static()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        x = fluid.layers.data(name="x", shape=[2], dtype="float32")
        loss = fluid.layers.mean(fluid.layers.fc(x, 1, param_attr="w", bias_attr=False))
        face = fluid.optimizer if of_fluid else paddle.optimizer
        getattr(face, name)(0.1, *numbers).minimize(loss)
    paddle.disable_static()
    update = next(op for op in main.global_block().ops if op.type in UPDATES)
    kept = {
        slot: of[0] for slot, of in update.inputs.items() if slot not in ("Param", "Grad", "LearningRate")
    }
    own = {name: value for name, value in update.attrs.items() if not name.startswith("op_")}
    assert {f"{slot}Out" for slot in kept} | {"ParamOut"} == set(update.outputs)
    return update.type, kept, own


@pytest.mark.parametrize(
    "name", ["SGD", "Momentum", "Adagrad", "Adam", "Adamax", "RMSProp", "Adadelta", "Lamb"]
)
def test_both_generations_write_one_operator_for_a_rule(name: str) -> None:
    numbers = (0.9,) if name == "Momentum" else ()
    first, later = (written(of_fluid, name, *numbers) for of_fluid in (True, False))
    assert later[2].pop("always_adapt", False) is False  # of 2.x's Lamb alone
    of_two = later[2].pop("multi_precision", None)  # which tells its rule from fluid's
    assert (of_two is False) == (name in ("Adam", "Adadelta"))
    assert first == later


@pytest.mark.parametrize("type", UPDATES)
def test_a_row_of_an_update_names_what_its_rule_remembers(type: str) -> None:
    """Who saves, shows or resumes it goes by the row."""
    known = UPDATES[type]
    numbers = {"mu": 0.9, "use_nesterov": 0, "beta1": 0.9, "beta2": 0.9, "lazy_mode": 0, "coeff": 0.1}
    numbers |= {"lars_coeff": 0.1, "lars_weight_decay": 0.1, "epsilon": 1e-6, "decay": 0.9, "rho": 0.9}
    numbers |= {"momentum": 0.9, "centered": 1, "l1": 0, "l2": 0, "lr_power": -0.5, "weight_decay": 0.1}
    numbers |= {"clip": 0.9, "batch_size": 16, "sigma": 0.1, "seed": 0}
    made = rule(RuleSpec(name=known.rule, options=known.options(numbers)), None)
    assert set(known.slots.values()) == set(made.slots)
    assert set(known.powers.values()) <= numbers.keys()

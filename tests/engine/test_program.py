"""Programs, their builder and the scope: what faces write against."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.errors import EngineError, FeedError, ShapeError, UnknownOperator
from paddle._engine.initial import Constant
from paddle._engine.program import Operator, Parameter, Program
from paddle._engine.scope import Scope


def small() -> tuple[Builder, object]:
    b = Builder()
    x = b.data("x", (-1, 3))
    w = b.parameter("w", (3, 2), Constant(1.0), l2_rate=0.5, learning_rate=2.0)
    hidden = b.op("dropout", X=b.op("mul", X=x, Y=w))
    return b, b.op("mean", X=hidden)


class TestBuilder:
    def test_outputs_get_names_forms_and_slots(self) -> None:
        b = Builder()
        outs = b.ops("top_k", {"k": 2}, X=b.data("x", (-1, 5)))
        assert [(s, v.name, v.shape, v.dtype) for s, v in outs.items()] == [
            ("Out", "top_k_0.out", (-1, 2), "float32"),
            ("Indices", "top_k_0.indices", (-1, 2), "int64"),
        ]

    def test_attributes_get_their_defaults(self) -> None:
        b, _ = small()
        attrs = b.program.main.operators[1].attrs
        assert attrs == {
            "dropout_prob": 0.5,
            "dropout_implementation": "downgrade_in_infer",
            "is_test": False,
            "seed": 0,
            "draws_as": "",
        }

    def test_a_parameter_named_twice_is_one_parameter(self) -> None:
        b, _ = small()
        assert b.parameter("w", (3, 2), Constant(9.0)) is b.program.main.variables["w"]
        assert [p.name for p in b.program.parameters()] == ["w"]

    def test_a_parameter_keeps_what_its_keeper_must_know(self) -> None:
        b, _ = small()
        (w,) = b.program.parameters()
        assert isinstance(w, Parameter)
        assert (w.spec.shape, w.spec.l2_rate, w.spec.learning_rate, w.spec.sparse) == (
            (3, 2),
            0.5,
            2.0,
            False,
        )

    def test_names_and_shapes_that_clash_are_refused(self) -> None:
        b, _ = small()
        with pytest.raises(ShapeError, match="another use of it wants"):
            b.parameter("w", (3, 3), Constant())
        with pytest.raises(EngineError, match="choose another parameter name"):
            b.parameter("x", (3, 2), Constant())
        with pytest.raises(EngineError, match="has a variable 'x' already"):
            b.data("x", (-1, 3))
        with pytest.raises(ShapeError, match="none of float32, int64"):
            b.data("y", (-1, 3), "float16")

    def test_an_operator_that_does_not_fit_is_named_and_not_appended(self) -> None:
        b, mean = small()
        count = len(b.program.main.operators)
        with pytest.raises(ShapeError, match=r"must be a matrix.*in .*mul\(X=mean_2.out"):
            b.op("mul", X=mean, Y=b.program.main.variables["w"])
        with pytest.raises(UnknownOperator, match="no operator 'conv3d' in this release"):
            b.op("conv3d", X=mean)
        assert len(b.program.main.operators) == count

    def test_variables_of_another_program_are_refused(self) -> None:
        b, _ = small()
        with pytest.raises(EngineError, match="belongs to another program"):
            b.op("relu", X=Builder().data("elsewhere", (-1, 3)))


class TestProgram:
    def test_text_shows_data_parameters_and_operators_in_order(self) -> None:
        b, _ = small()
        assert str(b.program).splitlines() == [
            "{",
            "    data x : float32[-1, 3]",
            "    parameter w : float32[3, 2]",
            "    mul_0.out = mul(X=x, Y=w)",
            "    dropout_1.out, dropout_1.mask = dropout(X=mul_0.out) "
            "[dropout_prob=0.5, dropout_implementation='downgrade_in_infer', is_test=False, seed=0, "
            "draws_as='']",
            "    mean_2.out = mean(X=dropout_1.out)",
            "}",
        ]

    def test_a_clone_for_test_has_only_forward_operators_switched_to_test(self) -> None:
        b, loss = small()
        append_exchange(b.program, append_backward(b.program, loss))
        test = b.program.clone(for_test=True)
        assert [each.type for each in test.main.operators] == ["mul", "dropout", "mean"]
        assert test.main.operators[1].attrs["is_test"] is True
        assert b.program.main.operators[1].attrs["is_test"] is False
        assert not [name for name in test.main.variables if "@GRAD" in name]

    def test_a_clone_is_not_touched_by_later_operators(self) -> None:
        b, loss = small()
        copy = b.program.clone()
        b.op("exp", X=loss)
        assert [each.type for each in copy.main.operators] == ["mul", "dropout", "mean"]

    def test_operators_on_undeclared_variables_are_refused(self) -> None:
        with pytest.raises(EngineError, match="names 'nowhere'"):
            Program().main.append(Operator("exp", {"X": ("nowhere",)}, {}))

    def test_an_unknown_variable_is_refused_with_the_known_ones(self) -> None:
        b, _ = small()
        with pytest.raises(FeedError, match=r"no variable 'y'; it has .*'x'"):
            b.program.variable("y")

    def test_a_program_can_be_forgotten(self) -> None:
        b, _ = small()
        ref = weakref.ref(b.program)
        del b, _
        gc.collect()
        assert ref() is None


class TestScope:
    def test_set_copies_into_the_array_that_is_there(self) -> None:
        scope = Scope()
        scope.set("w", np.zeros(3, np.float32))
        array, generation = scope.get("w"), scope.generation
        scope.set("w", np.array([1.0, 2.0, 3.0]))
        assert scope.get("w") is array and scope.generation == generation
        np.testing.assert_array_equal(array, [1, 2, 3])

    def test_set_keeps_no_hold_of_the_value(self) -> None:
        scope, value = Scope(), np.zeros(3, np.float32)
        scope.set("w", value)
        value[...] = 7
        np.testing.assert_array_equal(scope.get("w"), 0)

    def test_bind_adopts_the_very_array(self) -> None:
        scope, array = Scope(), np.zeros(3, np.float32)
        generation = scope.generation
        scope.bind({"w": array})
        assert scope.get("w") is array and scope.generation > generation
        assert scope.names() == ["w"] and "w" in scope and dict(scope.items()) == {"w": array}

    def test_what_does_not_fit_is_refused(self) -> None:
        scope = Scope()
        scope.set("w", np.zeros(3, np.float32))
        with pytest.raises(ShapeError, match="does not fit"):
            scope.set("w", np.zeros(4))
        with pytest.raises(ShapeError, match="not C-contiguous"):
            scope.bind({"w": np.zeros((4, 4))[:, :2]})
        with pytest.raises(FeedError, match="holds no 'v'"):
            scope.get("v")

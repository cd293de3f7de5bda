"""Gradients of programs that nobody wrote: operators, loops, branches and arrays by chance, against central
differences. What goes wrong is found again by its number."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from tests.faces.fluid.numeric import assert_gradients

layers = fluid.layers
WIDTH, NAMES = 3, ("a", "b", "c")
X = np.random.default_rng(1).uniform(-1, 1, size=(2, WIDTH)).astype(np.float32)
SMOOTH = (layers.tanh, layers.sigmoid, layers.sin, layers.softplus, layers.square, layers.softmax)


class Writer:
    """Writes one program: each move adds a value to those that later ones choose from."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)
        self.values = [layers.data("x", [WIDTH])]
        self.moves = [
            *(self.fc, self.fc, self.bent, self.bent, self.of_two, self.of_two, self.reduced, self.changed),
            *(self.array, self.loop, self.branch, self.rows, self.joined, self.stopped),
        ]

    def one(self) -> Any:
        return self.chance.choice(self.values[-4:])

    def fc(self) -> Any:
        name = self.chance.choice(NAMES)
        return layers.fc(self.one(), WIDTH, param_attr=name, bias_attr=False)

    def bent(self) -> Any:
        return self.chance.choice(SMOOTH)(self.one())

    def of_two(self) -> Any:
        x, y = self.one(), self.one()
        return self.chance.choice([x + y, x - y * 0.5, x * y, x / (layers.square(y) + 1.0)])

    def reduced(self) -> Any:
        x, y = self.one(), self.one()
        whole = self.chance.choice(
            [lambda: layers.reduce_mean(y, 1, keep_dim=True), lambda: layers.reduce_mean(y, 1)]
        )()
        return x * whole

    def changed(self) -> Any:
        """Written over, after others have read what it was."""
        x = layers.scale(self.one(), 1.0)
        before = x * 2.0
        layers.assign(layers.tanh(self.one() + x), x)
        return before - x

    def array(self) -> Any:
        at = layers.fill_constant([1], "int64", self.chance.randrange(2))
        array = layers.array_write(self.one(), at)
        first = layers.array_read(array, at)
        layers.array_write(self.one() * 0.5, at, array)
        return first + layers.array_read(array, at)

    def loop(self) -> Any:
        i = layers.fill_constant([1], "int64", 0)
        n = layers.fill_constant([1], "int64", self.chance.randrange(3))
        state, beside, name = layers.scale(self.one(), 1.0), self.one(), self.chance.choice(NAMES)
        going = layers.less_than(i, n)
        loop = layers.While(going)
        with loop.block():
            moved = layers.fc(state, WIDTH, param_attr=name, bias_attr=False)
            layers.assign(layers.tanh(moved + beside), state)
            layers.increment(i, 1, in_place=True)
            layers.less_than(i, n, cond=going)
        return state

    def branch(self) -> Any:
        x, y, name = self.one(), self.one(), self.chance.choice(NAMES)
        holds = layers.reduce_sum(layers.square(x)) > self.chance.choice([-1.0, 1e9])
        plain = self.chance.random() < 0.5
        bend = layers.tanh if plain else layers.exp
        return layers.cond(
            holds,
            lambda: bend(layers.fc(x, WIDTH, param_attr=name, bias_attr=False) * 0.3),
            lambda: layers.softplus(y) if plain else layers.sqrt(layers.square(y) + 1.0),
        )

    def rows(self) -> Any:
        limit = layers.fill_constant([1], "float32", 0.0)
        ways = layers.IfElse(layers.reduce_sum(self.values[0], 1, keep_dim=True) > limit)
        x = self.one()
        with ways.true_block():
            ways.output(layers.square(ways.input(x)))
        with ways.false_block():
            ways.output(layers.sin(ways.input(x)))
        return ways()[0]

    def joined(self) -> Any:
        both = layers.concat([self.one(), self.one()], 1)
        return layers.slice(both, [1], [1], [1 + WIDTH]) + layers.split(both, 2, 1)[1]

    def stopped(self) -> Any:
        """No gradient goes through it: nor may it change."""
        x = layers.sign(self.one())
        return self.one() * layers.cast(layers.square(x) > -1.0, "float32")

    def loss(self) -> Any:
        for _ in range(self.chance.randint(4, 9)):
            self.values.append(self.chance.choice(self.moves)())
        last = self.values[-1] + layers.fc(self.values[-2], WIDTH, param_attr="a", bias_attr=False)
        return layers.mean(layers.square(layers.tanh(last))) + layers.mean(last)


def names_of(number: int) -> list[str]:
    """The weights that a program's loss hangs on."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        loss = Writer(number).loss()
        return [parameter.name for parameter, _ in fluid.backward.append_backward(loss)]


@pytest.mark.parametrize("number", range(14))
def test_a_program_by_chance_has_the_gradients_of_its_values(number: int) -> None:
    assert_gradients(lambda: Writer(number).loss(), {"x": X}, names_of(number), step=4e-3)


def again(number: int) -> Any:
    """A loss that holds gradients of smooth operators."""
    writer = Writer(number)
    x = writer.values[0]
    x.stop_gradient = False
    writer.moves = [writer.fc, writer.bent, writer.of_two, writer.reduced, writer.joined]
    inner = writer.loss()
    (slope,) = fluid.gradients(inner, x)
    return layers.reduce_sum(layers.square(slope)) + inner


@pytest.mark.parametrize("number", range(20, 26))
def test_a_program_by_chance_has_the_gradients_of_its_gradients(number: int) -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        names = [parameter.name for parameter, _ in fluid.backward.append_backward(again(number))]
    assert_gradients(lambda: again(number), {"x": X}, names, step=4e-3)

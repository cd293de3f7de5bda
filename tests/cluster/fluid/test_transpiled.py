"""The operators of transpiled programs, beside those that 1.8.5 shows of the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle.fluid import transpiler, unique_name
from paddle.fluid.executor import Executor, Scope
from paddle.fluid.framework import Program, program_guard
from paddle.fluid.layers import data, fc, mean, square_error_cost
from paddle.fluid.optimizer import SGD

TWO = "10.0.0.1:6174,10.0.0.2:6174"


def types(program: Program, block: int = 0) -> list[str]:
    return [op.type for op in program.block(block).ops]


FORWARD = "mul elementwise_add relu mul elementwise_add elementwise_sub square mean fill_constant".split()  # noqa: SIM905
UP = "mean_grad square_grad elementwise_sub_grad elementwise_add_grad send mul_grad send".split()  # noqa: SIM905
CUT = "relu_grad elementwise_add_grad send mul_grad split_byref send".split()  # noqa: SIM905
# Of 1.8.5: the operators of a trainer, and of a server's blocks and startup, at the second of two servers.
SHOWN: dict[str, tuple[dict[str, Any], list[str], list[str], list[str]]] = {
    "in step": (
        {},
        [*FORWARD, *UP, *CUT, "send_barrier", *["recv"] * 4, "fetch_barrier", "concat"],
        ["sum", "scale", "sgd"] * 2,
        ["fill_constant", "fill_constant", "uniform_random"],
    ),
    "whole": (
        {"slice_var_up": False},
        [*FORWARD, *UP, *CUT[:4], "send", "send_barrier", *["recv"] * 4, "fetch_barrier"],
        ["sum", "scale", "sgd"] * 2,
        ["fill_constant", "uniform_random", "uniform_random"],
    ),
    "out of step": (
        {"sync_mode": False},
        [*FORWARD, *UP, *CUT, *["recv"] * 4, "concat"],
        ["sgd"] * 2,
        ["fill_constant", "fill_constant", "uniform_random"],
    ),
}


@pytest.mark.parametrize("case", SHOWN)
def test_programs_show_the_operators_of_upstreams_in_their_order(case: str) -> None:
    """Each gradient is sent behind what makes it; a trainer begins with what is received, and a server with
    its blocks, in 1.8.5 the last first."""
    told, of_trainer, of_server, of_start = SHOWN[case]
    main, startup = Program(), Program()
    with unique_name.guard(), program_guard(main, startup):
        x, y = data(name="x", shape=[13], dtype="float32"), data(name="y", shape=[1], dtype="float32")
        guess = fc(input=fc(input=x, size=1300, act="relu"), size=1)
        SGD(learning_rate=0.1).minimize(mean(square_error_cost(input=guess, label=y)))
    made = transpiler.DistributeTranspiler()
    made.transpile(0, program=main, startup_program=startup, pservers=TWO, trainers=2, **told)
    server, start = made.get_pserver_programs(TWO.split(",")[1])
    assert types(made.get_trainer_program()) == of_trainer
    joined = ["concat"] if "concat" in of_trainer else []
    assert types(startup)[-5 - len(joined) :] == [*["recv"] * 4, "fetch_barrier", *joined]
    assert [type for block in range(1, server.num_blocks) for type in types(server, block)] == of_server
    assert sorted(types(start)) == sorted(of_start)
    scope = Scope()
    Executor().run(startup, scope=scope)
    assert np.array(scope.find_var("fc_0.w_0").get_tensor()).any()  # what is received later was begun
    kept = Scope()
    Executor().run(start, scope=kept)  # and a server holds no block twice
    shown = [name for op in start.global_block().ops for name in op.output_arg_names if name[:2] == "fc"]
    held = [kept.find_var(name) for name in shown]
    assert shown and not any(each is not None and each.is_initialized() for each in held)

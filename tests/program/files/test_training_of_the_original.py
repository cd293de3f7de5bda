"""Training that PaddlePaddle broke off and saved goes on here with the losses that followed there.

A network x (2) -> fc(1), of squares against y, from weights of 0.5 and three steps on.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle._program.description.written import fresh
from paddle._program.files import pickles
from paddle.fluid import layers

# Of 1.8.5, by Adam at a rate that decays: save_persistables with a filename, and the two files of fluid.save.
COMBINED, PARAMETERS, OTHERS = (
    (
        "c-muNKm{y7%)u<c$i#phfaO^Q7>~v~?ZYLf^-bL#mz?9TI-GJ!PDgEV$!$-ZV1+Kn29aYDU_8({$L>k<dOK>l2x0R6o+!JIEZsJ^"
        "RkV3dwtjGRz9j&ghZ<V"
    ),
    (
        "c-k$Fy-veG5QNVTF>pW#|NqpkEFn>%6qKCg;wpEReKxvCiJfuILM|djLQe2IP}1`T6!wF`*<p*_m1gIgU78CJ+cO9uZ!koXPiKWA"
        "(kynS`9zI_EDH+iXR%0=xyo{(D9p_jO`?s89wQ~TgfG%47IPXW?LyJ-s39!R(sL51aq@ue6?Qmw*PtAGHZz#Xj1~6(k&!B9+Iira"
        "+VT2`LG`i5A;-{Wy^i*TBiD6besy(?5ryNhl6`NW)n-{&_2;Phs^9DH5l*B|JLNc2I1i;IP1${VA$9yE$5k6|l(?3|7SKM~l>T%5"
        "gPYcP%W<c0ALh;<akO4Z"
    ),
    (
        "c-m#qTT|0O6bJCMP{aT#c)y|Ig^F5fMdeaxOQ{OMqAO^?OH9%@=?qQ#FWc$#LC2RC8GUeu@maruFFNCkGwBD@oF>r%`;hF+?*9Jg"
        "ocF=E5W@0+APC7trp#s1sZ}Mtw31!Uup|PyRVkEe5xrP8B8AF2&#UFKS`(GBp%<+UUasg|M9{q@S~>R=9g<K-r>^M5oS|=shD93@"
        "Avxg0Xy}r=od3GY^Hvo58t7)&zX_3{CoBb|KpnjvnB%pQ^R7=0I`{MAII#6$69*X%g{6*`6-R$In_c+htky>oI0m#WGbDFAr}T;z"
        "4x3KO5r(52$27Tzickv0f?@HfGK%A7&}>zF!gR_w$#BXm<Fx4}zZt_BN<Pal=p>taGtad$L(biy*=Btj=PB?4!w|>Coq;hY@RA>R"
        "nF6mc410lLbC4XGj{Q@$KTqN+K_d*;IIe4Qe+$wKu11wov8t%L?r=AJE<)T*hEb1;x*U}?()=-;K#a6o3}YO(+qGDmcE{K5k~YpT"
        ";c1iqwN&%hy9B04i!)4f%(zWf+oqcEog_IahFNlgQlNpfEA>*FzwJ+JGtKXv_QyEp2+T0t<G8;Qq^Ujd!Fd7~7^HvTq6_vB*qFDs"
        "r<&iIU+k|Fct~QFVTt3B+i-Qy_#XQ%Bliizve)p+?(sb(?HPm2vD&V+k8jP_o|E>1;iad&+C4snwATzOho)5`e*poo7iI"
    ),
)
# Of 2.6.2, by Momentum: the two files of paddle.static.save.
PARAMETERS_2, OTHERS_2 = (
    (
        "c-m`VnR<W$0&1sd^e~oB=@HE<%`K?ZOU^G!)ypl-DalMMDoU)J(!&#9l$xBMS6ot5np`qv@{}G{u)--l?0G2=C6lLkGqg@|W=xvW"
        "J|$?1hBu=(lQ(1AlnmA$)|8UUf>e+urZkf&ogEN)<{n0yDSm!_UjKmrOn5VtOiAi==CI?kx9dN2&~6Hl+XFN&gC&C<WOfE8%w$F&"
        "N3heGWrv*ZK9H(XJplh0PlE"
    ),
    (
        "c-m`Vnaa+{00y;FG<x`RQWJ~vGV{{oixNvx;|-?th~|~%7F6mb=NF~w<(B4@WF{6BC00)9;fXIwP0r6NE-5NaE}1fUN)Ibo;glZs"
        "ycCF%$y2-;TBkTOCQWId5;R4_n^7}^wTCsOq_Q9tq@F3wWJ+fTM2fkG(PoODpP$!%AOI8I3?);NI-Ob0p7F7r0%Z2^B*mAd=Hw@5"
        "mQ(_rmBEt14l+H16Kb|MBakBi)NtlZgFQq;IeraH-i&QvEgb1-m+Xy<+ripO^#H3@Y4Z"
    ),
)
FEED = {"x": np.array([[1, 2], [3, -1]], np.float32), "y": np.array([[1], [0.5]], np.float32)}


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def _put(path: Path, text: str) -> None:
    path.write_bytes(zlib.decompress(base64.b85decode(text)))


def _adam() -> Any:
    x, y = fluid.data("x", [None, 2]), fluid.data("y", [None, 1])
    first = fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(0.5))
    cost = layers.mean(layers.square_error_cost(layers.fc(x, 1, param_attr=first, bias_attr="b"), y))
    fluid.optimizer.Adam(layers.exponential_decay(0.1, 2, 0.5)).minimize(cost)
    return cost


def _losses(exe: Any, cost: Any) -> list[float]:
    return [float(np.ravel(exe.run(feed=FEED, fetch_list=[cost])[0])[0]) for _ in range(3)]


@pytest.mark.parametrize("kind", ["one file", "fluid.save"])
def test_training_of_1_8_goes_on(tmp_path: Path, kind: str) -> None:
    cost, main, exe = _adam(), fluid.default_main_program(), fluid.Executor()
    exe.run(fluid.default_startup_program())
    if kind == "one file":
        _put(tmp_path / "all", COMBINED)
        fluid.io.load_persistables(exe, str(tmp_path), main, "all")
        fluid.io.save_persistables(exe, str(tmp_path), main, "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "all").read_bytes()
    else:
        _put(tmp_path / "m.pdparams", PARAMETERS)
        _put(tmp_path / "m.pdopt", OTHERS)
        fluid.load(main, str(tmp_path / "m"), exe)
    np.testing.assert_allclose(
        _losses(exe, cost), [0.026355212554335594, 0.03698379546403885, 0.03798149526119232], rtol=1e-5
    )


@pytest.fixture
def momentum() -> Iterator[tuple[Any, Any, Any]]:
    """A cost, its program and an executor that has started it."""
    with fresh(is_static=True):
        x, y = paddle.static.data("x", [None, 2], "float32"), paddle.static.data("y", [None, 1], "float32")
        first = paddle.ParamAttr(name="w", initializer=paddle.nn.initializer.Constant(0.5))
        out = paddle.static.nn.fc(x, 1, weight_attr=first, bias_attr=paddle.ParamAttr(name="b"))
        cost = paddle.mean((out - y) ** 2)
        paddle.optimizer.Momentum(0.05, 0.9).minimize(cost)
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())
        yield cost, paddle.static.default_main_program(), exe


def test_training_of_2_6_goes_on_and_is_saved_as_there(tmp_path: Path, momentum: Any) -> None:
    cost, main, exe = momentum
    _put(tmp_path / "m.pdparams", PARAMETERS_2)
    _put(tmp_path / "m.pdopt", OTHERS_2)
    paddle.static.load(main, str(tmp_path / "m"), exe)
    paddle.static.save(main, str(tmp_path / "again"))
    for suffix in (".pdparams", ".pdopt"):
        found, there = (pickles.load(tmp_path / f"{name}{suffix}") for name in ("again", "m"))
        assert list(found) == list(there)
        assert [(each.shape, each.dtype) for each in found.values()] == [
            (each.shape, each.dtype) for each in there.values()
        ]
        for name, value in there.items():
            np.testing.assert_array_equal(found[name], value)
    np.testing.assert_allclose(
        _losses(exe, cost), [0.14443384110927582, 0.1390976905822754, 0.04136170819401741], rtol=1e-5
    )


def test_a_rate_that_was_saved_with_an_axis_is_taken(tmp_path: Path, momentum: Any) -> None:
    """As releases before 2.5 keep it, and ours did."""
    _, main, exe = momentum
    assert tuple(main.global_block().var("learning_rate_0").shape) == ()
    paddle.static.save(main, str(tmp_path / "m"))
    others = pickles.load(tmp_path / "m.pdopt")
    pickles.save(tmp_path / "m.pdopt", {**others, "learning_rate_0": np.array([0.25], np.float32)})
    paddle.static.load(main, str(tmp_path / "m"), exe)
    held = np.array(paddle.static.global_scope().find_var("learning_rate_0").get_tensor())
    assert (held.shape, held.item()) == ((), 0.25)

"""paddle.save and paddle.load: what 2.6.2 wrote, what is written for it, and what no file may hold."""

from __future__ import annotations

import base64
import pickle
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

import paddle
from paddle._program.description.written import fresh
from paddle._program.errors import BadFile
from paddle._program.files.objects import load, save
from paddle._program.running.lod_tensor import LoDTensor

# Of 2.6.2: paddle.save of {"epoch": 3, "model": program.state_dict(), "seen": (numpy.arange(2), "a")}, of the
# state_dict alone by protocol 2, of a Linear's state_dict in eager mode, and of [its weight, 7].
NESTED = (
    "c-n1HJx{|h5RKDB%}@jkAi*!_l!<`>!jKK44EzD)Bu0*uFC{i80}=~?NVoME%5O@46WD20mOkmMyYqW@PxtP8*TkCehD&gHT_pnP"
    "4BVnhd5)$@UJ<-lWx34C7Qx{!EXS2jQYM*Z2oKImRn(oIR1NnFrHQO*SckB9YIstWt!z{xjmDjb2=g-CQdUT<4-83+pZJJNN~lfk"
    "9>o#3sqAWQME3I)4qw~<8IT){qUiotV|u71F&@H`%{bm}#)sf%y$*C9pl-Ll7J(iv=E5^h#X=mLh2nI-P8SzL=;;gGnb^w|I4$QT"
    "9+sSgon8OC5|;-(Sv%}bY?<Le81|_AKg>muQv"
)
STATE = (
    "c-k#aO;3YB5M8Lnx_;H~kE&-*Bqkme@2=s%iCY5;W}CFoN0%55CSKawr2c^VbKr;RvN*}io6O96^FGZF5IZmkA@4AFT1=*;!?Qeb"
    "CdF8e!aNU4I?NNEr8AiqTvC|r6;0!Iiw+}mZ1Ew_;)Ks=k~R%RSF1*_0!!gIl%w<>+Y9u3>?}cj?Apv=CNme<`<IMmIaSR4z*LO4"
    "2OO-vmN@j$w^>K4J>tmoyq8}Ux-cSf9IZq*7^rRiU9ao)Qv<JV^;2!CjoZ##oCx*$)W?~`c_b`h3T^vBC@+^juC$jqu0_95>k%E#"
    "O=8ecZ+zTJ+(m`+2liBAx&"
)
LAYER = (
    "c-l=*O-sW-5Y1|06?*ZY7ym#{p$Cs10=+d5M7@VivULMZQl`6<9133iD9o+T->aJql+M6>zInX)2!F3d;BAi?U+q-=t_}FEwauoF"
    "%Z^ms*tMx8k?g_KoK)GhTSK-qID#V&1W(#(gdC9upIC?j-*~|+6@!04M;ukA->Bi}V)cl_&$z#2@q{ePmVeHCNCSi7un3)|1g_+;"
    "sO1(q)RTc)-<*hDb2|b94}5s_x-6;ct$UUv8)Xz_E+q-ve_HT#UAIb7K96_#9QyujP`H7$@jr~EX0Q"
)
LISTED = (
    "c-ke7y$XXs5QH^Rv`CwGusSSKrU=+Yut*=op9>N6l=F^YmqrueIw!A_S4&Qvg<)X7W#?&qzQ(F6JmsdcC`G|qC|k&;q?n*~Wx;5|"
    "W1l=?A8OBJ)pR7QIVF|Ubi#SkX)NY6t63|!%*1?WFCdh|@)em78a)Ct#S0gBp*hchyQ}P6bj|W?b30&sulubskBFk^{L@-2Gz8Ky"
    "uyoxMbR5uYGIS{U106e0ss"
)
WEIGHT = np.array([[0.1, 0.2], [0.3, 0.4]], np.float32)


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    with fresh(is_static=True):
        yield


def unpacked(text: str) -> BytesIO:
    return BytesIO(zlib.decompress(base64.b85decode(text)))


def test_what_2_6_wrote_is_read() -> None:
    found = load(unpacked(NESTED), return_numpy=True)
    assert (found["epoch"], found["seen"][1]) == (3, "a")
    np.testing.assert_array_equal(found["model"]["w"], WEIGHT)
    np.testing.assert_array_equal(found["seen"][0], [0, 1])
    state = load(unpacked(STATE))
    assert sorted(state) == ["b", "w"] and isinstance(state["w"], LoDTensor)
    np.testing.assert_array_equal(np.array(state["w"]), WEIGHT)


def test_what_2_6_wrote_of_eager_programs_is_read() -> None:
    assert sorted(load(unpacked(LAYER))) == ["bias", "weight"]
    table = load(unpacked(LAYER), keep_name_table=True)["StructuredToParameterName@@"]
    assert table == {"weight": "linear_0.w_0", "bias": "linear_0.b_0"}
    weight, seven = load(unpacked(LISTED), return_numpy=True)
    assert (weight.tolist(), seven) == ([[2.0]], 7)


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_is_saved_is_loaded(tmp_path: Path, protocol: int) -> None:
    given = {
        "rows": [np.arange(2), (1, 2.5, "s", None, True)],
        "tensor": LoDTensor(WEIGHT),
        "seen": {1, 2},
        "scalar": np.float32(3),
    }
    save(given, str(tmp_path / "deeper" / "it.pd"), protocol)
    found = load(str(tmp_path / "deeper" / "it.pd"), return_numpy=True)
    np.testing.assert_array_equal(found["tensor"], WEIGHT)
    np.testing.assert_array_equal(found["rows"][0], [0, 1])
    assert (found["rows"][1], found["seen"], found["scalar"]) == ((1, 2.5, "s", None, True), {1, 2}, 3)


def test_tensors_and_programs_are_their_own_bytes(tmp_path: Path) -> None:
    save(LoDTensor(WEIGHT), str(tmp_path / "t"), use_binary_format=True)
    np.testing.assert_array_equal(load(str(tmp_path / "t"), return_numpy=True), WEIGHT)
    paddle.static.data("x", [None, 2])
    save(paddle.static.default_main_program(), str(tmp_path / "p"))
    assert load(str(tmp_path / "p")).global_block().var("x").shape == (-1, 2)


def test_a_state_is_arrays_that_the_original_reads(tmp_path: Path) -> None:
    layer = paddle.nn.Linear(2, 1)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    program = paddle.static.default_main_program()
    save(program.state_dict(), str(tmp_path / "all"))
    plain = pickle.loads((tmp_path / "all").read_bytes())
    assert {name: type(value) for name, value in plain.items()} == dict.fromkeys(
        (layer.weight.name, layer.bias.name), np.ndarray
    )
    save(layer.state_dict(), str(tmp_path / "layer"))
    state = load(str(tmp_path / "layer"), return_numpy=True)
    np.testing.assert_array_equal(state["weight"], plain[layer.weight.name])
    exe.run(paddle.static.default_startup_program())
    program.set_state_dict(load(str(tmp_path / "all")))
    held = np.array(paddle.static.global_scope().find_var(layer.weight.name).get_tensor())
    np.testing.assert_array_equal(held, plain[layer.weight.name])


def test_the_state_of_a_saved_model_is_read_by_its_prefix_or_folder(tmp_path: Path) -> None:
    x = paddle.static.data("x", [None, 2])
    y = paddle.static.nn.fc(x, 1)
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    paddle.static.save_inference_model(str(tmp_path / "m"), [x], [y], exe)
    paddle.fluid.io.save_inference_model(str(tmp_path / "older"), ["x"], [y], exe)
    found, older = (load(str(tmp_path / name), return_numpy=True) for name in ("m", "older"))
    assert sorted(found) == sorted(older) == ["fc_0.b_0", "fc_0.w_0"]
    np.testing.assert_array_equal(found["fc_0.w_0"], older["fc_0.w_0"])


def test_what_no_file_holds_is_refused(tmp_path: Path) -> None:
    for given in (object(), {"f": len}, [paddle.nn]):
        with pytest.raises(ValueError, match="which no file holds"):
            save(given, str(tmp_path / "it"))
    with pytest.raises(ValueError, match="2, 3 or 4"):
        save({"a": 1}, str(tmp_path / "it"), 5)
    with pytest.raises(ValueError, match="writes to a file"):
        save({"a": 1}, f"{tmp_path}/")
    assert not (tmp_path / "it").exists()


def test_a_file_that_is_a_program_of_python_is_not_run(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self):
            return eval, ("open('ran', 'w')", {"data": 1})

    (tmp_path / "it").write_bytes(pickle.dumps({"a": Evil()}))
    with pytest.raises(BadFile, match="an expression to be computed"):
        load(str(tmp_path / "it"))
    assert not Path("ran").exists()
    (tmp_path / "it").write_bytes(b"nothing")
    with pytest.raises(BadFile, match="not a pickled state, a tensor or a program"):
        load(str(tmp_path / "it"))


def test_a_prefix_without_its_ending_says_the_whole_name(tmp_path: Path) -> None:
    save({"a": np.zeros(1)}, str(tmp_path / "m.pdparams"))
    with pytest.raises(ValueError, match=r"whole names: .*m\.pdparams"):
        load(str(tmp_path / "m"))

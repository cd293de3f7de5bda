"""Predictors of 1.x and 2.x: models of this release and of PaddlePaddle 2.6.2, whose figures these are."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import numpy as np
import pytest

import paddle
import paddle.inference as deployed
from paddle.fluid import core
from tests.together import together

# softmax(x @ [[.1, .2], [.3, .4]] + .5), as save_inference_model of 2.6.2 left it, without op_callstack.
MODEL = (
    "c-p;_&u-H|5XL=;li1Uw-a4g3dqCBq3JD?FoH_6aAi)7ntBt)@E%{HdH;L(~5@*D{$G!xw!IN<43zS`Nsum)(Jw*7jn%Qr5exE#p"
    "zkSak*Eb)~J%m|^-hlSe^?IZ;0r~<liTKHDmCyM}_*CDGG0=CnRis0liSw6mdY|wOKC8u2^0Y`~#q%<j*>N3-Og^T|D-7x~QMqUy"
    "qaGuy!lAzRuy6ddjt&u;dx{Q$4$)1djKhxSYyAj&iB!?44sinP8=#NyDYOy~yYCh%god^;^RXM1nR$l==$CUI%Vio#(s}8yF%EU2"
    "5V@?Qa&B^P%tkoS$*Rocx@cz|@};Oqk3GR)m8w(zWg!a1g;EvizjxRLVBb(cW6sZ^_PJ+K?))y=%@^60IQDV3;l(27+8&S7yw)->"
    "*{_?~AAo^@yMwZ(oNZE0X&^J1%R;TvT5=J`4AB)$YTw!p{r3%`X?S2s{+%Z}SSNI+8;si-*%Hq$z!C0zFjN0g7Ij(SzQNm=?IX+h"
    "z{1d88|tp^EEP3@BS(Mi0Er2?NR+N?C3<$YWnmX>*S6dFTXqTf+<16sxrf%0-6?91|F$-+clGn^4;#f`AO"
)
VALUES = "c-muNKm{y7%)u(a1f=Yt7zMCF<pr3|o;hQC_Kc6+teG?IfNVPeb=V3^"
X = np.array([[1, 2], [3, -1]], np.float32)
FOUND = [[0.42555752, 0.57444251], [0.45016602, 0.54983407]]


pytestmark = pytest.mark.usefixtures("alone")


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "m.pdmodel").write_bytes(unpacked(MODEL))
    (tmp_path / "m.pdiparams").write_bytes(unpacked(VALUES))
    return str(tmp_path / "m.pdmodel"), str(tmp_path / "m.pdiparams")


@pytest.fixture
def predictor(files: tuple[str, str]) -> deployed.Predictor:
    return deployed.create_predictor(deployed.Config(*files))


def test_a_model_of_2_6_gives_what_it_gave_there(predictor: deployed.Predictor) -> None:
    assert predictor.get_input_names() == ["x"]
    assert predictor.get_output_names() == ["save_infer_model/scale_0.tmp_0"]
    handle = predictor.get_input_handle("x")
    assert (handle.shape(), handle.type()) == ([0], deployed.DataType.FLOAT32)
    handle.reshape([2, 2])
    handle.copy_from_cpu(X)
    predictor.run()
    found = predictor.get_output_handle("save_infer_model/scale_0.tmp_0")
    np.testing.assert_allclose(found.copy_to_cpu(), FOUND, rtol=1e-6)
    assert (found.shape(), str(found.type()), found.lod()) == ([2, 2], "DataType.FLOAT32", [])
    (made_of,) = (
        op.input("X")[0] for op in predictor._model.program.global_block().ops if op.type == "scale"
    )
    assert predictor.get_output_handle(made_of) is found, "programs may know it by its layer's name"


def test_what_was_copied_in_stays_and_is_a_predictors_own(predictor: deployed.Predictor) -> None:
    other, data = predictor.clone(), X.copy()
    predictor.get_input_handle("x").copy_from_cpu(data)
    data[...] = 0
    for _ in range(2):
        predictor.run()
        found = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
        np.testing.assert_allclose(found, FOUND, rtol=1e-6)
        found[...] = 0
    with pytest.raises(ValueError, match="computes nothing without 'x'"):
        other.run()


def test_clones_and_those_of_a_pool_run_in_threads(files: tuple[str, str]) -> None:
    pool = deployed.PredictorPool(deployed.Config(*files), 2)
    several = [pool.retrive(0), pool.retrive(1), pool.retrive(1).clone()]
    alone = [several[0].run([X * n])[0] for n in range(3)]

    def often(number: int) -> bool:
        return all(np.array_equal(several[number].run([X * number])[0], alone[number]) for _ in range(50))

    assert together(*(lambda n=n: often(n) for n in range(3))) == [True] * 3
    with pytest.raises(ValueError, match="none of number 2"):
        pool.retrive(2)


def test_a_model_comes_from_a_folder_or_from_memory_too(files: tuple[str, str], tmp_path: Path) -> None:
    program, values = (Path(each).read_bytes() for each in files)
    config = deployed.Config()
    config.set_model_buffer(program, len(program), values, len(values))
    assert config.model_from_memory()
    np.testing.assert_allclose(deployed.create_predictor(config).run([X])[0], FOUND, rtol=1e-6)
    read, feeds, targets = paddle.static.load_inference_model(files[0].removesuffix(".pdmodel"), None)
    paddle.fluid.io.save_inference_model(str(tmp_path / "older"), feeds, targets, None, read)
    found = deployed.create_predictor(deployed.Config(str(tmp_path / "older"))).run([X])
    np.testing.assert_allclose(found[0], FOUND, rtol=1e-6)


def test_a_model_without_parameters_may_have_no_file_of_them(tmp_path: Path) -> None:
    """2.6.2 writes none."""
    x, executor = paddle.static.data("x", [None, 2]), paddle.static.Executor()
    paddle.static.save_inference_model(str(tmp_path / "bare"), [x], [paddle.sign(x)], executor)
    (tmp_path / "bare.pdiparams").unlink()
    read, _, targets = paddle.static.load_inference_model(str(tmp_path / "bare"), executor)
    (signs,) = executor.run(read, feed={"x": X}, fetch_list=targets)
    config = deployed.Config(str(tmp_path / "bare.pdmodel"), str(tmp_path / "bare.pdiparams"))
    assert signs.tolist() == deployed.create_predictor(config).run([X])[0].tolist() == [[1, 1], [1, -1]]


def test_what_a_model_lacks_is_said(predictor: deployed.Predictor, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no input 'q'; it has 'x'"):
        predictor.get_input_handle("q")
    with pytest.raises(RuntimeError, match="no output 'x'"):
        predictor.get_output_handle("x")
    with pytest.raises(TypeError, match="'x' is given a list, and not an array"):
        predictor.get_input_handle("x").copy_from_cpu([[1.0, 2.0]])
    with pytest.raises(ValueError, match="holds nothing yet"):
        predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
    with pytest.raises(ValueError, match="run is given 2 inputs"):
        predictor.run([X, X])
    with pytest.raises(ValueError, match="names no model"):
        deployed.create_predictor(deployed.Config())
    with pytest.raises(RuntimeError, match="there is no"):
        deployed.create_predictor(deployed.Config(str(tmp_path / "none")))


def test_settings_are_taken_told_and_refused_as_by_a_wheel_for_cpus(
    files: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    config = deployed.Config(*files)
    for name in ("enable_memory_optim", "enable_mkldnn_bfloat16", "enable_lite_engine", "switch_ir_debug"):
        getattr(config, name)()
    assert capfd.readouterr().err == ""
    config.enable_use_gpu(100, 0)
    assert "there is no GPU; this release computes on CPUs" in capfd.readouterr().err
    for name in ("enable_tensorrt_engine", "enable_xpu", "enable_ipu", "enable_low_precision_io"):
        with pytest.raises(RuntimeError, match=f"Config.{name}: "):
            getattr(config, name)()
    assert (config.use_gpu(), config.tensorrt_engine_enabled(), config.mkldnn_enabled()) == (
        False,
        False,
        True,
    )
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    config.set_cpu_math_library_num_threads(4)
    twin = deployed.Config(config)
    config.switch_ir_optim(True)
    assert (twin.ir_optim(), twin.mkldnn_enabled(), twin.cpu_math_library_num_threads()) == (False, False, 4)
    np.testing.assert_allclose(deployed.create_predictor(twin).run([X])[0], FOUND, rtol=1e-6)


def test_tensors_are_handed_over_as_in_1_8(files: tuple[str, str]) -> None:
    config = core.AnalysisConfig(*files)
    assert not config.mkldnn_enabled()
    config.disable_gpu()
    config.enable_tensorrt_engine()  # 1.8 says that there is none, and goes on
    (found,) = core.create_paddle_predictor(config).run([core.PaddleTensor(X)])
    np.testing.assert_allclose(found.as_ndarray(), FOUND, rtol=1e-6)
    assert (found.shape, found.dtype, found.data.length()) == ([2, 2], core.PaddleDType.FLOAT32, 16)
    made = core.PaddleTensor()
    made.name, made.shape, made.data = "x", [2, 2], core.PaddleBuf(X.flatten().tolist())
    assert made.data.float_data() == [1.0, 2.0, 3.0, -1.0]
    older = core.NativeConfig()
    older.prog_file, older.param_file, older.specify_input_name = *files, True
    predictor = core.create_paddle_predictor(older)
    np.testing.assert_allclose(predictor.run([made])[0].as_ndarray(), FOUND, rtol=1e-6)
    made.name = "y"
    with pytest.raises(ValueError, match="'y': no input of the model"):
        predictor.run([made])
    with pytest.raises(ValueError, match="float64"):
        core.PaddleTensor(X.astype(np.float64))


def test_sequences_go_in_with_their_offsets(tmp_path: Path) -> None:
    fluid = paddle.fluid
    words = fluid.data("words", [None, 1], "float32", lod_level=1)
    exe = fluid.Executor()
    fluid.io.save_inference_model(str(tmp_path), ["words"], [fluid.layers.sequence_pool(words, "sum")], exe)
    data, offsets = np.arange(5, dtype=np.float32).reshape(5, 1), [[0, 2, 5]]
    predictor = core.create_paddle_predictor(core.AnalysisConfig(str(tmp_path)))
    (found,) = predictor.run([core.PaddleTensor(data, "words", offsets)])
    np.testing.assert_array_equal(found.as_ndarray(), [[1.0], [9.0]])
    handle = predictor.get_input_tensor("words")
    handle.copy_from_cpu(data)
    handle.set_lod(offsets)
    assert predictor.zero_copy_run() and handle.type() == core.PaddleDType.FLOAT32
    output = predictor.get_output_tensor(predictor.get_output_names()[0])
    np.testing.assert_array_equal(output.copy_to_cpu(), [[1.0], [9.0]])


def test_the_books_words_are_inferred_by_a_compiled_program(tmp_path: Path) -> None:
    """What 1.8's own test of the book does with a saved model (word2vec)."""
    fluid = paddle.fluid
    words = [fluid.data(name, [None, 1], "int64", lod_level=1) for name in ("firstw", "secondw")]
    rows = [fluid.layers.embedding(each, [20, 4], param_attr="shared_w") for each in words]
    predicted = fluid.layers.fc(fluid.layers.concat(rows, axis=1), 20, act="softmax")
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fluid.io.save_inference_model(str(tmp_path), ["firstw", "secondw"], [predicted], exe)
    fed = [fluid.create_lod_tensor(np.array([[n]], np.int64), [[1]], fluid.CPUPlace()) for n in (3, 7)]
    feed = dict(zip(("firstw", "secondw"), fed, strict=True))
    (wanted,) = exe.run(feed=feed, fetch_list=[predicted], return_numpy=False)
    inputs = []
    for each in fed:
        tensor = fluid.core.PaddleTensor()
        tensor.lod, tensor.data = each.lod(), fluid.core.PaddleBuf(np.array(each))
        tensor.shape, tensor.dtype = each.shape(), fluid.core.PaddleDType.INT64
        inputs.append(tensor)
    config = fluid.core.NativeConfig()
    config.model_dir, config.use_gpu, config.device = str(tmp_path), False, 0
    config.fraction_of_gpu_memory = 0.15
    compiled = fluid.compiler.CompiledProgram(fluid.default_main_program())
    compiled._with_inference_optimize(config)
    assert compiled._is_inference is True
    (found,) = exe.run(compiled, feed=inputs)
    np.testing.assert_allclose(found.data.float_data(), np.array(wanted)[0], rtol=1e-6)
    assert found.lod == wanted.lod()

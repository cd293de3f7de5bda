"""Files that PaddlePaddle 1.8.5 wrote, and what they hold."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import numpy as np

import paddle.fluid as fluid
from paddle._program.description.framework_proto import ProgramDescProto
from paddle._program.files import pickles

# A network x (3) -> fc(2, tanh) as save_inference_model left it, without op_callstack and
# op_compatible_map, which say where it was written and by which release.
MODEL = (
    "c-pO0O>fgc6!a#J<Gd!#)<HDdLk~t35(nCZBdYibRDuJXRvUY*TKFTf*Qs;k04I+8B#zwpE!^RG-6$pwG(z>oe)DGc&CJRRK"
    "fyNWugyc)2zr53-i_0-VM^E#%s@&Xs{vM1umg`@K40)l2kbtxz_fd`gPo@Ux})MH_D-=kfid>BJJSv|rUrWnXSrBO9wvdzc%"
    "1q&y2w2d$wL-5r_2r|&i_SZcaCmx@DOP>SV-$?PiH{N{cF3`S~r3LkatcUkPY3}g>p#AbnT8|kS@6|SD`0q=b3@P5dv9?PFE"
    "tMJ$C{_1QHR;+)I}giCnlN=-;vQhyirHG}51+I$%}fNC_h#@13pglX`UH09ZFJB9}tHPIgVrE5rEsYKxSVoNMGTRV_1*;JD;"
    "T5pz_>{V>i^B5_aQBuFz)@?iO5&eK9I3q`GKO<%X^J6<V3kxL$bi2Nkc%N!Wga&fDT;2#9WRSXTc%{&(S@|dx)jASembsORY"
    ";rlLtDavrKj=v<ZlT%ym1V$zIg%TV?h=tNYA-HaVtvJ87OwHOZ=FC(gxp^qLD565Vq5=G=>N~+?kKR-#@Kz>yn(d05JLk2?d"
    "wyxw)1`Y1^~dHcM_?{Ok?Ybh+{Zwxl8Zp$J~h+2{?GGix%ooiNhSZj>t|S7s&7G7zaIW?Hto;fu6_eFW_lC"
)
PARAMS = (
    "000000000000000000001ONa42n7%V0000#0002L000000000000000000001^@s62n7%W5CQ-I007O*%stJ_Og@^KnLf?T%sv1B06z"
)
# What fluid.save made of the same parameters.
PICKLE = (
    "c-loz%T9wp6dl0U7GL%KwhK3`NKITS-HTx{D|Q41%rt3f4;^Ayn7C<clllSmXH4M3bN~}?av!;mbI*BK-#`qvMF@FeUeA2>d"
    "Qe!LjwYGO#z|z3(xDjmN#bX^mqctFPeqb4p+l{=^f;`i&}=fp2J_fBjM!9<;<C`ua1{w2py@Vc9{OSs-(ho(7Damjonp(d6<"
    "f2_Ikx{GLy=A7<&LYCwC=IH{8(U*qGQ-vh4z4b$8ny1q*cKt0tdm8H{4rNTk%<}iq&J8o~`^VU*~J9?pbo$$03&#jwp@=PJ("
    "~=fs}vBRbFX1<C5Sx#YIU_o#B#q$`|eWLtlFSjjIyqn&L*F8>Hqhl}Kq?"
)
WEIGHTS = np.array([[0.0, 0.1], [0.2, 0.3], [0.4, 0.5]], np.float32)


def _model() -> bytes:
    return zlib.decompress(base64.b85decode(MODEL))


def test_a_model_of_the_original_computes_what_it_did_there(tmp_path: Path) -> None:
    (tmp_path / "__model__").write_bytes(_model())
    (tmp_path / "params").write_bytes(base64.b85decode(PARAMS))
    exe = fluid.Executor()
    program, feeds, targets = fluid.io.load_inference_model(str(tmp_path), exe, params_filename="params")
    (found,) = exe.run(program, {feeds[0]: np.array([[1, 2, 3]], np.float32)}, targets)
    assert [op.type for op in program.global_block().ops][1:4] == ["mul", "elementwise_add", "tanh"]
    np.testing.assert_allclose(found, [[0.970452, 0.935409]], rtol=1e-6)
    np.testing.assert_array_equal(np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor()), WEIGHTS)


def test_its_message_is_written_as_it_was_read() -> None:
    data = _model()
    message = ProgramDescProto.FromString(data)
    assert message.SerializeToString() == data
    again = fluid.Program.parse_from_string(fluid.Program.parse_from_string(data).serialize_to_string())
    assert str(again) == str(fluid.Program.parse_from_string(data))


def test_attributes_keep_the_types_that_they_had() -> None:
    found = ProgramDescProto.FromString(_model())
    written = ProgramDescProto.FromString(fluid.Program.parse_from_string(_model()).serialize_to_string())
    for one, other in zip(found.blocks[0].ops, written.blocks[0].ops, strict=True):
        types = {attribute.name: attribute.type for attribute in other.attrs}
        assert {name: types[name] for name in (each.name for each in one.attrs)} == {
            attribute.name: attribute.type for attribute in one.attrs
        }


def test_a_pickle_of_the_original_is_read_as_data(tmp_path: Path) -> None:
    path = tmp_path / "model.pdparams"
    path.write_bytes(zlib.decompress(base64.b85decode(PICKLE)))
    found = pickles.load(path)
    assert sorted(found) == ["fc_0.b_0", "fc_0.w_0"]
    np.testing.assert_array_equal(found["fc_0.w_0"], WEIGHTS)

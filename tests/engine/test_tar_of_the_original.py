"""A tar of parameters that the original wrote: its Parameters.to_tar, with protobuf's own ParameterConfig."""

from __future__ import annotations

import base64
import io
import tarfile
import zlib

import numpy as np

import paddle.v2 as paddle
from paddle._engine.checkpoint.parameter_config import ParameterConfig

# Four parameters: one that starts by chance, one with numbers of its own, a table with all that can be said
# of one (of which ours keeps what it uses), and one whose name is longer than a header of tar has room for.
# The original ends such a file with its last member.
ORIGINAL = (
    "c-rlmJxjwt7{~8vN)@Ln3OWe!3$%AhOmQ)B5HeJ7bURaNYq6%KT6~#0xVSm0lennh;OM3wKo>uOxCt)qf?mb?k`{~5Ty6XO;c`hxNJ8$"
    "H-`$0Co>}5~cPm}ul=IjIB`psXF%9Fr7V+1VPJUaj?q`~Am_!ZWR_aq;TX##U+LDL-{%{?Xuqcrqdn(gnVG&}BQW53IBABiWuj4;fEEU"
    "!Zsd7dh|3<>czo9W5`InJ_q52jOjj(ZjZ}w#C!E!>5vOpFALFpC#Q#p4{w*Pg*$G^_B1oAJ_|H_y9uLx0X;eH$G=u!S#+y!XHKcmd=|A"
    "fhqe<}VSY1jgy%Gk#N_QdT?HBT0+oikNialla!p^i>^H5K?Zn)=`LjsI!FME}e6fB)y!z5RQ^bQ%AxAMpRx|GMt;KQm0^UylD3(E_6VG"
    "cRY)cXO$E%LzN7`PW)t8H!|^Q~-8ArT~WRJ%D{U4;{nMKwq&`_Htf!@bI9TN9z>G1;8c1HB@lUpc4{{$KrOf;AN9JZzVwf8*u;0yhbPe"
    "{A)}jY7+SmJTA|Rm(M+SH67n<Q;@>$e*aDT|C(?9Pd6FW(El>~|6jHqok1$l|5E+W%zFPD=>J~vf8Ya9%)j=3^=Ci&zfI%+9rzEQfG9X"
    "PU(k-c0iS6m>;"
)
LONG = "a_long_name/" + "x" * 120
VALUES = {
    "___fc_layer_0__.w0": np.arange(6).reshape(2, 3) / 4,
    "___fc_layer_0__.wbias": [[-1, 2.5, 3]],
    "emb": np.full((4, 2), 7),
    LONG: [9.5],
}


def _contents(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        found = {member.name: tar.extractfile(member) for member in tar}
        return {name: file.read() for name, file in found.items() if file is not None}


def test_a_tar_of_the_original_is_read_and_written_as_there() -> None:
    data = zlib.decompress(base64.b85decode(ORIGINAL))
    found = paddle.parameters.Parameters.from_tar(io.BytesIO(data))
    assert found.names() == list(VALUES)
    for name, value in VALUES.items():
        np.testing.assert_array_equal(found.get(name), np.asarray(value, np.float32))
    found.to_tar(again := io.BytesIO())
    there, here = _contents(data), _contents(again.getvalue())
    assert list(here) == list(there)
    assert {name for name in there if here[name] != there[name]} == {"emb.protobuf"}
    said, kept = (ParameterConfig.FromString(each["emb.protobuf"]) for each in (there, here))
    assert said == kept
    assert (kept.sparse_remote_update, kept.is_static, kept.decay_rate_l1) == (True, True, 0.001)
    assert [(hook.type, hook.sparsity_ratio) for hook in kept.update_hooks] == [("pruning", 0.8)]

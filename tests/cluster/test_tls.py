"""Jobs of several processes that encrypt, started by hand, with a listener between trainers and pserver."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from paddle._launch.authority import Authority, Papers
from tests.cluster.by_hand import free_port, line_of, outputs_of, pserver, trainer
from tests.cluster.wire import Wire

pytestmark = pytest.mark.cluster

TOKEN = "5ec7e7" * 8
TRAIN = """
import os
import numpy as np
import paddle.v2 as paddle

paddle.init()
local = "PADDLE_INIT_PSERVERS" not in os.environ
word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(50))
label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(5))
vector = paddle.layer.embedding(
    input=word, size=8, param_attr=paddle.attr.Param(name="_table", initial_std=0.1, sparse_update=True))
predicted = paddle.layer.fc(input=vector, size=5, act=paddle.activation.Softmax(),
                            param_attr=paddle.attr.Param(name="_fc"))
cost = paddle.layer.classification_cost(input=predicted, label=label)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=1e-2), is_local=local)

def reader():
    random = np.random.RandomState(0)
    for _ in range(200):
        value = int(random.randint(50))
        yield value, value % 5

trainer.train(paddle.batch(reader, 20), num_passes=2)
np.savez("local" if local else "remote", **{name: parameters.get(name) for name in parameters.keys()})
"""


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Whoever is sent to 127.0.0.3 comes by it to a pserver at 127.0.0.1."""
    port = free_port(["127.0.0.1", "127.0.0.3"])
    between = Wire("127.0.0.3", (port, port + 1), "127.0.0.1")
    yield between
    between.close()


def written(folder: Path, papers: Papers, token: str = TOKEN) -> dict[str, str]:
    """The paths of a job's secrets, by what they are."""
    texts = {
        "tls_ca": papers.authority,
        "tls_cert": papers.certificate,
        "tls_key": papers.key,
        "token_file": token,
    }
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).touch(0o600)
        (folder / name).write_text(text)
    return {name: str(folder / name) for name in texts}


def papers_for(*addresses: str) -> Papers:
    return Authority("job", datetime.now(UTC)).issue(addresses)


def environment(wire: Wire, **more: str) -> dict[str, str]:
    return {
        "PADDLE_INIT_PORT": str(wire.ports[0]),
        "PADDLE_INIT_PORTS_NUM_FOR_SPARSE": "1",
        "PADDLE_INIT_PSERVERS": "127.0.0.3",
        "PADDLE_INIT_CONNECT_TIMEOUT": "60",
        **more,
    }


def test_a_job_over_tls_equals_the_local_one_and_a_listener_learns_nothing(
    tmp_path: Path, wire: Wire
) -> None:
    files = written(tmp_path / "job", papers_for("127.0.0.3"))
    shown = [f"--{name}={files[name]}" for name in ("tls_cert", "tls_key", "token_file")]
    server = pserver("127.0.0.1", wire.ports[0], 1, *shown)
    trusts = {"PADDLE_TLS_CA": files["tls_ca"], "PADDLE_TOKEN_FILE": files["token_file"]}
    processes = [
        trainer(tmp_path, TRAIN, **environment(wire, **trusts)),
        trainer(tmp_path, TRAIN),
        server,
    ]
    outputs = outputs_of(processes)
    assert [process.returncode for process in processes] == [0] * 3, "\n".join(outputs)

    local, remote = np.load(tmp_path / "local.npz"), np.load(tmp_path / "remote.npz")
    for name in local:
        assert np.array_equal(local[name], remote[name]), name
    seen = bytes(wire.seen)
    assert len(seen) > 20 * sum(array.nbytes for array in local.values()), "it all came by"
    assert local["_fc"][0].tobytes() not in seen
    for word in (TOKEN.encode(), bytes.fromhex(TOKEN), b"Paddle-HMAC", b"_table", b"PDPS", b"HTTP/1.1"):
        assert word not in seen


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl command")
def test_the_certificate_that_the_page_has_made_serves(tmp_path: Path, wire: Wire) -> None:
    page = (Path(__file__).parents[2] / "docs" / "THREAT_MODEL.md").read_text()
    (command,) = re.findall(r"^    (openssl .*?job\.crt)$", page, re.MULTILINE | re.DOTALL)
    words = shlex.split(command.replace("\\\n", " ").replace("IP:10.0.0.1", "IP:127.0.0.3"))
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    shown = [f"--tls_cert={tmp_path / 'job.crt'}", f"--tls_key={tmp_path / 'job.key'}"]
    server = pserver("127.0.0.1", wire.ports[0], 1, *shown)
    one = trainer(tmp_path, TRAIN, **environment(wire, PADDLE_TLS_CA="job.crt"))
    outputs = outputs_of([one, server])
    assert [one.returncode, server.returncode] == [0, 0], "\n".join(outputs)
    assert b"_table" not in bytes(wire.seen)


@pytest.mark.parametrize(
    ("pserver_has", "trainer_has", "saying"),
    [
        (("tls_cert", "tls_key"), "other_ca", "does not trust: unable to get local issuer certificate"),
        (("tls_cert", "tls_key"), None, "speaks TLS only, and this trainer does not"),
        ((), "tls_ca", "speaks no TLS, and this trainer wants it"),
    ],
)
def test_a_trainer_that_does_not_fit_ends_at_once_with_one_paragraph(
    tmp_path: Path, wire: Wire, pserver_has: tuple[str, ...], trainer_has: str | None, saying: str
) -> None:
    files = written(tmp_path / "job", papers_for("127.0.0.3"))
    files["other_ca"] = written(tmp_path / "other", papers_for("127.0.0.3"))["tls_ca"]
    server = pserver("127.0.0.1", wire.ports[0], 1, *(f"--{name}={files[name]}" for name in pserver_has))
    trusts = {"PADDLE_TLS_CA": files[trainer_has]} if trainer_has else {}
    one = trainer(tmp_path, TRAIN, **environment(wire, **trusts))
    (printed,) = outputs_of([one])
    assert one.returncode == 2, printed
    assert saying in printed
    assert "Traceback" not in printed
    assert line_of(server, "turned away a connection from 127.0.0.1"), (
        "whoever looks at the pserver sees it, too"
    )
    server.terminate()
    outputs_of([server])


def test_a_pserver_without_a_key_for_its_certificate_ends_before_it_listens(tmp_path: Path) -> None:
    files = written(tmp_path / "job", papers_for("127.0.0.3"))
    server = pserver("127.0.0.1", free_port(["127.0.0.1"]), 1, f"--tls_cert={files['tls_cert']}")
    (printed,) = outputs_of([server])
    assert server.returncode == 2
    assert "tls_cert and tls_key need each other" in printed
    assert "Traceback" not in printed

"""The command ``paddle``."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

import paddle
from paddle import __main__ as command
from paddle._launch.flag import User
from paddle._launch.flags import flags_of
from paddle._launch.infolog import InfoLog
from paddle._pserver.errors import PortInUse, PserverError
from paddle._pserver.service import service
from paddle._pserver.service.service import ServerOptions
from paddle._pserver.snapshots import offline
from paddle._pserver.trust.auth import Token
from paddle._pserver.trust.tls import Certificate
from paddle._pserver.watcher import Watcher

ROOT = Path(paddle.__file__).parents[2]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """In place of real servers: keeps the options it was called with; ``does`` is what serving does."""
    seen = SimpleNamespace(options=None, does=lambda on_ready: 0)

    def serve(
        options: ServerOptions,
        on_ready: Callable[[list[tuple[str, int]]], None],
        watcher: Watcher,
        token: Token | None,
        certificate: Certificate | None,
        news: int | None,
    ) -> int:
        assert news is None  # nobody runs this one
        seen.options, seen.watcher, seen.token, seen.certificate = options, watcher, token, certificate
        return seen.does(on_ready)

    monkeypatch.setattr(service, "serve", serve)
    monkeypatch.delenv("GLOG_log_dir", raising=False)
    monkeypatch.delenv("PADDLE_TOKEN_FILE", raising=False)
    return seen


def test_version_is_laid_out_as_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["version"]) == 0
    first, *features = capsys.readouterr().out.splitlines()
    assert first == f"PaddlePaddle {paddle.__version__}, compiled with"
    assert features[0] in ("    with_avx: ON", "    with_avx: OFF")  # the machine's, the rest are ours
    assert features[1:] == [
        "    with_gpu: OFF",
        "    with_double: OFF",
        "    with_python: ON",
        "    with_rdma: OFF",
        "    with_timer: OFF",
    ]


def test_help_says_the_projects_own_release(capsys: pytest.CaptureFixture[str]) -> None:
    from paddle.version import release

    assert f'version = "{release}"' in (ROOT / "pyproject.toml").read_text()
    assert command.main(["help"]) == 0
    told = f"paddle-fabric {release}, with the interface of PaddlePaddle 0.10 to {paddle.__version__}"
    assert capsys.readouterr().out.splitlines()[-1] == told


@pytest.mark.parametrize("reader", ["a full disk", "nobody"])
def test_what_is_made_of_snapshots_is_made_whoever_reads(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    receiver, sender = os.pipe()
    os.close(receiver)
    if reader == "a full disk":
        os.close(sender)
        sender = os.open("/dev/full", os.O_WRONLY)
    (tmp_path / "FROM").mkdir()

    def export(
        folders: object, to: Path, form: str, tell: Callable[[str], None], *, is_averaged: bool
    ) -> None:
        tell("half of it")
        to.write_text("whole")

    monkeypatch.setattr(offline, "export", export)
    with os.fdopen(sender, "w") as stdout, monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", stdout)
        status = command.main(["export", str(tmp_path / "FROM"), f"--to={tmp_path / 'model.tar'}"])
    assert (status, capsys.readouterr().err) == (0, "")
    assert (tmp_path / "model.tar").read_text() == "whole"


@pytest.mark.parametrize("arguments", [["version"], ["help"], ["pserver", "--help"], ["master", "--help"]])
def test_a_small_command_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from paddle.__main__ import main; main(sys.argv[1:]);"
        "heavy = {'numpy', 'numba', 'aiohttp', 'msgspec', 'fabric', 'rich', 'asyncio'} & sys.modules.keys();"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "runtime")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"], ["-h"]])
def test_help_shows_the_commands_and_every_flag_of_paddle_init(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 0
    drawn = capsys.readouterr().out
    assert "paddle pserver" in drawn
    assert all(flag.name in drawn for flag in flags_of("trainer"))


@pytest.mark.parametrize("arguments", [["{}", "--help"], ["help", "{}"]])
@pytest.mark.parametrize("name", ["pserver", "master"])
def test_help_of_a_server_shows_every_flag_of_it(
    name: User, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([word.format(name) for word in arguments]) == 0
    drawn = capsys.readouterr().out
    assert drawn.startswith(f"Usage: paddle {name}")
    assert all(flag.name in drawn for flag in flags_of(name))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["pservr"], ["paddle pservr", "Did you mean `paddle pserver`"]),
        (["tran"], ["paddle tran", "Did you mean `paddle train`"]),
        (["--nonsense"], ["paddle help"]),
        (["train"], ["not in this release", "python train.py"]),
        (["merge_model"], ["not in this release"]),
        (["pserver", "--ports_nun=1"], ["paddle pserver: --ports_nun=1", "Did you mean ports_num"]),
        (["pserver", "--port=65535", "--ports_num=2"], ["up to 65536"]),
        (["pserver", "--nics=nic9"], ["'nic9' does not exist", "lo (127.0.0.1)"]),
        (["pserver", "--rdma_tcp=rdma"], ["not in this release"]),
        (["master", "--endpoints=http://h:2379"], ["etcd is not in this release", "--state_file"]),
        (["master", "--log-level=loud"], ["--log_level=loud", "warn"]),
        (["master", "--task-timout-dur=soon"], ["--task-timout-dur=soon", "20m"]),
    ],
)
def test_wrong_usage_is_one_paragraph_and_starts_nothing(
    arguments: list[str], words: list[str], served: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert all(word in error for word in words), error
    assert served.options is None


def test_the_documented_command_serves_on_the_named_device(
    served: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "--port=7164 --ports_num=1 --ports_num_for_sparse=1 --num_gradient_servers=3 --nics=lo"
    assert command.main(["pserver", *line.split()]) == 0
    assert served.options == ServerOptions(
        addresses=("127.0.0.1",), port=7164, ports_num=1, ports_num_for_sparse=1, num_gradient_servers=3
    )
    assert capsys.readouterr().err == ""


def test_without_a_device_only_this_machine_is_served(served: SimpleNamespace) -> None:
    assert command.main(["pserver"]) == 0
    assert served.options.addresses == ("127.0.0.1",)
    assert (served.options.port, served.options.ports_num_for_sparse) == (7164, 0)


def test_what_is_not_documented_can_be_told_too(served: SimpleNamespace) -> None:
    assert command.main(["pserver", "--barrier_timeout=2.5", "--log_period_server=10"]) == 0
    assert (served.options.barrier_timeout_s, served.options.log_period_server) == (2.5, 10)


def test_an_address_given_takes_the_place_of_the_device(served: SimpleNamespace) -> None:
    assert command.main(["pserver", "--nics=lo", "--host=127.0.0.2,127.0.0.3,127.0.0.2"]) == 0
    assert served.options.addresses == ("127.0.0.2", "127.0.0.3")


def test_an_address_that_others_reach_is_warned_of(
    served: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    served.does = lambda on_ready: on_ready([("10.0.0.7", 7164), ("10.0.0.7", 7165)]) or 0
    assert command.main(["pserver", "--host=10.0.0.7"]) == 0
    warned = capsys.readouterr().err
    assert warned.count("NO TOKEN IS SET") == 1
    assert "--token_file=job.token" in warned
    assert "10.0.0.7" in warned


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "job.token"
    path.touch(0o600)
    path.write_text("5ec7e7" * 6)
    return path


def test_a_token_is_read_from_its_file_and_never_shown(
    served: SimpleNamespace,
    token_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    served.does = lambda on_ready: on_ready([("10.0.0.7", 7164)]) or 0
    assert command.main(["pserver", "--host=10.0.0.7", f"--token_file={token_file}"]) == 0
    by_flag = served.token
    monkeypatch.setenv("PADDLE_TOKEN_FILE", str(token_file))
    assert command.main(["pserver", "--host=10.0.0.7"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "", "nothing to be warned of"
    assert by_flag.view_key == served.token.view_key
    assert "5ec7e7" not in shown.out + repr(served.token)


def test_a_token_that_others_may_read_is_warned_of(
    served: SimpleNamespace, token_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    token_file.chmod(0o644)
    assert command.main(["pserver", f"--token_file={token_file}"]) == 0
    assert f"warning: others on this machine may read the token in {token_file}" in capsys.readouterr().err


def test_a_file_without_a_token_starts_nothing(
    served: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["pserver", f"--token_file={tmp_path / 'none'}"]) == 2
    assert "cannot read token_file" in capsys.readouterr().err
    assert served.options is None


def test_the_view_key_follows_from_the_token(token_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["view_key", f"--token_file={token_file}"]) == 0
    assert capsys.readouterr().out == f"{Token(b'5ec7e7' * 6).view_key}\n"
    assert command.main(["view_key", "--token_file=/none"]) == 2


def test_a_tuning_flag_is_answered_with_a_notice(
    served: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["pserver", "--small_messages"]) == 0
    assert "--small_messages=True has no effect" in capsys.readouterr().err


def test_it_says_where_it_listens(served: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    served.does = lambda on_ready: on_ready([("127.0.0.1", 7164), ("127.0.0.1", 7165)]) or 0
    assert command.main(["pserver"]) == 0
    assert capsys.readouterr().out == "paddle pserver: listening on 127.0.0.1:7164, 127.0.0.1:7165\n"


def test_why_a_job_broke_is_said_in_the_servers_own_log(
    served: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["pserver"]) == 0
    served.watcher.broken(
        "dense shard at 127.0.0.1:7164", "trainer 1 failed: SystemExit: 7", [1], is_own=False
    )
    assert capsys.readouterr().err == (
        "paddle pserver: dense shard at 127.0.0.1:7164: the job is broken: trainer 1 failed: SystemExit: 7\n"
    )


def raising(error: BaseException) -> Callable[[object], int]:
    def serving(on_ready: object) -> int:
        raise error

    return serving


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (PortInUse("127.0.0.1:7164 is held by process 7, sleep"), 98),
        (PserverError("trainer 1 is missing"), 1),
    ],
)
def test_an_error_of_the_server_is_one_paragraph_with_its_status(
    error: PserverError, status: int, served: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    served.does = raising(error)
    assert command.main(["pserver"]) == status
    assert capsys.readouterr().err == f"paddle pserver: {error}\n"


def test_the_servers_own_status_is_the_commands(served: SimpleNamespace) -> None:
    served.does = lambda on_ready: 7
    assert command.main(["pserver"]) == 7


def test_ctrl_c_is_130(served: SimpleNamespace) -> None:
    served.does = raising(KeyboardInterrupt())
    assert command.main(["pserver"]) == 130


def test_a_server_opens_its_info_file(
    served: SimpleNamespace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[InfoLog | None] = []
    real = command.open_info_log
    monkeypatch.setattr(command, "open_info_log", lambda *given: opened.append(real(*given)))
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path))
    assert command.main(["pserver"]) == 0
    assert (tmp_path / "paddle_pserver2.INFO").read_text().startswith("I")
    for handler in filter(None, opened):
        logging.getLogger("paddle.pserver").removeHandler(handler)
        handler.close()

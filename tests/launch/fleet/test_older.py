"""What the launcher of fleet 1.x makes of a command line."""

import pytest

from paddle._launch.errors import UsageError
from paddle._launch.fleet.call import read
from paddle._launch.fleet.older import as_fleetrun


def asked(line: str):
    return read(as_fleetrun(line.split()))


def test_two_servers_and_two_workers_are_started_where_nothing_is_said() -> None:
    call = asked("train.py --epochs 3 --worker_num=9")
    assert (call.server_num, call.worker_num, call.servers, call.log_dir) == (2, 2, (), "logs")
    assert (call.script, call.arguments) == ("train.py", ("--epochs", "3", "--worker_num=9"))


def test_numbers_and_the_folder_of_logs_are_as_they_are_said() -> None:
    call = asked(
        "--worker_num 3 --server_num=1 --print_config True --node_ip 127.0.0.1 --log_dir out train.py"
    )
    assert (call.server_num, call.worker_num, call.servers, call.log_dir) == (1, 3, (), "out")


def test_servers_lie_at_the_endpoints_or_from_the_first_port_on() -> None:
    assert asked("--start_port 7000 --server_num 3 t.py").servers == tuple(
        f"127.0.0.1:700{n}" for n in range(3)
    )
    assert asked("--start_port 7000 t.py").server_num == 2
    call = asked("--endpoints 127.0.0.1:9,127.0.0.1:8,127.0.0.1:7 t.py")
    assert (call.servers, call.server_num) == (("127.0.0.1:9", "127.0.0.1:8", "127.0.0.1:7"), 3)


def test_a_number_that_is_not_that_of_the_endpoints_is_refused() -> None:
    with pytest.raises(UsageError, match="server_num is 2, but --servers lists 1"):
        asked("--server_num 2 --endpoints 127.0.0.1:9 t.py")


def test_a_line_without_a_program_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        as_fleetrun(["--worker_num=2"])
    assert "training_script" in capsys.readouterr().err

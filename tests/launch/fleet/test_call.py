"""What the launcher of the fleet generation makes of a command line."""

import pytest

from paddle._launch.errors import NotInThisRelease, UsageError
from paddle._launch.fleet.call import read


def asked(line: str):
    return read(line.split())


def test_numbers_ask_for_free_ports_of_this_machine() -> None:
    call = asked("--server_num=1 --worker_num 2 train.py --epochs 3")
    assert (call.server_num, call.worker_num, call.servers, call.workers) == (1, 2, (), ())
    assert (call.script, call.arguments) == ("train.py", ("--epochs", "3"))
    assert (call.log_dir, call.http_port) == ("log", 0)


def test_what_follows_the_program_is_its_own_even_if_it_looks_like_a_flag_of_ours() -> None:
    call = asked("--server_num 1 --worker_num 1 --log_dir out train.py --server_num=7 --gpus=0 -- --help")
    assert call.server_num == 1
    assert call.arguments == ("--server_num=7", "--gpus=0", "--", "--help")


def test_endpoints_are_kept_in_their_order_and_trainers_get_ports_where_none_is_said() -> None:
    call = asked("--servers=10.0.0.2:6170,10.0.0.1:6170 --workers=10.0.0.1,10.0.0.2,10.0.0.1:9 train.py")
    assert call.servers == ("10.0.0.2:6170", "10.0.0.1:6170")
    assert call.workers == ("10.0.0.1:6172", "10.0.0.2:6173", "10.0.0.1:9")
    assert (call.server_num, call.worker_num) == (2, 3)


def test_later_names_of_trainers_are_known() -> None:
    assert asked("--server_num=1 --trainer_num=2 t.py").worker_num == 2
    assert asked("--server_num=1 --trainers=a:1,b:2 t.py").workers == ("a:1", "b:2")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--worker_num=2 train.py", "--server_num=N"),
        ("--server_num=2 train.py", "--worker_num=N"),
        ("train.py", "--server_num=N"),
        ("--server_num=1 --worker_num=1", "no program is given"),
        ("--server_num=2 --servers=a:1 --worker_num=1 t.py", "--server_num is 2, but --servers lists 1"),
        ("--server_num=1 --worker_num=1 --workers=a:1,b:1 t.py", "--worker_num is 1, but --workers lists 2"),
        ("--servers=a --worker_num=1 t.py", "'a' is not host:port"),
        ("--servers=a:0 --worker_num=1 t.py", "'a:0' is not host:port"),
        ("--servers=a:70000 --worker_num=1 t.py", "'a:70000' is not host:port"),
        ("--servers=a:x --worker_num=1 t.py", "'a:x' is not host:port"),
        ("--servers=127.0.0.1:1:2 --worker_num=1 t.py", "'127.0.0.1:1:2' is not host:port"),
        ("--servers=a:1,a:1 --worker_num=1 t.py", "a:1 stands twice"),
        ("--servers=a:1 --workers=a:1 t.py", "a:1 stands twice"),
        ("--server_num=-1 --worker_num=1 t.py", "'-1' is not a whole number from 0"),
        ("--server_num=one --worker_num=1 t.py", "'one' is not a whole number"),
        ("--servernum=1 --worker_num=1 t.py", "Did you mean server_num"),
        # Refused by 2.6.2, too, by an AssertionError or its parser:
        ("--server_num=0 --worker_num=1 t.py", "--server_num=N"),
        ("--server_num=1 --worker_num=0 t.py", "--worker_num=N"),
        ("--servers= --workers= t.py", "--server_num=N"),
        ("--server_num=1 --worker_num=1 --run_mode=other t.py", "'other' is not ps or collective"),
        ("--server_num=1 --worker_num=1 --http_port=x t.py", "'x' is not a whole number"),
    ],
)
def test_what_cannot_be_is_refused_in_words(line: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        asked(line)
    assert said in str(refused.value)
    assert refused.value.exit_status == 2


@pytest.mark.parametrize(
    "flag",
    [
        *("--heter_workers=10.0.0.1:1", "--heter_worker_num=1"),
        *("--elastic_server=10.0.0.1:2379", "--np=2:4", "--elastic_level=1", "--auto_tuner_json=a.json"),
    ],
)
def test_what_trains_otherwise_is_refused_by_name(flag: str) -> None:
    with pytest.raises(NotInThisRelease, match=flag.partition("=")[0]):
        asked(f"--server_num=1 --worker_num=1 {flag} t.py")


@pytest.mark.parametrize("flag", ["--gpus=0,1", "--selected_gpus=0", "--xpus=0", "--devices=0,1"])
def test_who_names_devices_is_told_of_the_cpu_and_has_the_job(flag: str) -> None:
    call = asked(f"--server_num=1 --worker_num=2 {flag} t.py")
    (notice,) = call.notices
    assert "trains on the CPU" in notice
    assert (call.script, call.server_num, call.worker_num) == ("t.py", 1, 2)


@pytest.mark.parametrize(
    "flags",
    [
        *("--nproc_per_node=1", "--run_mode=collective", "--ips=10.0.0.1", "--cluster_node_ips=10.0.0.1"),
        *("--gpus=0", "--devices 0 --nproc_per_node 1 --nnodes=1", "--run_mode=collective --gpus=3"),
    ],
)
def test_collective_training_of_one_process_is_one_that_is_alone(flags: str) -> None:
    call = asked(f"{flags} t.py --epochs 3")
    assert (call.is_alone, call.server_num, call.worker_num) == (True, 0, 1)
    assert (call.script, call.arguments, call.appointment) == ("t.py", ("--epochs", "3"), None)


@pytest.mark.parametrize(
    ("flags", "number"),
    [
        *(("--nproc_per_node=2", 2), ("--gpus=0,1,2", 3), ("--ips=10.0.0.1,10.0.0.2", 2)),
        *(("--run_mode=collective --nnodes=2", 2), ("--nproc_per_node=4 --nnodes=2", 8)),
    ],
)
def test_collective_training_of_several_is_refused_with_what_there_is_instead(
    flags: str, number: int
) -> None:
    with pytest.raises(NotInThisRelease, match=rf"of {number} processes.*--worker_num={number} train.py"):
        asked(f"{flags} t.py")


@pytest.mark.parametrize("flag", ["--nproc_per_node=1", "--ips=10.0.0.1,10.0.0.2", "--run_mode=collective"])
def test_words_of_training_with_servers_and_without_do_not_go_together(flag: str) -> None:
    with pytest.raises(UsageError, match=flag.partition("=")[0]):
        asked(f"--server_num=1 --worker_num=1 {flag} t.py")


def test_a_plain_call_has_no_notices() -> None:
    assert asked("--server_num=1 --worker_num=2 t.py").notices == ()


def test_who_asks_for_help_gets_no_job() -> None:
    assert asked("--help") is None

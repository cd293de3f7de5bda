"""Who of a job is on which machine."""

import pytest

from paddle._launch.errors import ClusterError, UsageError
from paddle._launch.fleet.call import read
from paddle._launch.fleet.cluster import Cluster, is_own, settle


def placed(line: str, own: str = "", **environ: str) -> Cluster:
    call = read([*line.split(), "train.py"], environ)
    assert call
    return settle(call, environ, lambda number: list(range(20001, 20001 + number)), own.split().__contains__)


def test_a_job_of_one_machine_has_ports_that_differ() -> None:
    job = placed("--server_num=2 --worker_num=2")
    assert job.servers == ("127.0.0.1:20001", "127.0.0.1:20002")
    assert job.workers == ("127.0.0.1:20003", "127.0.0.1:20004")
    assert job.gloo == "127.0.0.1:20005"
    assert (job.own_servers, job.own_workers, job.is_whole) == ((0, 1), (0, 1), True)


def test_a_first_port_is_counted_from_as_a_number() -> None:
    job = placed("--server_num=1 --worker_num=1", FLAGS_START_PORT="7000")
    assert (job.servers, job.workers) == (("127.0.0.1:7000",), ("127.0.0.1:7001",))
    with pytest.raises(UsageError, match="FLAGS_START_PORT is '6170a'"):
        placed("--server_num=1 --worker_num=1", FLAGS_START_PORT="6170a")


LISTS = "--servers=10.0.0.2:6170,10.0.0.1:6170 --workers=10.0.0.2:6180,10.0.0.1:6181,10.0.0.2:6182"


def test_numbers_are_places_in_the_list_on_every_machine() -> None:
    first, second = placed(LISTS, POD_IP="10.0.0.1"), placed(LISTS, own="10.0.0.2")
    assert (first.own_servers, first.own_workers) == ((1,), (1,))
    assert (second.own_servers, second.own_workers) == ((0,), (0, 2))
    assert first.gloo == second.gloo == "10.0.0.2:6175"
    assert not first.is_whole


def test_a_machine_may_have_servers_only() -> None:
    job = placed("--servers=10.0.0.1:6170 --workers=10.0.0.2:6171", own="10.0.0.1")
    assert (job.own_servers, job.own_workers) == ((0,), ())


@pytest.mark.parametrize(
    ("environ", "own", "said"),
    [
        ({"POD_IP": "10.0.0.3"}, "10.0.0.1", "POD_IP, or --host, says that this machine is 10.0.0.3"),
        ({}, "", "none of them. Set POD_IP"),
        ({}, "10.0.0.1 10.0.0.2", "several of them: 10.0.0.2, 10.0.0.1. Set POD_IP"),
    ],
)
def test_a_machine_that_cannot_be_told_is_asked_for(environ: dict[str, str], own: str, said: str) -> None:
    with pytest.raises(ClusterError) as refused:
        placed(LISTS, own, **environ)
    assert said in str(refused.value)


def test_an_address_is_own_where_something_could_listen_at_it() -> None:
    assert is_own("127.0.0.1")
    assert not is_own("192.0.2.1")  # of nobody: it is for documents
    assert not is_own("no.such.name.invalid")

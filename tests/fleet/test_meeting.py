"""Processes of a job meet where the environment or the role maker says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from paddle._absent import NotInThisRelease
from paddle._data.records import Column, Records
from paddle._data.slot import Slot
from paddle._data.spreading import spread
from paddle._fleet.errors import BadRole, FleetError
from paddle._fleet.meeting import Meeting, meeting_of
from paddle._fleet.place import Place, Role
from paddle._fleet.role_makers import UserDefinedRoleMaker
from paddle._fleet.together import UtilBase
from paddle._launch.report import Reporter
from paddle._pserver.parley.host import Host
from tests.cluster.by_hand import free_port
from tests.together import together

SERVERS = ("127.0.0.1:1", "127.0.0.1:2")


def worker(number: int, of: int = 2) -> Place:
    return Place(id=number, workers=of, servers=SERVERS)


def test_workers_and_servers_meet_at_an_address() -> None:
    environ = {
        "PADDLE_WITH_GLOO": "1",
        "PADDLE_GLOO_RENDEZVOUS": "3",
        "PADDLE_GLOO_HTTP_ENDPOINT": f"127.0.0.1:{free_port(['127.0.0.1'], 1)}",
    }
    servers = [Place(role=Role.SERVER, id=n, workers=2, servers=SERVERS) for n in range(2)]
    places = [*map(worker, range(2)), *servers]
    met = [meeting_of(place, environ) for place in places]
    utils = [UtilBase(_role(place, meeting)) for place, meeting in zip(places, met, strict=True)]
    own = [np.array([[1.0, 5.0]], np.float32), np.array([[2.0, 3.0]], np.float32)]
    for mode, expected in (("sum", [[3.0, 8.0]]), ("max", [[2.0, 5.0]]), ("min", [[1.0, 3.0]])):
        found = together(*(lambda n=n, mode=mode: utils[n].all_reduce(own[n], mode) for n in range(2)))
        for each in found:
            np.testing.assert_array_equal(each, np.array(expected, np.float32))
            assert each.dtype == np.float32
    assert together(*(lambda n=n: utils[n].all_gather(n + 7) for n in range(2))) == [[7, 8]] * 2
    assert (
        together(*(lambda n=n: utils[n + 2].all_gather([n], "server") for n in range(2))) == [[[0], [1]]] * 2
    )
    assert together(*(lambda n=n: utils[n].barrier("all") for n in range(4))) == [None] * 4
    parts = [[b"0 0", b"0 1"], [b"1 0", b"1 1"]]
    assert together(*(lambda n=n: utils[n].all_to_all(parts[n]) for n in range(2))) == [
        [b"0 0", b"1 0"],
        [b"0 1", b"1 1"],
    ]
    with pytest.raises(FleetError, match="a worker is none of those who meet as servers"):
        utils[0].barrier("server")
    together(*(meeting.close for meeting in met if meeting is not None))


def test_processes_at_different_calls_are_told_so() -> None:
    address = "127.0.0.1", free_port(["127.0.0.1"], 1)
    met = [Meeting(Place(id=number, workers=2), address) for number in range(2)]
    said = []

    def at(call: Callable[[], object]) -> None:
        with pytest.raises(FleetError) as error:
            call()
        said.append(str(error.value))

    together(lambda: at(lambda: met[0].all_gather(1)), lambda: at(met[1].barrier))
    assert sorted(each.partition(":")[0] for each in said) == [
        "number 0 of those who meet as 'worker' is at all_reduce or all_gather, and this process at barrier",
        "number 1 of those who meet as 'worker' is at barrier, and this process at all_reduce or all_gather",
    ]
    together(lambda: at(lambda: met[0].all_to_all([b"", b""])), lambda: at(lambda: met[1].all_reduce(1)))
    assert together(met[0].barrier, met[1].barrier) == [None] * 2
    together(*(meeting.close for meeting in met))


def test_a_worker_without_which_the_job_goes_on_is_in_no_sum_and_is_given_no_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ear, mouth = os.pipe()
    os.set_blocking(ear, False)
    monkeypatch.setattr("paddle._fleet.meeting.reporter", lambda: Reporter(None, news=ear))
    address = "127.0.0.1", free_port(["127.0.0.1"], 1)
    met = [Meeting(Place(id=number, workers=3), address) for number in (0, 2)]
    os.write(mouth, b'{"text": "trainer-1 was killed", "trainer": 1, "goes_on": true}\n')
    utils = [UtilBase(_role(each._place, each)) for each in met]
    assert together(*(lambda n=n: utils[n].all_reduce(n + 1) for n in range(2))) == [3, 3]
    assert together(*(lambda n=n: utils[n].all_gather(n) for n in range(2))) == [[0, 1]] * 2
    assert together(*(lambda n=n: met[n].barrier("all") for n in range(2))) == [None] * 2
    given = [_numbers(0, 5), _numbers(5, 12)]
    fleets = [
        SimpleNamespace(worker_num=lambda: 3, worker_index=lambda n=n: 2 * n, util=utils[n]) for n in range(2)
    ]
    held = together(*(lambda n=n: spread(given[n], fleets[n]) for n in range(2)))
    assert [len(each) for each in held] == [6, 6]
    assert sorted(np.concatenate([each.columns[0].values for each in held])) == list(range(12))
    together(*(meeting.close for meeting in met))
    os.close(mouth)
    os.close(ear)


def _numbers(begin: int, end: int) -> Records:
    """Samples of one number each."""
    slot = Slot("n", is_float=False, is_dense=True, shape=(1,))
    return Records((slot,), (Column(np.arange(begin, end), np.arange(end - begin + 1)),))


def _role(place: Place, meeting: Any = None) -> Any:
    made = UserDefinedRoleMaker()
    made._place = place
    made.meeting = meeting or made.meeting
    return made


def test_role_makers_speak_as_fleet_util_does() -> None:
    alone, both = _role(worker(1)), [_role(worker(number)) for number in range(2)]
    assert (alone._all_gather(3), alone._all_reduce(3)) == (3, 3)
    alone._barrier("all")
    host = Host()
    where = host.open("127.0.0.1", 0)
    for role in both:
        role.meeting = Meeting(role.place, where)
    sums = [np.zeros(2), np.zeros(2)]
    assert together(*(lambda n=n: both[n].all_gather(n) for n in range(2))) == [[0, 1]] * 2
    together(*(lambda n=n: both[n].all_reduce_worker(np.full(2, n + 1.0), sums[n]) for n in range(2)))
    assert [each.tolist() for each in sums] == [[3.0, 3.0]] * 2
    assert together(*(lambda n=n: both[n]._barrier("worker") for n in range(2))) == [None] * 2
    together(*(role.meeting.close for role in both))
    host.close()


def test_workers_meet_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "meeting").write_text('["127.0.0.1", 1]')  # of an older job
    second, first = Meeting(worker(1), tmp_path), Meeting(worker(0), tmp_path)
    assert together(lambda: second.all_gather(2), lambda: first.all_gather(1)) == [[1, 2]] * 2
    together(first.close, second.close)


def test_without_gloo_each_is_alone() -> None:
    assert meeting_of(worker(1), {}) is None
    assert meeting_of(worker(1), {"PADDLE_WITH_GLOO": "0"}) is None
    alone = UtilBase(_role(worker(1)))
    assert alone.all_reduce([1, 2]) == [1, 2]
    assert alone.all_gather(3) == 3
    assert alone.all_to_all([b"", b""]) is None
    alone.barrier()


@pytest.mark.parametrize(
    ("environ", "error", "said"),
    [
        ({"PADDLE_GLOO_RENDEZVOUS": "3"}, BadRole, "PADDLE_GLOO_HTTP_ENDPOINT=host:port"),
        ({"PADDLE_GLOO_RENDEZVOUS": "2"}, BadRole, "PADDLE_GLOO_FS_PATH"),
        ({"PADDLE_GLOO_RENDEZVOUS": "1"}, NotInThisRelease, "HDFS"),
        ({"PADDLE_GLOO_RENDEZVOUS": "http"}, BadRole, "PADDLE_GLOO_RENDEZVOUS is 'http': it must be 3"),
        ({"PADDLE_WITH_GLOO": "yes"}, BadRole, "PADDLE_WITH_GLOO is 'yes': it must be 1"),
    ],
)
def test_what_the_environment_lacks_is_named(
    environ: dict[str, str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        meeting_of(worker(1), {"PADDLE_WITH_GLOO": "1", **environ})


def test_workers_meet_where_the_general_role_maker_says() -> None:
    where = ("127.0.0.1", free_port(["127.0.0.1"], 1))
    met = [meeting_of(worker(number), {}, where) for number in range(2)]
    utils = [UtilBase(_role(worker(number), meeting)) for number, meeting in enumerate(met)]
    assert together(*(lambda n=n: utils[n].all_gather(n + 7) for n in range(2))) == [[7, 8]] * 2
    together(*(meeting.close for meeting in met if meeting is not None))


@pytest.mark.parametrize("servers", [(), SERVERS])
def test_worker_0_says_that_another_has_the_place_unless_that_may_be_server_0(
    servers: tuple[str, ...],
) -> None:
    other = Host()
    where = other.open("127.0.0.1", 0)
    first = Place(id=0, workers=2, servers=servers)
    if servers:
        Meeting(first, where).close()
    else:
        with pytest.raises(FleetError, match=rf"cannot hold the place .*: port {where[1]} of .* is in use"):
            Meeting(first, where)
    other.close()


def test_a_second_fleet_of_a_process_meets_where_the_first_one_does() -> None:
    where = ("127.0.0.1", free_port(["127.0.0.1"], 1))
    alone = Place(id=0, workers=1)
    first, second = Meeting(alone, where), Meeting(alone, where)
    assert second.all_gather(7) == first.all_gather(7) == [7]
    second.close()
    first.close()


def test_a_child_that_outlives_worker_0_does_not_hold_its_place() -> None:
    where = ("127.0.0.1", free_port(["127.0.0.1"], 1))
    first = Meeting(Place(id=0, workers=1), where)
    ear, mouth = os.pipe()
    child = os.fork()
    if not child:
        os.close(mouth)
        os.read(ear, 1)
        os._exit(0)
    os.close(ear)
    first.close()
    Meeting(Place(id=0, workers=1), where).close()
    os.close(mouth)
    os.waitpid(child, 0)

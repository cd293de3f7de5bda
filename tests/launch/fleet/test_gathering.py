"""Machines that nobody lists find each other at one place: each launcher is a thread here, at an address of
this machine."""

import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from paddle._launch.errors import LaunchError, MachinesApart
from paddle._launch.fleet.call import Appointment, Call, read
from paddle._launch.fleet.gathering import Gathering, Part, place_of, reachable_address
from paddle._launch.parts.speech import proof, receive, send
from tests.waiting import PATIENCE_S

TOKEN = b"1ec34423c1bd52c2-4ab519d0ecc27bcb"


@pytest.fixture
def master() -> str:
    with socket.create_server(("127.0.6.1", 0)) as listener:
        return f"127.0.6.1:{listener.getsockname()[1]}"


def part(number: int, host: str = "") -> Part:
    return Part(
        host=host, servers=(7000 + number,), workers=(8000 + number, 8100 + number), gloo=9000 + number
    )


def asked(master: str, size: int = 2, rank: int = -1, job: str = "default", **more) -> Appointment:
    rest = {"by_address": False, "patience_s": PATIENCE_S} | more
    return Appointment(master=master, size=size, rank=rank, job=job, **rest)


def asked_by(line: str) -> Call | None:
    return read(line.split())


def gather(*machines: tuple[Appointment, bytes, Part], said: list[str] | None = None) -> list:
    """All at once; what each hears, or why not."""
    say = [].append if said is None else said.append
    with ThreadPoolExecutor(len(machines)) as pool:
        heard = [pool.submit(Gathering(where, token, say).meet, of) for where, token, of in machines]
        return [each.exception() or each.result() for each in heard]


@pytest.mark.parametrize("token", [b"", TOKEN])
def test_all_hear_of_all_and_each_is_one_of_them(master, token) -> None:
    heard = gather(*((asked(master, 3), token, part(number)) for number in range(3)))
    parts = [of for of, _ in heard]
    assert parts == [parts[0]] * 3
    assert sorted(rank for _, rank in heard) == [0, 1, 2]
    assert {each.host for each in parts[0]} == {"127.0.6.1"}
    for number, (of, rank) in enumerate(heard):
        assert of[rank].servers == (7000 + number,)


def test_numbers_are_those_that_were_asked_for(master) -> None:
    places = [(asked(master, 3, rank), b"", part(rank)) for rank in (2, 0, 1)]
    assert [rank for _, rank in gather(*places)] == [2, 0, 1]


def test_by_address_they_are_in_its_order(master) -> None:
    hosts = ("10.0.0.12", "10.0.0.3", "10.0.0.9")
    places = [(asked(master, 3, by_address=True), b"", part(0, host)) for host in hosts]
    assert [rank for _, rank in gather(*places)] == [2, 0, 1]


def test_of_what_they_say_a_job_comes_whose_numbers_follow_the_machines() -> None:
    parts = (part(0, "10.0.0.1"), Part(host="10.0.0.2", servers=(), workers=(8001,), gloo=1))
    first, second = place_of(parts, 0), place_of(parts, 1)
    assert first.servers == second.servers == ("10.0.0.1:7000",)
    assert first.workers == second.workers == ("10.0.0.1:8000", "10.0.0.1:8100", "10.0.0.2:8001")
    assert (first.own_servers, first.own_workers) == ((0,), (0, 1))
    assert (second.own_servers, second.own_workers, second.here) == ((), (2,), "10.0.0.2")
    assert first.gloo == second.gloo == "10.0.0.1:9000"
    assert not first.is_whole


def test_a_job_without_servers_on_any_machine_cannot_be() -> None:
    parts = (Part(host="10.0.0.1", servers=(), workers=(1,), gloo=1),) * 2
    with pytest.raises(MachinesApart, match=r"none of the 2 machines has a server: --server_num is 0"):
        place_of(parts, 0)


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ({}, {"job": "b"}, "it is of job 'b' .--job_id., and job 'default' meets there"),
        ({}, {"size": 3}, "it has --nnodes=3, and the machine that waits there --nnodes=2"),
        ({"rank": 1}, {"rank": 1}, "it has --rank=1, as 127.0.6.1 has"),
    ],
)
def test_who_disagrees_is_told_so_at_once_and_the_other_waits_on(master, one, other, why) -> None:
    said: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        holder = pool.submit(Gathering(asked(master, **one), b"", said.append).meet, part(0))
        _until_held(master)
        with pytest.raises(MachinesApart, match=why):
            Gathering(asked(master, **other), b"", said.append).meet(part(1))
        guest = pool.submit(Gathering(asked(master), b"", said.append).meet, part(2))
        assert holder.result()[0] == guest.result()[0]
    assert any(re.search(f"127.0.0.1 came and is refused: {why}", line) for line in said)


def test_without_the_jobs_token_nobody_comes_in(master) -> None:
    refused = threading.Event()

    def clock() -> float:
        return 1.0 if refused.is_set() else 0.0

    with ThreadPoolExecutor(2) as pool:
        holder = pool.submit(Gathering(asked(master, patience_s=1.0), TOKEN, [].append, clock).meet, part(0))
        _until_held(master)
        with pytest.raises(MachinesApart, match=r"it has another token .*PADDLE_TOKEN_FILE"):
            Gathering(asked(master), b"another", [].append).meet(part(1))
        refused.set()
        with pytest.raises(MachinesApart, match=r"1 s have gone by at 127\.0\.6\.1:\d+ .*of 2 machines 1 "):
            holder.result()


def test_who_goes_again_leaves_its_place_free(master) -> None:
    said: list[str] = []
    address = master.rpartition(":")[0], int(master.rpartition(":")[2])
    with ThreadPoolExecutor(2) as pool:
        holder = pool.submit(Gathering(asked(master, 3), b"", said.append).meet, part(0))
        _until_held(master)
        with socket.create_connection(address) as gone:
            _claim(gone)
        others = [
            pool.submit(Gathering(asked(master, 3, rank), b"", said.append).meet, part(rank)) for rank in (1,)
        ]
        last = Gathering(asked(master, 3, 2), b"", said.append).meet(part(2))
        assert [holder.result()[1], others[0].result()[1], last[1]] == [0, 1, 2]
    assert "127.0.0.1 has gone again" in said


@pytest.mark.parametrize("words", [b"", b"GET / HTTP/1.1\r\n\r\n", b"{}\n", b'{"rank": 1}\n', b"\xff\n"])
def test_a_stranger_keeps_nobody_from_meeting(master, words) -> None:
    address = master.rpartition(":")[0], int(master.rpartition(":")[2])
    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(Gathering(asked(master), b"", [].append).meet, part(0))
        _until_held(master)
        with socket.create_connection(address) as stranger:
            stranger.sendall(words)
            stranger.shutdown(socket.SHUT_WR)
            assert Gathering(asked(master), b"", [].append).meet(part(1))[0] == holder.result()[0]


def test_what_was_tried_is_said_where_nobody_holds_the_place() -> None:
    with pytest.raises(MachinesApart) as apart:
        Gathering(asked("nowhere.invalid:8090", patience_s=0.3), b"", [].append).meet(part(0))
    assert "after 0.3 s there is no launcher of job 'default' at nowhere.invalid:8090" in str(apart.value)
    assert "Name or service not known" in str(apart.value) or "Temporary failure" in str(apart.value)


def test_a_port_that_something_else_has_is_no_launchers(master) -> None:
    host, _, port = master.rpartition(":")

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                line = listener.accept()[0]
            except OSError:
                return
            with line:
                line.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socket.create_server((host, int(port))) as listener:
        threading.Thread(target=serve, args=[listener], daemon=True).start()
        with pytest.raises(MachinesApart, match="what listens there is none of a job"):
            Gathering(asked(master, patience_s=0.5), b"", [].append).meet(part(0))
        listener.shutdown(socket.SHUT_RDWR)


def test_a_machine_has_an_address_on_its_way_to_others() -> None:
    socket.inet_aton(reachable_address())


def test_the_command_of_2_3_and_later_is_understood() -> None:
    call = asked_by("--master 10.0.0.1:8090 --nnodes 2 --rank 1 --server_num=1 --trainer_num=2 t.py")
    assert call is not None and call.appointment is not None
    assert (call.server_num, call.worker_num) == (1, 2)
    assert (call.appointment.master, call.appointment.size, call.appointment.rank) == ("10.0.0.1:8090", 2, 1)


def test_who_gives_no_numbers_has_one_of_each_kind_as_the_original() -> None:
    for line in ("--run_mode=ps t.py", "--master=a:1 --nnodes=2 t.py"):
        call = asked_by(line)
        assert call is not None and (call.server_num, call.worker_num) == (1, 1)


def test_a_machine_may_have_trainers_only_and_lists_need_no_meeting() -> None:
    call = asked_by("--master=a:1 --nnodes=2 --server_num=0 --trainer_num=2 t.py")
    assert call is not None and (call.server_num, call.worker_num) == (0, 2)
    call = asked_by("--master=a:1 --nnodes=2 --servers=a:1,b:1 --trainers=a:2,b:2 t.py")
    assert call is not None and call.appointment is None


def test_a_platform_says_it_in_the_environment_and_a_flag_counts_more() -> None:
    environ = {"PADDLE_MASTER": "a:8090", "PADDLE_NNODES": "3", "PADDLE_RANK": "1", "PADDLE_JOB_ID": "j"}
    call = read(["--rank=2", "t.py"], {**environ, "PADDLE_TRAINER_NUM": "4"})
    assert call is not None and call.worker_num == 4
    assert call.appointment == Appointment(
        master="a:8090", size=3, rank=2, job="j", by_address=False, patience_s=600.0
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--nnodes=2 --master=a t.py", "--master (PADDLE_MASTER): 'a' is not host:port"),
        ("--nnodes=2 --master=etcd://a:2379 t.py", "machines that meet in etcd"),
        ("--nnodes=2:4 --master=a:1 t.py", "'2:4' is not a whole number"),
        ("--nnodes=2 --master=a:1 --rank=2 t.py", "--rank is 2, but --nnodes says that there are 2"),
        ("--nnodes=2 --master=a:1 --servers=a:2 t.py", "give both --servers and --workers, or neither"),
        ("--nnodes=2 --master=a:1 --server_num=0 --worker_num=0 t.py", "nothing to start"),
    ],
)
def test_what_cannot_be_is_refused_in_words(line: str, said: str) -> None:
    with pytest.raises(LaunchError) as refused:
        asked_by(line)
    assert said in str(refused.value)


def _until_held(master: str) -> None:
    """Come as a stranger until somebody is there."""
    host, _, port = master.rpartition(":")
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) == 0:
                return


def _claim(line: socket.socket) -> None:
    """Come as the third of three machines, without a token."""
    nonce = str(receive(line)["nonce"])
    of = {"host": "", "servers": [1], "workers": [2], "gloo": 3}
    claim = {"job": "default", "size": 3, "rank": 2, "part": of}
    send(line, {**claim, "nonce": "0", "proof": proof(b"", nonce, "guest", claim)})

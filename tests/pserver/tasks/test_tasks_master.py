"""The master and its client: requests over HTTP, a state on disk, chunks that cannot be read."""

from __future__ import annotations

import asyncio
import http.client
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from paddle._pserver.service.ports import listen
from paddle._pserver.tasks import state_file
from paddle._pserver.tasks.application import application
from paddle._pserver.tasks.client import MasterClient, Patience
from paddle._pserver.tasks.errors import (
    AllTaskFailed,
    BadAddress,
    BadDataset,
    MasterUnreachable,
    NoDataset,
    PassUnknown,
    StateNotSaved,
)
from paddle._pserver.tasks.master import Master
from paddle._pserver.tasks.messages import GetTask, SetDataset, State
from paddle._pserver.tasks.queue import QueueOptions
from paddle._pserver.tasks.state_file import StateFile
from paddle._recordio.chunks import chunks_of, write_records


class Clock:
    """Moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two files of three chunks each; a record names its file and place."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in "ab":
        with (folder / name).open("wb") as file:
            write_records(file, records_of(name), max_chunk_bytes=4)
    return folder


def records_of(*names: str) -> list[bytes]:
    return [f"{name}{number}".encode() for name in names for number in range(6)]


@contextmanager
def serving(master: Master, app: web.Application | None = None, port: int = 0) -> Iterator[str]:
    """The routes of ``master``, or ``app``, on a port of loopback, in a thread; gives the address."""
    listener = listen("127.0.0.1", port)
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(app or application(master), access_log=None, shutdown_timeout=0.1)

    def run() -> None:
        loop.run_until_complete(runner.setup())
        loop.run_until_complete(web.SockSite(runner, listener).start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def a_master(clock: Clock, store: object = None, state: State | None = None) -> Master:
    return Master(QueueOptions(timeout_s=10.0, failure_max=1, chunks_per_task=2), clock, store, state)  # type: ignore[arg-type]


@pytest.fixture
def connect(clock: Clock) -> Iterator[Callable[[str], MasterClient]]:
    opened: list[MasterClient] = []

    def make(address: str) -> MasterClient:
        opened.append(MasterClient(address, Patience(clock=clock, sleep=clock.sleep)))
        return opened[-1]

    yield make
    for client in opened:
        client.release()


Connect = Callable[[str], MasterClient]


def test_two_clients_share_a_data_set_record_by_record(clock: Clock, data: Path, connect: Connect) -> None:
    with serving(a_master(clock)) as address:
        clients = [connect(address), connect(f"http://{address}")]
        assert [client.set_dataset([f"{data}/*"]).is_first for client in clients] == [True, False]
        for pass_id in range(2):
            readers = [client.records(pass_id) for client in clients]
            turns = [next(readers[turn % 2]) for turn in range(8)]
            rest = [record for reader in readers for record in reader]
            assert sorted(turns + rest) == records_of("a", "b")


def test_a_reader_that_stopped_in_a_task_gives_it_back_when_it_reads_anew(
    clock: Clock, data: Path, connect: Connect
) -> None:
    master = a_master(clock)
    with serving(master) as address:
        client = connect(address)
        client.set_dataset([f"{data}/*"])
        first = next(client.records(0))
        assert next(rest := client.records(0)) == first
        assert len([first, *rest]) == 12
        assert master.queue.counts()["pass"] == 1


def test_a_task_counts_as_finished_when_the_record_after_its_last_is_asked_for(
    clock: Clock, data: Path, connect: Connect
) -> None:
    master = a_master(clock)
    with serving(master) as address:
        client = connect(address)
        client.set_dataset([f"{data}/a"])
        reader = client.records(0)
        for _ in range(4):
            next(reader)
        assert master.queue.counts()["done"] == 0
        next(reader)
        assert master.queue.counts()["done"] == 1


def test_what_a_dead_trainer_had_is_read_in_the_same_pass_by_who_waits(
    clock: Clock, data: Path, connect: Connect
) -> None:
    with serving(a_master(clock)) as address:
        dead, alive = connect(address), connect(address)
        dead.set_dataset([f"{data}/*"])
        next(dead.records(0))
        assert sorted(alive.records(0, wait_for_pending=True)) == records_of("a", "b")
        assert clock.now >= 10.0


def test_what_a_dead_trainer_had_is_read_in_the_next_pass_by_who_does_not_wait(
    clock: Clock, data: Path, connect: Connect
) -> None:
    with serving(a_master(clock)) as address:
        dead, alive = connect(address), connect(address)
        dead.set_dataset([f"{data}/*"])
        next(dead.records(0))
        passes = [list(alive.records(0)), list(alive.records(1))]
        assert clock.now >= 10.0
        assert sorted(passes[0] + passes[1]) == sorted(2 * records_of("a", "b"))


def damage(path: Path, chunk: int) -> None:
    content = bytearray(path.read_bytes())
    content[list(chunks_of(path))[chunk].end - 1] ^= 1
    path.write_bytes(content)


def test_a_corrupted_chunk_costs_its_task_and_nothing_else(
    clock: Clock, data: Path, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    damage(data / "b", 2)  # the second of its task
    master = a_master(clock)
    with caplog.at_level(logging.INFO, "paddle.master"), serving(master) as address:
        client = connect(address)
        client.set_dataset([f"{data}/*"])
        for pass_id in range(2):
            assert list(client.records(pass_id)) == [*records_of("a"), b"b0", b"b1"]
        assert master.queue.counts()["pass"] == 2
    assert f"{data / 'b'}: the chunk at byte" in caplog.text


def test_a_data_set_of_which_nothing_can_be_read_is_an_error(
    clock: Clock, data: Path, connect: Connect
) -> None:
    for chunk in range(3):
        damage(data / "a", chunk)
    with serving(a_master(clock)) as address:
        client = connect(address)
        client.set_dataset([f"{data}/a"])
        with pytest.raises(AllTaskFailed, match=address):
            list(client.records(0))


def test_another_data_set_is_told_not_to_be_read(
    clock: Clock, data: Path, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(a_master(clock)) as address:
        connect(address).set_dataset([f"{data}/a"])
        assert connect(address).set_dataset([f"{data}/b"]).globs == (f"{data}/a",)
    assert f"{data}/b is not read" in caplog.text


def test_a_pass_that_was_over_before_is_told(
    clock: Clock, data: Path, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(a_master(clock)) as address:
        early, late = connect(address), connect(address)
        early.set_dataset([f"{data}/*"])
        assert sorted(early.records(0)) == records_of("a", "b")
        assert not caplog.text
        assert not list(late.records(0))
    assert "pass 0 is over, the present one is 1" in caplog.text


@pytest.mark.parametrize("name", ["nothing*", "text", "empty"])
def test_a_data_set_that_cannot_be_is_named_and_another_can_be_set(
    clock: Clock, data: Path, connect: Connect, name: str
) -> None:
    (data / "text").write_text("this is not a chunk, though it is long enough")
    (data / "empty").write_bytes(b"")
    with serving(a_master(clock)) as address:
        client = connect(address)
        with pytest.raises(BadDataset, match=name.replace("*", r"\*")):
            client.set_dataset([f"{data}/{name}"])
        assert client.set_dataset([f"{data}/a"]).is_first


def test_a_client_waits_for_a_data_set_but_not_for_ever(clock: Clock, connect: Connect) -> None:
    with serving(a_master(clock)) as address, pytest.raises(NoDataset):
        list(connect(address).records(0))
    assert 60.0 <= clock.now < 70.0


def test_a_master_that_is_away_is_asked_until_the_deadline_and_named(clock: Clock, connect: Connect) -> None:
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    listener.close()
    with pytest.raises(
        MasterUnreachable, match=rf"127.0.0.1:{port} .*/v1/save_model in \d+ tries over 6\d s"
    ):
        connect(f"127.0.0.1:{port}").request_save_model("0", 1.0)


def test_a_server_that_is_no_master_is_not_taken_for_one(clock: Clock, connect: Connect) -> None:
    expected = pytest.raises(MasterUnreachable, match="status 404, so it is not a master")
    with serving(a_master(clock), web.Application()) as address, expected:
        connect(address).request_save_model("0", 1.0)


@pytest.mark.parametrize("address", ["", "a:1,b:2", "https://a", "a:port", "http://"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadAddress, match="host:port"):
        MasterClient(address)


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"client":"","request":1,"pass_id":0}', b"[" * 100000])
def test_what_is_no_request_is_told_so(clock: Clock, body: bytes) -> None:
    with serving(a_master(clock)) as address:
        connection = http.client.HTTPConnection(address)
        connection.request("POST", "/v1/task", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert (response.status, msgspec.json.decode(response.read())["error"]) == (400, "BadRequest")
        connection.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/json", "Origin": "http://a.name.that.leads.here:8080"},
    ],
)
def test_a_page_in_a_browser_can_ask_for_nothing(clock: Clock, headers: dict[str, str]) -> None:
    body = msgspec.json.encode(GetTask(client="a", request=1, pass_id=0))
    with serving(a_master(clock)) as address:
        connection = http.client.HTTPConnection(address)
        connection.request("POST", "/v1/task", body, headers)
        assert connection.getresponse().status == 400
        connection.close()


def test_a_master_goes_on_from_its_state_file(
    clock: Clock, data: Path, tmp_path: Path, connect: Connect
) -> None:
    path = tmp_path / "state"
    file = StateFile(path)
    assert file.open() is None
    with serving(a_master(clock, file)) as address:
        client = connect(address)
        client.set_dataset([f"{data}/*"])
        reader = client.records(0)
        seen = [next(reader) for _ in range(5)]
        assert client.request_save_model("0", 5.0)
    file.close()
    again = StateFile(path)
    with serving(a_master(clock, again, again.open()), port=int(address.rpartition(":")[2])):
        assert not connect(address).request_save_model("1", 5.0)
        assert sorted(seen + list(reader)) == records_of("a", "b")
        assert not client.set_dataset([f"{data}/*"]).is_first


def test_a_master_that_lost_its_state_says_so(clock: Clock, data: Path, connect: Connect) -> None:
    with serving(a_master(clock)) as address:
        client = connect(address)
        client.set_dataset([f"{data}/*"])
        with pytest.raises(PassUnknown, match="--state_file"):
            list(client.records(2))


def test_what_cannot_be_saved_did_not_happen(clock: Clock, data: Path) -> None:
    class Full:
        broken = False

        def save(self, state: State) -> None:
            if self.broken:
                raise StateNotSaved("no space left")

    store = Full()
    master = a_master(clock, store)
    asyncio.run(master.set_dataset(SetDataset(globs=(f"{data}/*",))))
    before = master.queue.state(0.0)
    store.broken = True
    with pytest.raises(StateNotSaved):
        master.get_task(GetTask(client="a", request=1, pass_id=0))
    assert master.queue.state(0.0) == before


def test_a_state_file_is_wholly_old_or_wholly_new_wherever_writing_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state"
    file = StateFile(path)
    file.open()
    file.save(State(pass_id=1))

    def stop(*_: object) -> None:
        raise OSError("pulled the plug")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(*((state_file.os, "fsync") if step == "fsync" else (Path, "replace")), stop)
            with pytest.raises(StateNotSaved, match="pulled the plug"):
                file.save(State(pass_id=2))
        file.close()
        assert (file.open() or State()).pass_id == 1


def test_a_damaged_state_file_is_named_and_not_taken_for_none(tmp_path: Path) -> None:
    path = tmp_path / "state"
    file = StateFile(path)
    file.open()
    file.save(State(pass_id=1))
    file.close()
    whole = path.read_bytes()
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(damaged)
            with pytest.raises(StateNotSaved, match=f"{path} is damaged"):
                file.open()
            file.close()


def test_a_state_file_has_one_master(tmp_path: Path) -> None:
    first = StateFile(tmp_path / "state")
    first.open()
    with pytest.raises(StateNotSaved, match="another master"):
        StateFile(tmp_path / "state").open()


def test_a_state_file_in_no_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(StateNotSaved, match="folder"):
        StateFile(tmp_path / "none" / "state").open()

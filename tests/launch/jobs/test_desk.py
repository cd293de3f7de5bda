"""A launch's desk and its callers, in one process: what is asked, answered, kept and left out."""

from __future__ import annotations

import contextlib
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.events import Event, StopAsked
from paddle._launch.jobs import desk as of_desk
from paddle._launch.jobs.caller import Caller, NoAnswer
from paddle._launch.jobs.chronicle import Chronicle
from paddle._launch.jobs.desk import Desk
from paddle._launch.jobs.record import read_state
from paddle._launch.news import Changed, Ended, Entered, Printed, Progress, Restarted, Said, Waiting
from tests.launch.jobs.conftest import record
from tests.waiting import PATIENCE_S, until


class Office:
    """A desk, its folder, and what the launch was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[Event] = []
        self.desk = Desk(folder, record(folder), clock=lambda: 7.0)
        self.desk.open(self.asked.append)


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    folder = tmp_path / ("deep" * 40)  # longer than the address of a socket may be
    folder.mkdir()
    office = Office(folder)
    yield office
    office.desk.tell(Ended(0, "", "", ""))
    office.desk.close()


def test_how_it_stands_is_told_and_kept(office: Office) -> None:
    for bulletin in (
        Entered("train", 1.0),
        Changed("trainer-0", "starts"),
        Progress("trainer-0", 1, 5, 2.0, 10.0),
        Restarted("pserver-1", "its process 7 was killed"),
        Waiting(("trainer-1",), 4.0),
    ):
        office.desk.tell(bulletin)
    with Caller(office.folder) as caller:
        state = caller.state()
    rows = {row.role: row for row in state.rows}
    assert (state.phase, state.since, state.exit_status) == ("train", 7.0, None)
    assert state.waiting == "waiting for trainer-1 for 4 s"
    trainer = rows["trainer-0"]
    assert (trainer.state, trainer.pass_id, trainer.batch_id, trainer.cost) == ("trains", 1, 5, 2.0)
    assert rows["pserver-1"].restarts == 1
    assert rows["trainer-1"].state == "waits"
    until(lambda: read_state(office.folder) == state, "the same on the disk")


def test_its_end_is_kept_when_it_is_closed(office: Office) -> None:
    office.desk.tell(Entered("end", 2.0))
    office.desk.tell(Ended(7, "/log", "", "/model"))
    office.desk.close()
    state = read_state(office.folder)
    assert state is not None
    assert (state.phase, state.exit_status, state.log, state.model) == ("end", 7, "/log", "/model")
    with pytest.raises(NoAnswer):
        Caller(office.folder)


def test_who_asks_to_stop_is_handed_on_with_a_grace_within_limits(office: Office) -> None:
    with Caller(office.folder) as caller:
        caller.stop(grace_s=5.0, kill=False, by="me")
        caller.stop(grace_s=1e9, kill=True, by="x" * 1000)
    assert office.asked == [
        StopAsked(5.0, is_killing=False, by="me"),
        StopAsked(of_desk.LONGEST_GRACE_S, is_killing=True, by="x" * 200),
    ]


@pytest.mark.parametrize(
    ("of", "told"), [("follow", ["one", "now", "three", "end"]), ("lines", ["lines", "now", "lines"])]
)
def test_who_follows_hears_what_was_told_before_and_after_to_the_end(
    office: Office, of: str, told: list[str]
) -> None:
    office.desk.tell(Said("one"))
    office.desk.tell(Printed("trainer-0", ("two",)))
    heard: list[str] = []
    with Caller(office.folder) as caller:
        for each in getattr(caller, of)():
            heard.append(str(each.get("text", each["event"])))
            if each["event"] == "now":
                office.desk.tell(Said("three"))
                office.desk.tell(Printed("trainer-0", ("four",)))
                office.desk.tell(Ended(0, "", "", ""))
                office.desk.close()
    assert [word for word in heard if word != "beat"] == told


def test_what_trainers_report_for_hours_takes_no_line_from_who_reads_logs(office: Office) -> None:
    office.desk.tell(Printed("trainer-0", ("the first",)))
    for batch in range(100_000):
        office.desk.tell(Progress("trainer-0", 0, batch, 1.0, 1.0))
    with Caller(office.folder) as caller:
        assert next(caller.lines())["lines"] == ["the first"]


def test_only_its_user_can_come(office: Office) -> None:
    assert stat.S_IMODE((office.folder / of_desk.SOCKET).stat().st_mode) == 0o600


@pytest.mark.parametrize("said", [b"\n", b"{}\n", b'{"ask": 3}\n', b"\xff" * 70000 + b"\n", b'{"ask"'])
def test_nonsense_ends_a_call_and_harms_nobody(office: Office, said: bytes) -> None:
    with Caller(office.folder) as caller:
        caller._socket.sendall(said)
        caller._socket.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):  # what it did not read is thrown away
            assert caller._lines.read() == b""
    with Caller(office.folder) as caller:
        assert caller.state().phase == "begins"


def test_more_callers_than_there_is_room_for_are_sent_away_and_room_is_given_back(office: Office) -> None:
    callers = [Caller(office.folder) for _ in range(of_desk.MOST_CALLERS)]
    for caller in callers:
        caller.state()
    with Caller(office.folder) as one_more, pytest.raises(NoAnswer):
        one_more.state()
    for caller in callers:
        caller.__exit__(None, None, None)

    def is_heard() -> bool:
        try:
            with Caller(office.folder) as caller:
                return caller.state().phase == "begins"
        except NoAnswer:
            return False

    until(is_heard, "room for a caller")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_call_that_goes_wrong_costs_no_room(office: Office, monkeypatch) -> None:
    """Whatever it is; each of them took a place for good, and after sixteen nobody was heard."""
    monkeypatch.setattr(office.desk, "_state", lambda: [][0])
    for _ in range(of_desk.MOST_CALLERS):
        with Caller(office.folder) as caller, pytest.raises(NoAnswer):
            caller.state()
    monkeypatch.undo()

    def is_heard() -> bool:
        try:
            with Caller(office.folder) as caller:
                return caller.state().phase == "begins"
        except NoAnswer:
            return False

    until(is_heard, "room for a caller")


def test_a_launch_that_hangs_is_given_up_in_time(tmp_path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / of_desk.SOCKET))
    listener.listen()
    with (
        listener,
        Caller(tmp_path, patience_s=0.05) as caller,
        pytest.raises(NoAnswer, match=r"says nothing for 0\.05 s"),
    ):
        caller.state()


def test_a_full_disk_ends_nothing(office: Office, monkeypatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(of_desk, "write_state", full)
    office.desk.tell(Entered("train", 1.0))
    with Caller(office.folder) as caller:
        assert caller.state().phase == "train"


def test_a_chronicle_forgets_the_oldest_and_says_how_many() -> None:
    chronicle = Chronicle(most_bytes=2500)
    for number in range(30):
        chronicle.tell(Said(str(number)), float(number))
    news, cursor, missed = chronicle.since(0, 0.0)
    assert len(news) + missed == cursor == 30 == chronicle.next
    assert missed > 10
    assert [told.bulletin for told in news] == [Said(str(number)) for number in range(missed, 30)]
    assert chronicle.since(cursor, 0.0) == ([], 30, 0)


def test_a_reader_that_waits_is_woken_by_news_and_by_the_end() -> None:
    chronicle = Chronicle()
    heard: list[int] = []

    def read() -> None:
        cursor = 0
        while cursor >= 0:
            news, cursor, _ = chronicle.since(cursor, 30.0)
            heard.extend(int(told.time) for told in news)

    reader = threading.Thread(target=read)
    reader.start()
    chronicle.tell(Said("one"), 1.0)
    chronicle.tell(Said("two"), 2.0)
    chronicle.close()
    reader.join(PATIENCE_S)
    assert (reader.is_alive(), heard) == (False, [1, 2])

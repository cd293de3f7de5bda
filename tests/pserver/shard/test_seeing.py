"""One report of a shard as JSON, as metrics, as a page and as lines of the log."""

from __future__ import annotations

import logging
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.exchange import Exchange, ParameterSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Pull, Push
from paddle._pserver.service import metrics, report_page
from paddle._pserver.service.application import _links
from paddle._pserver.service.meter import BOUNDS_S, Meter
from paddle._pserver.service.report import Door, Report, duration, lines, report
from paddle._pserver.service.status import TableStatus, status

from ..conftest import ONES, Start, start, update, values_of
from ..talk import Talk, gradient

G = gradient([1.0, 2.0, 3.0, 4.0], [1])
SAMPLE = re.compile(r"^(paddle_pserver_\w+?)(_bucket|_sum|_count)?(\{.*\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
NASTY = '<script>"x"</script>&\n\\'


def seen(talk: Talk, meter: Meter | None = None) -> Report:
    return report(
        talk.shard,
        meter or Meter(),
        name="shard <1>",
        damaged_frames=2,
        since=talk.now - 60,
        now=talk.now,
        shard_now=talk.now,
    )


def waiting() -> Talk:
    """Two trainers; the first has pushed and waits for the second since 7 seconds."""
    talk = Talk(2).start()
    talk.push(0, G)
    talk.now += 7
    return talk


def parsed(text: str) -> dict[str, dict[str, Any]]:
    """A metrics text: per metric its type and its samples, by suffix and labels."""
    found: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, help = line.split(" ", 3)[2:]
            found[name] = {"help": help, "samples": {}}
        elif line.startswith("# TYPE "):
            name, kind = line.split(" ", 3)[2:]
            found[name]["type"] = kind
        else:
            match = SAMPLE.match(line)
            assert match, line
            name, suffix, labels, value = match.groups()
            key = (suffix or "", tuple(LABEL.findall(labels or "")))
            owner = found[name] if name in found else found[name + (suffix or "")]
            assert key not in owner["samples"], "twice"
            owner["samples"][key] = float(value)
    return found


def test_the_status_says_where_every_trainer_stands() -> None:
    told = status(waiting().shard, 7.0)
    assert told.state == "ready"
    assert [(t.trainer_id, t.pushes, t.staleness, t.waits) for t in told.trainers] == [
        (0, 1, 0, True),
        (1, 0, 1, False),
    ]
    assert told.waiting_for == (1,)
    assert told.waiting_s == 7.0


def test_the_memory_of_tables_is_that_of_their_values_and_state() -> None:
    talk = Talk(1)
    assert status(talk.shard, 0.0).tables == ()
    told = status(talk.start().shard, 0.0)
    assert (told.dense_values, told.dense_bytes) == (4, 4 * 4)
    (table,) = told.tables
    assert (table.name, table.rows, table.width) == ("t", 5, 2)
    assert table.bytes >= 5 * 2 * 4 + 5 * 8  # values, and when each row was last touched


def test_json_says_the_same_as_the_struct() -> None:
    report = seen(waiting())
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report


def test_metrics_are_what_the_format_says_and_each_has_its_type() -> None:
    meter = Meter()
    for seconds in (0.0002, 0.3, 100.0):
        meter.asked(1, Push(1, 0, 1), 0.0)
        meter.told(1, Answer(1), seconds)
    found = parsed(metrics.text(seen(waiting(), meter)))
    assert {name: one["type"] for name, one in found.items()} == {m.name: m.kind for m in metrics.METRICS}
    assert all(one["help"] for one in found.values())
    trainers = found["paddle_pserver_trainer_staleness"]["samples"]
    assert trainers == {("", (("trainer", "0"),)): 0.0, ("", (("trainer", "1"),)): 1.0}
    assert found["paddle_pserver_waited_for"]["samples"][("", (("trainer", "1"),))] == 1.0
    push = {
        key: value
        for key, value in found["paddle_pserver_answer_seconds"]["samples"].items()
        if ("question", "push") in key[1]
    }
    buckets = [value for (suffix, _), value in push.items() if suffix == "_bucket"]
    assert buckets == sorted(buckets), "they are summed up"
    assert len(buckets) == len(BOUNDS_S) + 1
    assert buckets[-1] == push[("_count", (("question", "push"),))] == 3
    assert push[("_sum", (("question", "push"),))] == pytest.approx(100.3002)


@given(st.text())
def test_whatever_a_table_is_called_is_one_label(name: str) -> None:
    line = metrics.label("table", name)
    assert "\n" not in line
    ((key, value),) = LABEL.findall(line)
    unescaped = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), value, flags=re.DOTALL)
    assert (key, unescaped) == ("table", name)


class Document(HTMLParser):
    """Tags, and the text of every table cell by the table's id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.rows: dict[str, list[list[str]]] = {}
        self.figures: dict[str, str] = {}
        self._figure = ""
        self._table = ""
        self.feed(text)
        self.close()
        assert self.open == [], "every tag is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta",):
            self.open.append(tag)
        match tag:
            case "table":
                self._table = str(dict(attrs)["id"])
                self.rows[self._table] = []
            case "tr":
                self.rows[self._table].append([])
            case "td":
                self.rows[self._table][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        match self.open[-1:]:
            case ["td"]:
                self.rows[self._table][-1][-1] += data
            case ["dt"]:
                self._figure = data
            case ["dd"]:
                self.figures[self._figure] = data


def test_the_page_shows_trainers_tables_and_who_is_waited_for() -> None:
    text = report_page.html(seen(waiting()))
    document = Document(text)
    assert [row[:4] for row in document.rows["trainers"] if row] == [
        ["0", "joined, waits", "1", "0"],
        ["1", "joined, waited for", "0", "1"],
    ]
    assert [row[0] for row in document.rows["tables"] if row] == ["all dense ones", "t"]
    assert "waiting for <b>trainer 1</b>" in text
    assert "for 7.0 s" in text


def test_the_page_refreshes_itself_and_loads_and_runs_nothing() -> None:
    document = Document(
        report_page.html(seen(waiting()), [("dense 1", ""), ("dense 2", "http://127.0.0.2:1/")])
    )
    names = {tag for tag, _ in document.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "form", "base"}
    assert not [attrs for _, attrs in document.tags if {"src", "onload", "onclick"} & attrs.keys()]
    assert ("meta", {"http-equiv": "refresh", "content": "2"}) in document.tags
    assert "url(" not in report_page._STYLE
    assert "@import" not in report_page._STYLE
    links = [attrs["href"] for tag, attrs in document.tags if tag == "a"]
    assert links == ["http://127.0.0.2:1/", "/v1/status", "/metrics"]


def test_the_page_has_the_numbers_of_the_metrics() -> None:
    meter = Meter()
    meter.asked(1, Pull(), 0.0)
    meter.told(1, Answer(1), 100.0)
    tables = (TableStatus(name="t", rows=12_345, width=8, bytes=3 << 29, candidates=7),)
    report = msgspec.structs.replace(seen(waiting(), meter), tables=tables, dense_bytes=1023 << 20)
    document, found = Document(report_page.html(report)), parsed(metrics.text(report))

    def metric(name: str, **labels: str) -> float:
        return float(found[f"paddle_pserver_{name}"]["samples"][("", tuple(labels.items()))])

    dense, table = (row for row in document.rows["tables"] if row)
    assert table == ["t", "12,345", "8", "7", "1.5 GiB"]
    kinds = ("rows", "candidates", "bytes")
    assert [metric(f"table_{kind}", table="t") for kind in kinds] == [12_345, 7, 1.5 * (1 << 30)]
    assert dense == ["all dense ones", "4", "", "", "1,023 MiB"]
    assert (metric("dense_values"), metric("dense_bytes")) == (4, 1023 << 20)
    for row in (row for row in document.rows["trainers"] if row):
        names = ("trainer_pushes_total", "trainer_staleness", "trainer_drops_total")
        assert [float(cell) for cell in row[2:5]] == [metric(name, trainer=row[0]) for name in names]
    assert document.figures["steps"] == f"{metric('steps_total'):,.0f}"
    assert document.figures["damaged frames"] == f"{metric('damaged_frames_total'):,.0f}" == "2"
    assert "pull: 1 answers, half above 60 s, 99 % above 60 s" in report_page.html(report)


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1 << 20, "1 MiB"),
        ((1 << 20) - 1, "1 MiB"),
        (1010 << 20, "1,010 MiB"),
        (99.96 * 1024, "100 KiB"),
        (1.25 * (1 << 30), "1.25 GiB"),
        (5000 << 40, "5,000 TiB"),
    ],
)
def test_bytes_are_shown_with_three_digits_and_never_as_powers(count: float, shown: str) -> None:
    assert report_page.size(count) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.04, "0.0 s"), (59.9, "59.9 s"), (61, "1 min 1 s"), (3600, "1 h 0 min"), (200_000, "2 d 7 h")],
)
def test_a_week_is_not_told_in_seconds(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_names_are_shown_and_never_obeyed() -> None:
    table = TableStatus(name=NASTY, rows=1, width=1, bytes=1)
    report = msgspec.structs.replace(seen(waiting()), name=NASTY, broken=NASTY, tables=(table,))
    document = Document(report_page.html(report, [(NASTY, NASTY), (NASTY, "")]))
    assert "script" not in {tag for tag, _ in document.tags}
    assert document.rows["tables"][-1][0] == NASTY


def test_the_log_has_the_same_as_lines() -> None:
    meter = Meter()
    meter.asked(1, Pull(), 0.0)
    meter.told(1, Answer(1), 0.004)
    text = "\n".join(lines(seen(waiting(), meter)))
    for expected in (
        "0 steps: per second 0.0 steps",
        "dense parameters: 4 values, 0.0 MiB",
        "2 damaged frames",
        "pull: 1 answered, half within 5 ms, 99 % within 5 ms",
        "table t: 5 rows, 0.0 MiB",
        "trainer 0 joined: 1 pushes, 0 behind, 0 discarded",
        "trainer 1 joined: 0 pushes, 1 behind, 0 discarded",
        "waiting 7 s for trainer 1",
    ):
        assert expected in text


def test_the_log_has_snapshots_those_that_failed_candidates_and_who_was_refused() -> None:
    talk = unsaved(failures=2)
    door = Door(
        locked=True, challenges=9, admitted=4, denied={"wrong_proof": 2, "too_often": 1, "malformed": 0}
    )
    tables = (TableStatus(name="t", rows=5, width=8, bytes=1 << 20, candidates=7),)
    text = "\n".join(lines(msgspec.structs.replace(seen(talk), door=door, tables=tables)))
    assert "snapshots: 2 (1 start, 1 period) written, 2 not, the last 2 of them" in text
    assert "door: 4 admitted, 3 (2 wrong proof, 1 too often) refused" in text
    assert "table t: 5 rows, 1.0 MiB, 7 ids without a row" in text


def unsaved(failures: int) -> Talk:
    """A shard that wrote a snapshot of its first step, and could not of as many after it."""
    talk = Talk(1, snapshots=SnapshotOptions(folder="kept", period=1))
    talk.hello(0, "process 0")
    talk.declare(0)
    talk.seed()
    talk.push(0, G)
    talk.disk_is_slow = True
    for _ in range(failures):
        talk.push(0, G)
        talk.write("the disk is full")
    return talk


def test_snapshots_that_fail_are_trouble_until_one_lasts_again() -> None:
    assert "The last snapshot could not be written" in report_page.html(seen(unsaved(1)))
    talk = unsaved(3)
    assert "The last 3 snapshots could not be written" in report_page.html(seen(talk))
    talk.push(0, G)
    talk.write()
    page = report_page.html(seen(talk))
    assert "could not be written" not in page
    assert Document(page).figures["not written"] == "3"
    (failed,) = parsed(metrics.text(seen(talk)))["paddle_pserver_snapshots_failed_total"]["samples"].values()
    assert failed == 3


def test_links_lead_to_the_others_from_wherever_one_looks() -> None:
    places = [("10.0.0.1", 7164, "dense"), ("0.0.0.0", 7165, "sparse"), ("::1", 7164, "dense")]
    assert list(_links(places, "10.0.0.1", 7164)) == [
        ("dense 10.0.0.1:7164", ""),
        ("sparse 10.0.0.1:7165", "http://10.0.0.1:7165/"),
        ("dense [::1]:7164", "http://[::1]:7164/"),
    ]


def test_a_running_shard_logs_what_can_be_seen_at_its_period(
    start_pservers: Start, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "paddle.pserver")
    pservers = start_pservers(log_period_server=3)

    def run(exchange: Exchange) -> None:
        start(exchange)
        for _ in range(7):
            exchange.step(ONES, 1)

    pservers.train(run)
    told = [record.getMessage() for record in caplog.records if "per second" in record.getMessage()]
    assert [re.findall(r"(\d+) steps: per second", line) for line in told] == [["3"], ["6"]]


def test_a_running_shard_measures_its_answers(start_pservers: Start) -> None:
    model = (ParameterSpec(name="w", shape=(30,)), ParameterSpec(name="t", shape=(9, 2), sparse=True))
    pservers = start_pservers(ports_num_for_sparse=1)
    ids = np.array([1, 4], np.int64)

    def run(exchange: Exchange) -> list[Report]:
        exchange.start(model, update(), values_of(model, 1))
        for _ in range(5):
            rows = SparseRows(ids, values_of(model, 2)["t"][:2], 9)
            exchange.prefetch({"t": ids})
            exchange.step({"w": values_of(model, 2)["w"], "t": rows}, 1)
        return [pservers.call(hub.report) for hub in pservers.hubs]

    dense, sparse = pservers.train(run)[0]
    assert (dense.latencies["push"].count, sparse.latencies["push"].count) == (5, 5)
    assert sparse.latencies["pull_rows"].count == 5
    assert dense.busy_s > 0
    assert sparse.trainers[0].pushes == 5

"""Report page: a report for people with a browser. One document, no script, nothing loaded from anywhere.

It must never know where it is served. Guarantee: whatever trainers and programs call themselves and their
parameters is shown as text and never obeyed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from paddle._pserver.service.meter import BOUNDS_S, Latency
from paddle._pserver.service.report import Report, duration, named, within
from paddle._pserver.service.status import TrainerStatus

REFRESH_S = 2
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

Link = tuple[str, str]
"""What is shown, and the address; without one it is this page itself."""

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #666; }
:root { --good: #17794f; --wait: #965600; --bad: #b22; }
@media (prefers-color-scheme: dark) { :root { --soft: #aaa; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; }
nav, .note, th { color: var(--soft); }
nav a, nav b { margin-right: 1rem; display: inline-block; }
.trouble { border-left: .3rem solid var(--wait); padding-left: .7rem; overflow-wrap: anywhere; }
.trouble.worst { border-color: var(--bad); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { font-weight: normal; vertical-align: bottom; } td { white-space: nowrap; }
th, td { text-align: right; padding: .2rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td:first-child { white-space: normal; overflow-wrap: anywhere; }
#tables td:first-child { min-width: 7rem; }
#trainers :is(th, td):is(:nth-child(2), :last-child) { text-align: left; }
.state { padding: 0 .5rem; border-radius: .3rem; color: #fff; background: var(--wait); font-size: 1rem; }
.ready { background: var(--good); } .broken { background: var(--bad); } .over { background: #666; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .5rem 1rem; }
dt { color: var(--soft); font-size: .85rem; } dd { margin: 0; font-size: 1.25rem; }
.bars { display: flex; align-items: flex-end; height: 3.5rem; gap: 2px; }
.axis { display: flex; justify-content: space-between; font-size: .8rem; }
.bars i { flex: 1; background: var(--good); } .bars i.none { background: var(--line); }
@media (max-width: 40rem) {
  body { margin: 1rem auto; padding: 0 .7rem; }
  th, td { padding: .2rem .35rem; } #trainers td:nth-child(2) { white-space: normal; }
}
"""


def html(report: Report, links: Sequence[Link] = ()) -> str:
    """The whole document. ``links``: the pservers that were started together."""
    name = escape(report.name)
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="{REFRESH_S}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{name}: {report.state}</title><style>{_STYLE}</style></head><body>",
            f'<h1>{name} <span class="state {report.state}">{report.state}</span></h1>',
            *_navigation(links),
            *_trouble(report),
            _figures(report),
            *_trainers(report),
            *_parameters(report),
            *_latencies(report),
            f'<p class="note">Refreshed every {REFRESH_S} s. The same as '
            '<a href="/v1/status">JSON</a> and <a href="/metrics">metrics</a>.</p>',
            "</body></html>",
        ]
    )


def _navigation(links: Sequence[Link]) -> Iterator[str]:
    if len(links) > 1:
        shown = (
            f'<a href="{escape(where)}">{escape(what)}</a>' if where else f"<b>{escape(what)}</b>"
            for what, where in links
        )
        yield f"<nav>{''.join(shown)}</nav>"


def _trouble(report: Report) -> Iterator[str]:
    if report.broken:
        yield f'<p class="trouble worst"><b>The job is broken:</b> {escape(report.broken)}</p>'
    if report.waiting_for:
        who, since = named(report.waiting_for), duration(report.waiting_s)
        yield f'<p id="waiting" class="trouble">Others have been waiting for <b>{who}</b> for {since}.</p>'
    if (count := report.snapshots_failing) > 0:
        which = "The last snapshot" if count == 1 else f"The last {count:,} snapshots"
        yield f'<p id="unsaved" class="trouble">{which} could not be written: the log says why.</p>'


def _figures(report: Report) -> str:
    rates = report.rates
    figures = {
        "steps": f"{report.version:,}",
        "samples": f"{report.samples:,}",
        "steps / s": f"{rates.steps:.1f}",
        "samples / s": f"{rates.samples:,.0f}",
        "pushes / s": f"{rates.pushes:.1f}",
        "pulls / s": f"{rates.pulls:.1f}",
        "drops / s": f"{rates.drops:.1f}",
        "received": size(report.traffic.received),
        "sent": size(report.traffic.sent),
        "busy": f"{100 * rates.busy:.0f} %",
        "memory": size(report.memory_bytes),
        "memory limit": size(report.memory_limit_bytes),
        "snapshots": f"{sum(report.snapshots.values()):,}",
        "not written": f"{report.snapshots_failed:,}",
        "damaged frames": f"{report.damaged_frames:,}",
        "refused": f"{sum(report.door.denied.values()):,}",
        "up": duration(report.uptime_s),
    }
    shown = (f"<div><dt>{what}</dt><dd>{value}</dd></div>" for what, value in figures.items())
    return f"<dl>{''.join(shown)}</dl>"


def _trainers(report: Report) -> Iterator[str]:
    awaited = frozenset(report.waiting_for)
    yield "<h2>Trainers</h2>"
    heads = ("trainer", "state", "pushes", "staleness", "discarded", "last heard", "at")
    yield _table(
        "trainers",
        heads,
        (
            (
                trainer.trainer_id,
                _stands(trainer, is_awaited=trainer.trainer_id in awaited),
                f"{trainer.pushes:,}",
                f"{trainer.staleness:,}",
                f"{trainer.dropped:,}",
                "" if trainer.heard_s_ago is None else f"{duration(trainer.heard_s_ago)} ago",
                trainer.peer,
            )
            for trainer in report.trainers
        ),
    )


def _stands(trainer: TrainerStatus, *, is_awaited: bool) -> str:
    has_ended = trainer.state == "joined" and not trainer.in_pass
    more = {"waits": trainer.waits, "waited for": is_awaited, "has ended its pass": has_ended}
    return ", ".join([trainer.state, *(what for what, is_so in more.items() if is_so)])


def _parameters(report: Report) -> Iterator[str]:
    yield "<h2>Parameters</h2>"
    rows: list[tuple[object, ...]] = [
        (table.name, f"{table.rows:,}", f"{table.width:,}", f"{table.candidates:,}", size(table.bytes))
        for table in report.tables
    ]
    if report.dense_values:
        rows.insert(0, ("all dense ones", f"{report.dense_values:,}", "", "", size(report.dense_bytes)))
    heads = ("parameter", "rows or values", "width", "ids without a row", "memory with state")
    yield _table("tables", heads, rows)


def _latencies(report: Report) -> Iterator[str]:
    yield "<h2>Time to an answer</h2>"
    for question, latency in report.latencies.items():
        if latency.count:
            half, most = within(latency.bound_of(0.5)), within(latency.bound_of(0.99))
            yield f"<p>{question}: {latency.count:,} answers, half {half}, 99 % {most}</p>"
            yield _bars(latency)


def _bars(latency: Latency) -> str:
    most = max(latency.counts)
    names = [within(bound) for bound in (*BOUNDS_S, float("inf"))]
    bars = (
        _bar(100 * count / most, f"{name}: {count:,}")
        for name, count in zip(names, latency.counts, strict=True)
    )
    axis = f'<div class="axis note"><span>{names[0]}</span><span>{names[-1]}</span></div>'
    return f'<div class="bars">{"".join(bars)}</div>{axis}'


def _bar(percent: float, title: str) -> str:
    if not percent:
        return f'<i class="none" style="height:1px" title="{title}"></i>'
    return f'<i style="height:{max(3, round(percent))}%" title="{title}"></i>'


def _table(id: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f'<th scope="col">{head}</th>' for head in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    table = f'<table id="{id}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="wide">{table}</div>'


def size(count: float) -> str:
    """Bytes, for people."""
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        count /= 1024
        if count < 1023.5 or unit == "TiB":
            break
    return f"{count:,.0f} {unit}" if count >= 99.95 else f"{count:.3g} {unit}"

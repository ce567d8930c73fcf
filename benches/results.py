"""The page that tells what a run found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import jobs
from .contest import ROUNDS
from .plot import draw
from .report import DRAWN, IMPORTS, NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from .jobs import Outcome
    from .musts import Must
    from .report import Report
    from .stores import Store

WHO = {
    jobs.OURS: "this package, through Python, on all processors",
    jobs.ONE_THREAD: "the same with `threads=1`",
    jobs.AGAIN: "the same with a catalogue that an earlier listing left",
    jobs.FLOOR: "no reader can be faster: every byte read and LFs counted, in Rust (`examples/floor.rs`)",
    jobs.SERDE: "a listing as Rust programs make it, not exact (`examples/serde_listing.rs`)",
    jobs.DUCKDB: "counts a session's messages, no more, on all processors, not exact (`contestants/duck.py`)",
    jobs.PLAIN: "as Python programs do it, on one thread, not exact (`contestants/plain.py` and `plain_replio.py`)",
    jobs.JSON: "the same with the decoder that comes with Python (`contestants/plain_replio.py`)",
    jobs.PI: "its own `SessionManager` (`contestants/pi.mjs`)",
    jobs.OLD_PI: "the same of the version whose format Elyra's is",
}


HOW = f"""\
Medians of {ROUNDS} rounds or more, in which all take turns, after one that does not count; the files are in the page
cache. Each is a process of its own, whose start does not count. CPU is that of all its threads; memory is the most that
it took beyond what it had before the first round, results included.

Answers were compared first. Our listings with `tests/reference.py`, all facts of all sessions (of a session too large
for that, the count of messages); the others' with ours, as far as each goes, in sound sessions, since none is exact.
Contexts message by message; but not those of pi 0.73.1, which knows no edits of a context. What is told of Replio's
sessions: all of it, in all of them."""


def write(report: Report, folder: Path) -> None:
    """Write RESULTS.md and plot.svg."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = {
        name: [(store.bytes / 1e6, outcome.figures[name].seconds) for store, outcome in report.growth]
        for name in DRAWN
        if name in report.growth[0][1].figures
    }
    (folder / "plot.svg").write_text(draw(lines), encoding="utf-8")
    (folder / "RESULTS.md").write_text("\n\n".join(_parts(report)) + "\n", encoding="utf-8")


def _parts(report: Report) -> Iterable[str]:
    machine = report.machine
    yield "# Results"
    yield (
        f"`{report.command}`, one run on {machine.time:%Y-%m-%d} at commit {machine.commit}"
        f"{'' if report.scale == 1 else f', at {report.scale:g} of the full size'}.\n"
        f"Machine: {machine.name}; load {machine.load:.1f} before it began.\n"
        f"Versions: {', '.join(f'{name} {version}' for name, version in machine.versions.items())}."
    )
    yield HOW
    yield "## What must be"
    yield _musts(report.musts, is_full_size=report.scale == 1)
    yield "## Listing"
    for store, outcome in report.listings:
        yield _of_store(store, outcome)
    yield "## Opening one session, and building its context"
    for store, outcome in report.openings:
        yield _of_store(store, outcome)
    yield "## Contexts of all sessions"
    yield _of_store(*report.contexts)
    project, listing, previews = report.replio
    yield "## Replio: listing"
    yield _of_store(project, listing)
    yield "## Replio: previews of all sessions, one by one"
    yield _of_store(project, previews)
    yield "## Time against size"
    yield "Stores of one mix of sessions, listed.\n\n![Time against size](plot.svg)"
    yield _growth(report.growth)
    yield "## Import"
    yield (
        f"`import sessiontree` takes {_time(report.import_s)}, and `{NAMES}` {_time(report.names_s)}: the median of "
        f"{IMPORTS} (`python -X importtime`)."
    )
    yield "## Who they are"
    yield "\n".join(f"- **{name}**: {text}" for name, text in WHO.items())
    if report.absent:
        yield "## Who is missing"
        yield "\n".join(f"- {name}: {reason}" for name, reason in report.absent.items())


def _musts(musts: Sequence[Must], *, is_full_size: bool) -> str:
    rows = [
        [
            must.job,
            must.text,
            "" if must.measured is None else f"{must.measured:.3g}",
            {True: "yes", False: "**no**", None: "not measured"}[must.is_met],
        ]
        for must in musts
    ]
    table = _table(["job", "must", "measured", "met"], rows, words=2)
    return table if is_full_size else f"Meant for the full size.\n\n{table}"


def _of_store(store: Store, outcome: Outcome) -> str:
    sessions = f"{len(store.files):,} sessions" if len(store.files) > 1 else "one session"
    title = f"{store.name}: {sessions}, {_size(store.bytes)}"
    ours = outcome.figures[jobs.OURS].seconds
    rows = [
        [
            name,
            _time(figures.seconds),
            f"{figures.seconds / ours:.2f}",
            _time(figures.cpu_seconds),
            _memory(figures.peak_mb),
        ]
        for name, figures in outcome.figures.items()
    ]
    table = _table([title, "time", "times ours", "CPU", "memory"], rows)
    return f"{table}\n\nAll agree in {outcome.compared:,}." if outcome.compared > 1 else table


def _growth(growth: Sequence[tuple[Store, Outcome]]) -> str:
    rows = []
    for store, outcome in growth:
        seconds = outcome.figures[jobs.OURS].seconds
        rows.append([_size(store.bytes), _time(seconds), f"{seconds / store.bytes * 1e9:.3f}"])
    return _table(["store", jobs.OURS, "seconds a GB"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1) -> str:
    """A table whose first columns, so many, hold words; the others hold numbers."""
    lines = [head, ["---"] * words + ["---:"] * (len(head) - words), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _time(seconds: float) -> str:
    if math.isnan(seconds):
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _memory(megabytes: float) -> str:
    return "" if math.isnan(megabytes) else f"{megabytes:,.0f} MB"


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.2f} GB" if size_bytes >= 1e9 else f"{size_bytes / 1e6:,.3g} MB"

"""What the figures must be at full size, on two processors, and what they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from . import jobs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .contest import Figures
    from .stores import Store

TIMES_PI = {"A": 30, "B": 22}
TIMES_THE_FLOOR = {"A": 3.3, "B": 3.5}
TIMES_PI_ONE_THREAD = {"A": 16}
AGAIN_MS = {"A": 20, "B": 50}
TIMES_PI_OPENING = 15
TIMES_PLAIN = {jobs.OURS: 8, jobs.DECODED: 2.5}
TIMES_REPLIO = {jobs.JSON: 10, jobs.PLAIN: 4}
EXPORT_S = 1
MEMORY_MB = 150
MEMORY_C_MB = {jobs.OPEN: 30, jobs.OURS: 42}
"""A seventh of the file; and six times the context's JSON, which has 1.9 MB, on top."""
MEMORY = "MB of memory"
GROWTH = 1.15


class Must(NamedTuple):
    """A bound, and what was measured.

    Attributes:
        job: What was done.
        bound: The least or the most that it may be.
        unit: What is counted, after the number.
        measured: None where what it is held against is not there.
        is_least: Whether the bound is the least.
    """

    job: str
    bound: float
    unit: str
    measured: float | None
    is_least: bool

    @property
    def is_met(self) -> bool | None:
        """None when it was not measured."""
        if self.measured is None:
            return None
        return self.measured >= self.bound if self.is_least else self.measured <= self.bound

    @property
    def text(self) -> str:
        """The bound in words."""
        return f"at {'least' if self.is_least else 'most'} {self.bound:g} {self.unit}"


def at_least(job: str, bound: float, unit: str, measured: float | None) -> Must:
    return Must(job, bound, unit, measured, is_least=True)


def at_most(job: str, bound: float, unit: str, measured: float | None) -> Must:
    return Must(job, bound, unit, measured, is_least=False)


def of_listing(name: str, figures: Mapping[str, Figures]) -> list[Must]:
    """For the stores A and B, and the large session; there are none for C."""
    job, musts = f"list {name}", []
    if name in TIMES_PI:
        musts.append(at_least(job, TIMES_PI[name], "times pi 1.6.0", _times(figures, jobs.PI, jobs.OURS)))
    if name in TIMES_THE_FLOOR:
        measured = _times(figures, jobs.OURS, jobs.FLOOR)
        musts.append(at_most(job, TIMES_THE_FLOOR[name], "times the time of reading every byte", measured))
    if name in TIMES_PI_ONE_THREAD:
        measured = _times(figures, jobs.PI, jobs.ONE_THREAD)
        musts.append(at_least(f"{job}, one thread", TIMES_PI_ONE_THREAD[name], "times pi 1.6.0", measured))
    if name in AGAIN_MS:
        measured = figures[jobs.AGAIN].seconds * 1000
        musts.append(at_most(f"{job} again, with the catalogue", AGAIN_MS[name], "ms", measured))
    if name in ("A", "large"):
        musts.append(_memory(job, figures[jobs.OURS]))
    return musts


def of_opening(name: str, figures: Mapping[str, Figures]) -> list[Must]:
    """For C, and the large session."""
    if name == "large":
        return [_memory("open large", figures[jobs.OPEN])]
    job = "open C, and its context"
    return [
        at_least(job, TIMES_PI_OPENING, "times pi 1.6.0", _times(figures, jobs.PI, jobs.OURS)),
        _memory(job, figures[jobs.OURS], MEMORY_C_MB[jobs.OURS]),
        _memory("open C", figures[jobs.OPEN], MEMORY_C_MB[jobs.OPEN]),
    ]


def of_contexts(figures: Mapping[str, Figures]) -> list[Must]:
    jobs_done = {jobs.OURS: "contexts of A, undecoded", jobs.DECODED: "contexts of A, decoded"}
    return [
        at_least(job, TIMES_PLAIN[name], "times Python with orjson", _times(figures, jobs.PLAIN, name))
        for name, job in jobs_done.items()
    ]


def of_replio_listing(figures: Mapping[str, Figures]) -> list[Must]:
    return [
        at_least("list R, of Replio", bound, f"times {name}", _times(figures, name, jobs.OURS))
        for name, bound in TIMES_REPLIO.items()
    ]


def of_replio_export(seconds: float) -> list[Must]:
    return [at_most("export R large, 20 MB", EXPORT_S, "s", seconds)]


def of_growth(stores: Sequence[tuple[Store, Mapping[str, Figures]]]) -> list[Must]:
    """Time must grow as the store does: a byte costs the same in the largest as in the smallest, within a part."""
    (smallest, _), (largest, _) = stores[0], stores[-1]
    first, *_, last = [figures[jobs.OURS].seconds / store.bytes for store, figures in stores]
    job = f"list {largest.name}, a byte"
    unit = f"times as long as in {smallest.name}, or as short"
    return [at_most(job, GROWTH, unit, max(last / first, first / last))]


def unmet(musts: Sequence[Must], is_full_size: bool) -> list[Must]:
    """Those that are not met; a small store says nothing of time."""
    return [must for must in musts if must.is_met is False and (is_full_size or must.unit == MEMORY)]


def _memory(job: str, figures: Figures, most_mb: float = MEMORY_MB) -> Must:
    return at_most(job, most_mb, MEMORY, None if math.isnan(figures.peak_mb) else figures.peak_mb)


def _times(figures: Mapping[str, Figures], slow: str, fast: str) -> float | None:
    return figures[slow].seconds / figures[fast].seconds if slow in figures else None

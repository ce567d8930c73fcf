"""All jobs on all stores, in one run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import jobs, musts, replio_stores, stores
from .contest import ROUNDS
from .jobs import Field, Outcome
from .machine import Machine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .musts import Must
    from .stores import Store

SIZES = (10, 30, 100, 300, 1000)
LARGE_SIZE = 2000
RIVALS_DRAWN = (jobs.SERDE, jobs.DUCKDB, jobs.PLAIN, jobs.PI)
DRAWN = (jobs.OURS, jobs.ONE_THREAD, jobs.AGAIN, jobs.FLOOR, *RIVALS_DRAWN)
IMPORTS = 10
MOST_ROUNDS = 25
NAMES = "from sessiontree import SessionManager, contexts, scan"
"""Of small stores, which take little time and much chance."""


@dataclass(frozen=True)
class Report:
    """What a run found.

    Attributes:
        command: What was run.
        scale: The stores' size, 1 being the size that is quoted.
        machine: Where, when, and with which versions.
        listings: Of A, B and C; and of the large session, where that was wanted.
        openings: Of the session of C; and of the large one.
        contexts: Of all sessions of A.
        replio: Of a Replio project: its listing, and the previews of its sessions.
        growth: Listings of stores of growing size.
        import_s: How long `import sessiontree` takes.
        names_s: How long it takes to ask it for names that bring in all but Replio and the events.
        absent: Why some contestants are not there, by name.
        musts: What the figures must be.
    """

    command: str
    scale: float
    machine: Machine
    listings: Sequence[tuple[Store, Outcome]]
    openings: Sequence[tuple[Store, Outcome]]
    contexts: tuple[Store, Outcome]
    replio: tuple[Store, Outcome, Outcome]
    growth: Sequence[tuple[Store, Outcome]]
    import_s: float
    names_s: float
    absent: Mapping[str, str]
    musts: Sequence[Must]


def measure(scale: float, *, is_large: bool) -> Report:
    """Measure everything; some minutes at full size."""
    machine = Machine.here()
    with tempfile.TemporaryDirectory() as scratch:
        field = Field(Path(scratch), is_timed=scale >= 1)
        a, b, c = (_said(stores.store(name, scale)) for name in "ABC")
        listings = [(store, field.listing(store)) for store in (a, b, c)]
        openings = [(c, field.opening(c.files[0]))]
        contexts = (a, field.contexts(a))
        project = _said(replio_stores.project(scale))
        replio = (project, field.replio_listing(project), field.replio_previews(project))
        if is_large:
            large = _said(stores.large(scale))
            listings.append((large, field.listing(large, rivals=())))
            openings.append((large, field.opening(large.files[0], rivals=())))
        growth = []
        for megabytes in (*SIZES, LARGE_SIZE)[: len(SIZES) + is_large]:
            store = _said(stores.sized(megabytes, scale))
            rounds = max(ROUNDS, min(500 // megabytes, MOST_ROUNDS))
            growth.append((store, field.listing(store, rounds=rounds, rivals=RIVALS_DRAWN)))
    return Report(
        command=" ".join(["python -m benches", *sys.argv[1:]]),
        scale=scale,
        machine=machine.with_node(field.pi),
        listings=listings,
        openings=openings,
        contexts=contexts,
        replio=replio,
        growth=growth,
        import_s=_import_s("import sessiontree"),
        names_s=_import_s(NAMES),
        absent=field.absent,
        musts=[
            *(must for store, outcome in listings for must in musts.of_listing(store.name, outcome.figures)),
            *(must for store, outcome in openings for must in musts.of_opening(store.name, outcome.figures)),
            *musts.of_contexts(contexts[1].figures),
            *musts.of_replio_listing(replio[1].figures),
            *musts.of_growth([(store, outcome.figures) for store, outcome in growth]),
        ],
    )


def _said(store: Store) -> Store:
    """The store, whose turn it is: a run is long."""
    print(f"{store.name}: {len(store.files):,} files, {store.bytes / 1e6:,.3g} MB", file=sys.stderr)
    return store


def _import_s(code: str) -> float:
    """How long it takes, all that it imports included."""
    command = [sys.executable, "-I", "-X", "importtime", "-c", f"import sys; print('begin', file=sys.stderr); {code}"]
    times = []
    for _ in range(IMPORTS):
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr.partition("begin\n")[2]
        times.append(sum(int(line.split("|")[0].removeprefix("import time:")) for line in said.splitlines()) / 1e6)
    return statistics.median(times)

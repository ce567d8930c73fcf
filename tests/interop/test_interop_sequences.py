"""The same steps on both sides, at random: sessions, listings and files are the same, but for ids and times."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from interop.pair import Pair
from interop.same import assert_same
from interop.sides import PARTS, OurSide
from interop.steps import FOLDER, Steps

if TYPE_CHECKING:
    from pathlib import Path

    from interop.sides import Pi


@pytest.mark.parametrize("seed", range(100))
def test_random_steps(pi: Pi, tmp_path: Path, seed: int) -> None:
    r = Random(f"steps:{seed}")
    with Pair(pi, tmp_path) as pair:
        steps = Steps(pair, r, persisted=seed % 5 != 4)
        steps.start()
        pair.compare()
        for _ in range(r.randrange(10, 41)):
            steps.step()
            if r.random() < 0.3:
                pair.compare()
        pair.compare()
        if steps.persisted:
            pair.compare_rows(FOLDER)


@pytest.mark.parametrize("seed", range(100, 120))
def test_each_opens_what_the_other_wrote(pi: Pi, tmp_path: Path, seed: int) -> None:
    r = Random(f"steps:{seed}")
    with Pair(pi, tmp_path) as pair:
        steps = Steps(pair, r, persisted=True)
        steps.start()
        for _ in range(r.randrange(10, 41)):
            steps.step()
    for file in sorted(tmp_path.rglob("*.jsonl")):
        before = file.read_bytes()
        ours, theirs = OurSide.make("open", file), pi.make("open", file)
        assert_same(ours.parts(*PARTS), theirs.parts(*PARTS), file.name)
        ours.close()
        theirs.close()
        assert file.read_bytes() == before

"""Which sessions a store holds: how many, how big, and which of them are forks, old or damaged."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING

from ._damage import damaged
from ._session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ._session import File


@dataclass(frozen=True)
class Profile:
    """A kind of store, and its size unless the caller says otherwise.

    Attributes:
        sessions: How many files.
        mean_bytes: Their mean size.
        sigma: The spread of their log-normal sizes: the median is exp(-sigma²/2) of the mean.
    """

    sessions: int
    mean_bytes: int
    sigma: float


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile(2_000, 500_000, 1.4),
        "small": Profile(10_000, 20_000, 0.6),
        "large": Profile(1, 200_000_000, 0.1),
    }
)

# Which sessions are special, by their number modulo `_CYCLE`: so small stores have all cases too.
_CYCLE = 48
_DAMAGED = (5, 17, 29, 41)
_FORKED = (11, 35)  # from the session before
_VERSIONS = {8: 1, 21: 2, 44: 2}
_SILENT = 26  # left before anything was said


@dataclass(frozen=True)
class Plan:
    """All that a store depends on; `version` goes up when the same options come to make another store, or manifest."""

    profile: str
    sessions: int
    mean_bytes: int
    seed: int
    damage: bool
    version: int = 2

    @classmethod
    def of(cls, profile: str, sessions: int | None, mean_bytes: int | None, seed: int, damage: bool) -> Plan:
        """Check options; where they are None, the profile's are taken.

        Raises:
            ValueError: There is no such profile, or a number is below 1.
        """
        if profile not in PROFILES:
            raise ValueError(f"profile is {profile!r}: expected one of {', '.join(PROFILES)}")
        sessions = PROFILES[profile].sessions if sessions is None else sessions
        mean_bytes = PROFILES[profile].mean_bytes if mean_bytes is None else mean_bytes
        if sessions < 1 or mean_bytes < 1:
            raise ValueError(f"sessions is {sessions}, mean_bytes is {mean_bytes}: expected 1 or more")
        return cls(profile, sessions, mean_bytes, seed, damage)

    def files(self) -> Iterator[File]:
        """Make the files, one after the other."""
        for number in range(self.sessions):
            session = self._session(number)
            cycle, place = divmod(number, _CYCLE)
            if self.damage and place in _DAMAGED:
                yield damaged(session, cycle * len(_DAMAGED) + _DAMAGED.index(place))
            else:
                yield session.file()

    def _session(self, number: int) -> Session:
        r = Random(f"{self.seed}:{number}")
        place = number % _CYCLE
        if place in _FORKED:
            session = self._session(number - 1)
            session.fork(r)
        else:
            session = Session(r, _VERSIONS.get(place, 3))
        if place != _SILENT:
            session.grow(self._sizes[number])
        return session

    @cached_property
    def _sizes(self) -> list[int]:
        """How big each session is to be; forks not smaller than what they are forks of."""
        r = Random(f"sizes:{self.seed}")
        sizes = [r.lognormvariate(0, PROFILES[self.profile].sigma) for _ in range(self.sessions)]
        unit = self.mean_bytes * self.sessions / math.fsum(sizes)  # unlike `sum`, alike in every Python
        for fork in range(1, self.sessions):
            if fork % _CYCLE in _FORKED:
                sizes[fork - 1 : fork + 1] = sorted(sizes[fork - 1 : fork + 1])
        return [int(size * unit) for size in sizes]

"""Errors and damage: what they say, and that they survive pickling."""

from __future__ import annotations

import errno
import pickle
from pathlib import Path

import pytest

import sessiontree
from sessiontree import Damage, SessionError, errors

ERRORS = [
    errors.SessionError("odd", Path("/s.jsonl"), 3),
    errors.FormatError("no object", Path("/s.jsonl"), 3),
    errors.EntryNotFoundError("no entry 'x'", entry_id="x"),
    errors.SessionNotFoundError("no session 'x'", other_project="/q"),
    errors.AmbiguousSessionError("'x' fits 2", candidates=(Path("/a"), Path("/b"))),
    errors.InvalidNameError("'..' is no name"),
    errors.NameTakenError("'x' exists", Path("/x")),
    errors.ReadOnlyError("opened for reading", Path("/x")),
    errors.ConflictError("changed", Path("/x")),
]


def test_every_error_is_tried_here_and_exported() -> None:
    classes = {one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, Exception)}
    assert {type(one) for one in ERRORS} == classes
    assert all(getattr(sessiontree, one.__name__) is one for one in classes)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling(error: SessionError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_errors_say_where_like_a_compiler() -> None:
    assert str(errors.FormatError("no object", Path("/s.jsonl"), 3)) == "/s.jsonl:3: no object"
    assert str(errors.ConflictError("changed", Path("/s.jsonl"))) == "/s.jsonl: changed"
    assert str(errors.InvalidNameError("bad")) == "bad"


def test_a_taken_name_is_a_whole_os_error() -> None:
    taken = pickle.loads(pickle.dumps(errors.NameTakenError("'x' exists", Path("/x"))))
    assert (taken.errno, taken.strerror, taken.filename) == (errno.EEXIST, "'x' exists", "/x")


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (errors.FormatError, ValueError),
        (errors.InvalidNameError, ValueError),
        (errors.EntryNotFoundError, LookupError),
        (errors.SessionNotFoundError, LookupError),
        (errors.AmbiguousSessionError, LookupError),
        (errors.NameTakenError, FileExistsError),
    ],
)
def test_errors_are_pythons_own_too(error: type[SessionError], base: type[Exception]) -> None:
    assert issubclass(error, base)


def test_damage_is_a_value() -> None:
    damage = Damage("line", Path("/s.jsonl"), 3, 40, "no object")
    assert pickle.loads(pickle.dumps(damage)) == damage
    assert str(damage) == "/s.jsonl:3: no object"
    assert str(Damage("file", Path("/s.jsonl"), None, None, "gone")) == "/s.jsonl: gone"
    expected = {"kind": "line", "path": "/s.jsonl", "line": 3, "offset": 40, "reason": "no object"}
    assert damage.to_dict() == expected
    assert not damage.is_note
    assert Damage("tip", Path("/s.jsonl"), 3, 40, "").is_note

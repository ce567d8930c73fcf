"""The sample store: its totals are true, it holds every case there is, and it never takes what is not its own."""

from __future__ import annotations

import ast
import json
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reference
from sessiontree import _corpus
from sessiontree._corpus import PROFILES, Corpus, open_corpus, remove_corpus, write_corpus

SESSIONS = 384
MEAN_BYTES = 8_000


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A store small enough to be read with plain json, large enough for every case."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "store", sessions=SESSIONS, mean_bytes=MEAN_BYTES)


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The same without damage, and larger, so that rare entries occur."""
    folder = tmp_path_factory.mktemp("corpus") / "clean"
    return write_corpus(folder, sessions=SESSIONS, mean_bytes=25_000, damage=False)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("sessions/*/*.jsonl"))


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().decode().removesuffix("\n").split("\n")]


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """All that is in a store; times of the sessions alone."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns if path.suffix == ".jsonl" else 0)
        for path in folder.rglob("*")
        if path.is_file()
    }


# What is in it


@pytest.mark.parametrize("name", ["store", "clean"])
def test_totals_are_what_the_reference_reads(name: str, request: pytest.FixtureRequest) -> None:
    corpus: Corpus = request.getfixturevalue(name)
    sessions = [session for _, session in reference.read_store(corpus.folder)]
    assert corpus.sessions == len(files(corpus.folder)) == SESSIONS
    assert corpus.bytes == sum(path.stat().st_size for path in files(corpus.folder))
    assert corpus.listed == len(sessions)
    assert corpus.messages == sum(session.message_count for session in sessions)
    assert corpus.damaged == sum(session.damage_count > 0 for session in sessions)


def test_without_damage_every_file_is_a_session_and_every_line_json(clean: Corpus) -> None:
    assert (clean.listed, clean.damaged) == (SESSIONS, 0)
    for path, session in reference.read_store(clean.folder):
        assert session.damage == []
        assert session.entry_count == len(entries(path)) - 1


def test_every_kind_of_entry_and_every_role_occurs(clean: Corpus) -> None:
    kinds: Counter[str] = Counter()
    roles: dict[int, set[str]] = {1: set(), 2: set(), 3: set()}
    for path in files(clean.folder):
        header, *rest = entries(path)
        kinds.update(entry["type"] for entry in rest)
        roles[header.get("version", 1)] |= {entry["message"]["role"] for entry in rest if entry["type"] == "message"}
    assert kinds.keys() == reference.ENTRY_TYPES - {"session"}
    assert roles[3] == {"user", "assistant", "toolResult", "bashExecution", "custom", "system"}
    assert roles[2] >= {"user", "assistant", "toolResult", "hookMessage"}
    assert roles[1] >= {"user", "assistant", "toolResult", "hookMessage"}


def test_entries_come_in_their_variants(clean: Corpus) -> None:
    text = b"".join(path.read_bytes() for path in files(clean.folder))
    for part in (
        b'"content":"',
        b'"thinkingSignature":"',
        b'"type":"toolCall"',
        b'"isError":true',
        b'"stopReason":"error"',
        b'"responseId":"',
        b'"details":{"modelUsage":{',
        b'"firstKeptEntryId":"',
        b'"replacement":null',
        b'"replacement":{',
        b'"systemMessage":{',
        b'"parentId":null',
    ):
        assert part in text, part
    everything = [entry for path in files(clean.folder) for entry in entries(path)]
    assert any(entry["type"] == "label" and "label" not in entry for entry in everything)
    assert any(entry["type"] in ("compaction", "branch_summary") and "usage" in entry for entry in everything)


def test_large_sessions_have_branches_compactions_and_images(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "store", profile="large", sessions=5, mean_bytes=4_000_000)
    assert any(b'{"type":"image","data":"' in path.read_bytes() for path in files(corpus.folder))
    for path in files(corpus.folder):
        header, *rest = entries(path)
        assert header["version"] == 3
        ids = {entry["id"] for entry in rest}
        assert len(ids) == len(rest)
        assert {entry["parentId"] for entry in rest} <= ids | {None}
        assert max(Counter(entry["parentId"] for entry in rest).values()) > 1
        kept = [entry["firstKeptEntryId"] for entry in rest if entry["type"] == "compaction"]
        assert len(kept) >= 3
        assert ids.issuperset(kept)


def test_forks_hold_their_parents_entries_so_that_usage_counts_once(clean: Corpus) -> None:
    by_name = {path.name: path for path in files(clean.folder)}
    forks = [path for path in by_name.values() if "parentSession" in entries(path)[0]]
    assert len(forks) >= SESSIONS // 48
    for path in forks:
        header, *copied = entries(path)
        parent_header, *original = entries(by_name[Path(header["parentSession"]).name])
        assert copied[: len(original)] == original
        assert header["timestamp"] > parent_header["timestamp"]
    sessions = [session for _, session in reference.read_store(clean.folder)]
    once, all_records = reference.merge(sessions), sum(session.usage.output for session in sessions)
    assert 0 < once.output < all_records


def test_every_kind_of_damage_occurs(store: Corpus) -> None:
    reports = {kind for _, session in reference.read_store(store.folder) for kind, _, _ in session.damage}
    assert reports >= set(reference.KINDS) - {"tip"}
    texts = [path.read_bytes() for path in files(store.folder)]
    assert b"" in texts
    assert any(text and not text.strip() for text in texts)
    for odd in (b"\xef\xbb\xbf{", b'{"type":"model_change"', b'\n{"type":"title"'):
        assert any(text.startswith(odd) for text in texts), odd
    for odd in (b"\r\n", b"\0", b"\\ud", b"\xe2\x80\xa8", b'"parentId":"missing"'):
        assert any(odd in text for text in texts), odd
    assert sum(bool(text) and not text.endswith(b"\n") for text in texts) >= 2  # a torn line, and a whole one


@pytest.mark.parametrize(("profile", "sessions"), [("default", 120), ("small", 400)])
def test_sizes_are_what_was_asked_for(tmp_path: Path, profile: str, sessions: int) -> None:
    mean_bytes = min(PROFILES[profile].mean_bytes, 60_000)
    corpus = write_corpus(tmp_path / "store", profile=profile, sessions=sessions, mean_bytes=mean_bytes)
    assert corpus.bytes == pytest.approx(sessions * mean_bytes, rel=0.1)


# How it is made


def test_the_same_options_give_the_same_bytes_and_times(tmp_path: Path, store: Corpus) -> None:
    again = write_corpus(tmp_path / "again", sessions=SESSIONS, mean_bytes=MEAN_BYTES)
    assert snapshot(again.folder) == snapshot(store.folder)
    assert again == replace(store, folder=tmp_path / "again")


def test_another_seed_gives_another_store(tmp_path: Path) -> None:
    one = write_corpus(tmp_path / "one", sessions=3, mean_bytes=5_000)
    two = write_corpus(tmp_path / "two", sessions=3, mean_bytes=5_000, seed=2)
    assert not snapshot(one.folder).keys() - {"corpus.json"} & snapshot(two.folder).keys()


def test_progress_counts_files_and_may_stop_the_work(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    write_corpus(tmp_path / "store", sessions=9, mean_bytes=3_000, on_progress=lambda *at: told.append(at))
    assert told == [(done, 9) for done in range(1, 10)]
    remove_corpus(tmp_path / "store")

    def stop(done: int, total: int) -> None:
        raise LookupError(done, total)

    with pytest.raises(LookupError):
        write_corpus(tmp_path / "store", sessions=9, mean_bytes=3_000, on_progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import pathlib, signal, sys\n"
        "from sessiontree._corpus import write_corpus\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job ignores it
        "write_corpus(pathlib.Path(sys.argv[1]), on_progress=lambda *at: print(at, flush=True))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "(1, 2000)\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"profile": "huge"}, {"sessions": 0}, {"mean_bytes": 0}])
def test_bad_options_are_refused_before_anything_is_written(tmp_path: Path, options: dict[str, Any]) -> None:
    for make in (write_corpus, open_corpus):
        with pytest.raises(ValueError, match="expected"):
            make(tmp_path / "store", **options)
    assert list(tmp_path.iterdir()) == []


def test_it_imports_nothing_but_the_standard_library() -> None:
    modules = list(Path(_corpus.__file__).parent.glob("*.py"))
    assert len(modules) > 1
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= sys.stdlib_module_names
            elif isinstance(node, ast.ImportFrom) and node.level != 1:
                assert node.level == 0
                assert node.module in sys.stdlib_module_names | {"collections.abc"}


# Whose it is


def small(
    folder: Path,
    *,
    profile: str = "default",
    sessions: int = 4,
    mean_bytes: int = 3_000,
    seed: int = 1,
    damage: bool = True,
) -> Corpus:
    return open_corpus(folder, profile=profile, sessions=sessions, mean_bytes=mean_bytes, seed=seed, damage=damage)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_existing_store_is_used_if_it_was_made_with_the_same_options(tmp_path: Path) -> None:
    made = small(tmp_path / "store")
    (tmp_path / "store/mine").touch()
    assert small(tmp_path / "store") == made
    assert (tmp_path / "store/mine").exists()
    (tmp_path / "store").rename(tmp_path / "moved")
    assert small(tmp_path / "moved") == replace(made, folder=tmp_path / "moved")


@pytest.mark.parametrize(
    "options", [{"sessions": 5}, {"mean_bytes": 3_001}, {"seed": 2}, {"damage": False}, {"profile": "small"}]
)
def test_other_options_make_it_anew(tmp_path: Path, options: dict[str, Any]) -> None:
    before = small(tmp_path / "store")
    (tmp_path / "store/old").touch()
    after = small(tmp_path / "store", **options)
    assert not (tmp_path / "store/old").exists()
    assert after.sessions == len(files(after.folder)) == options.get("sessions", before.sessions)
    assert names(tmp_path) == ["store"]


def test_writing_always_makes_it_anew(tmp_path: Path) -> None:
    folder = tmp_path / "not yet there/store"
    write_corpus(folder, sessions=2, mean_bytes=3_000)
    (folder / "old").touch()
    write_corpus(folder, sessions=2, mean_bytes=3_000)
    assert names(folder) == ["corpus.json", "sessions"]


def test_an_empty_folder_may_become_a_store(tmp_path: Path) -> None:
    assert small(tmp_path / "store").folder == tmp_path / "store"
    (tmp_path / "empty").mkdir()
    assert small(tmp_path / "empty").folder == tmp_path / "empty"


@pytest.mark.parametrize("kind", ["folder", "manifest of another", "broken manifest", "file", "link", "dangling link"])
def test_what_is_not_a_store_is_never_touched(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "store"
    match kind:
        case "file":
            folder.touch()
        case "link":
            small(tmp_path / "elsewhere")
            folder.symlink_to("elsewhere")
        case "dangling link":
            folder.symlink_to("nowhere")
        case _:
            folder.mkdir()
            (folder / "letter.txt").write_text("dear")
            if "manifest" in kind:
                (folder / "corpus.json").write_text('{"options":{}}' if kind.endswith("another") else "[")
    before = sorted(tmp_path.rglob("*"))
    for make in (write_corpus, open_corpus):
        with pytest.raises(FileExistsError) as raised:
            make(folder, sessions=4, mean_bytes=3_000)
        assert raised.value.filename == str(folder)
    assert remove_corpus(folder) is False
    assert sorted(tmp_path.rglob("*")) == before


def test_removing_follows_no_links(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "letter.txt").write_text("dear")
    folder = small(tmp_path / "store").folder
    (folder / "sessions/link").symlink_to(outside)
    assert remove_corpus(folder) is True
    assert remove_corpus(folder) is False
    assert names(tmp_path) == ["outside"]
    assert (outside / "letter.txt").read_text() == "dear"

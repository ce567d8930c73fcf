"""`sessiontree demo`: it writes a sample store, keeps it, shows it, and deletes nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from cli_support import Home
from sessiontree import scan

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home with an empty folder for temporary files."""
    (tmp_path / "tmp").mkdir()
    return Home(tmp_path).given(TMPDIR=str(tmp_path / "tmp"))


def demo(home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the demo with few sessions."""
    return home.run("demo", "--sessions", "30", *arguments)


def folder(home: Home) -> Path:
    """The one folder that the demo made."""
    [made] = (home.folder / "tmp").iterdir()
    return made


def facts(store: Path) -> list[tuple[Path, int, int]]:
    """Which files there are, and which were written anew."""
    return sorted((path, path.stat().st_ino, path.stat().st_ctime_ns) for path in store.rglob("*"))


def test_the_demo_from_beginning_to_end(home: Home) -> None:
    first = demo(home)
    assert (first.returncode, first.stderr) == (0, "")
    store = folder(home) / "agent"
    found = scan(store)
    lines = first.stdout.splitlines()

    time = r"[\d.]+ m?s \([\d.]+ GB/s\)"
    size = sum(info.size_bytes for info in found)
    assert re.fullmatch(rf"Read 30 files, {size / 1e6:.2f}MB, in {time}: {len(found)} sessions\.", lines[0])
    assert lines[2].split()[:3] == ["AGE", "PROJECT", "SESSION"]
    newest = [(info.name or info.first_message).split()[0] for info in found[:5]]
    for line, info, word in zip(lines[3:8], found, newest, strict=False):
        assert info.cwd in line
        assert word in line
    damages = [damage for damage in found.damage if not damage.is_note]
    assert sum(map(int, re.findall(r"(\d+) \w+", lines[9].split(";")[0]))) == len(damages) > 0
    assert found.damage[0].reason[:20] in lines[11]

    before = facts(store)
    again = demo(home)
    assert facts(store) == before, "the store is used again"
    assert again.stdout.splitlines()[1:] == lines[1:]

    other = demo(home, "--sessions", "31")
    assert f"{len(scan(store))} sessions" in other.stdout
    assert len(list(store.rglob("*.jsonl"))) == 31

    removed = demo(home, "--remove")
    assert (removed.returncode, removed.stdout) == (0, f"Removed {store}\n")
    assert list((home.folder / "tmp").iterdir()) == []
    nothing = demo(home, "--remove")
    assert (nothing.returncode, nothing.stdout) == (0, f"There is no sample store at {store}\n")
    assert list((home.folder / "tmp").iterdir()) == []


def test_the_commands_that_it_names_work(home: Home) -> None:
    said = demo(home).stdout
    commands = [line.split()[1:] for line in said.splitlines() if line.startswith("  sessiontree")]
    assert [command[0] for command in commands] == ["list", "list", "check", "demo"]
    everything, project, check, remove = (home.run(*command) for command in commands)
    assert everything.returncode == project.returncode == remove.returncode == 0
    assert len(everything.stdout.splitlines()) > len(project.stdout.splitlines()) > 1
    assert check.returncode == 4
    assert remove.stdout.startswith("Removed")


def test_what_is_not_its_own_is_left_alone(home: Home) -> None:
    demo(home)
    ours = folder(home)
    (ours / "agent/corpus.json").unlink()
    before = facts(ours)
    refused = demo(home)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert str(ours / "agent") in refused.stderr
    assert demo(home, "--remove").stdout.startswith("There is no sample store at")
    assert facts(ours) == before


def test_a_folder_that_someone_else_put_there_is_refused(home: Home) -> None:
    demo(home)
    ours, theirs = folder(home), home.folder / "theirs"
    ours.rename(theirs)
    ours.symlink_to(theirs)
    before = facts(theirs)
    for arguments in ((), ("--remove",)):
        refused = demo(home, *arguments)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr == f"sessiontree: {ours}: is not this user's own folder\n"
    assert facts(theirs) == before
    ours.unlink()
    ours.write_text("a file")
    assert demo(home).returncode == 1
    assert ours.read_text() == "a file"


def test_the_store_is_nobody_elses_to_read(home: Home) -> None:
    demo(home)
    assert folder(home).stat().st_mode & 0o077 == 0


def test_what_it_lists_is_what_list_gives(home: Home) -> None:
    demo(home)
    listed = home.run("list", "--all", "--agent-dir", folder(home) / "agent", "--json")
    assert json.loads(listed.stdout) == [info.to_dict() for info in scan(folder(home) / "agent")]

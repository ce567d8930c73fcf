"""Replio's side of the comparison: its process, and a project that it works in."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from interop.driven import Driven
from replio_support import Json, document, put, store_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sessiontree.replio import ReplioSession, ReplioStore

_DRIVER = Path(__file__).with_name("replio_driver.py")

Step: TypeAlias = tuple[str, list[object], dict[str, object]]
"""A method of a session, and what it is given."""


class Replio(Driven):
    """A process that has Replio; its operations are those of the driver."""

    def __init__(self, python: Path, home: Path) -> None:
        self._python = python
        super().__init__([str(python), "-I", str(_DRIVER)], home, {})

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run Replio's own command."""
        command = [self._python, "-I", "-m", "replio", *arguments]
        environment = {**os.environ, "HOME": str(self.home), "PYTHONIOENCODING": "utf-8"}
        return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=60, check=False)


class Projects:
    """A project, once for each side.

    Attributes:
        folders: Ours, and theirs.
        theirs: What Replio makes of its own.
    """

    def __init__(self, replio: Replio, folder: Path) -> None:
        self.folders = folder / "ours", folder / "theirs"
        for each in self.folders:
            each.mkdir()
        self.theirs = Theirs(replio, self.folders[1])

    def store(self, **options: Any) -> ReplioStore:  # noqa: ANN401  the store's
        """Our side: a store that knows nothing of what was before."""
        return plain_store(self.folders[0], **options)

    def put(self, name: str, content: bytes | Json) -> None:
        """Give each side the file."""
        for folder in self.folders:
            put(plain_store(folder), name, content)

    def session(self, *messages: object) -> ReplioSession:
        """Give each side a session `s` that holds these messages; gives ours."""
        self.put("s", document("s", *messages))
        return self.store().read("s")

    def compact(self, messages: Sequence[object], keep: int) -> None:
        """Give each side a session `s` that holds these messages, and let it compact that; the summary is T."""
        self.put("s", document("s", *messages))
        store = self.store()
        store.load("s").compact("T", keep=keep)
        store.save()
        self.theirs.compact("s", keep, "T")

    def files(self, name: str = "s") -> tuple[bytes, bytes]:
        """The session's file on our side, and on theirs."""
        ours, theirs = ((folder / f".replio/sessions/{name}.json").read_bytes() for folder in self.folders)
        return ours, theirs

    def documents(self, name: str = "s") -> tuple[Json, Json]:
        """What stands in the two files."""
        ours, theirs = map(json.loads, self.files(name))
        return ours, theirs


def plain_store(project: Path, **options: Any) -> ReplioStore:  # noqa: ANN401  the store's
    """A project on our side; as on theirs, nothing is left out of a file unless that is what a test is about."""
    return store_in(project, **{"autosave": False, "noise_tools": (), **options})


class Theirs:
    """A project, as Replio has it."""

    def __init__(self, replio: Replio, folder: Path) -> None:
        self._replio = replio
        self._folder = folder

    def read(self, name: str) -> dict[str, Any]:
        """The session, and what Replio makes of it: `context`, `folded`, `preview` and `markdown`."""
        found: dict[str, Any] = self._ask("read", name=name)
        return found

    def names(self) -> list[str]:
        names: list[str] = self._ask("names")
        return names

    def save(self, name: str, **settings: object) -> None:
        """Write the session as it was read."""
        self._ask("save", name=name, settings=settings)

    def live(self, name: str, steps: Sequence[Step]) -> None:
        """Append to the session, which begins if there is none."""
        self._ask("live", name=name, steps=steps)

    def compact(self, name: str, keep: int, summary: str) -> list[dict[str, Any]] | None:
        """Compact the session; gives what was to be summarised."""
        given: list[dict[str, Any]] | None = self._ask("compact", name=name, keep=keep, answer=summary)
        return given

    def delete(self, name: str) -> bool:
        return bool(self._ask("delete", name=name))

    def delete_and_go_on(self, name: str) -> None:
        """Delete the session that is current, and say something more."""
        self._ask("delete_and_go_on", name=name)

    def automatic_name(self, stamp: str, text: str) -> str:
        """The name of a session of that stamp, once the user has said something."""
        return str(self._ask("automatic_name", stamp=stamp, text=text))

    def sub_name(self, stamp: str, parent: str) -> str:
        return str(self._ask("sub_name", stamp=stamp, parent=parent))

    def job_name(self, time: str, job: str) -> str:
        return str(self._ask("job_name", time=time, job=job))

    def _ask(self, op: str, **arguments: object) -> Any:  # noqa: ANN401  whatever the operation gives
        return self._replio.ask(op=op, project=str(self._folder), **arguments)

"""How Replio's sessions are read in Python today: decode each file whole and pick what is wanted, on one thread.

`python -m benches.contestants.plain_replio DECODER JOB PROJECT`, the decoder being `json` or `orjson`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from .rounds import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Json = dict[str, Any]
    Loads = Callable[[bytes], Json]

DECODERS: Mapping[str, Loads] = {"json": json.loads, "orjson": orjson.loads}


@dataclass(slots=True)
class Info:
    """A row of a listing."""

    path: Path
    name: str
    parent: Path | None
    created: datetime
    modified: datetime
    message_count: int
    entry_count: int
    first_message: str
    leaf_id: str | None


@dataclass(slots=True)
class Preview:
    """What a session is made of."""

    name: str
    created_at: str
    updated_at: str
    message_count: int
    roles: dict[str, int]
    tools: tuple[str, ...]
    parent_id: str
    sub_sessions: tuple[str, ...]


class Plain:
    """The jobs, each of a name, with what they answer."""

    def __init__(self, project: Path, loads: Loads) -> None:
        self._folder, self._loads = project / ".replio/sessions", loads

    def listing(self) -> list[Info]:
        infos = [self._info(path) for path in self._folder.glob("*.json")]
        return sorted(infos, key=lambda info: info.modified, reverse=True)

    def answer_listing(self) -> Mapping[str, list[Any]]:
        return {
            str(info.path): [
                info.message_count,
                info.entry_count,
                info.first_message,
                info.created.isoformat(),
                info.modified.isoformat(),
                info.leaf_id,
                info.parent and str(info.parent),
            ]
            for info in self.listing()
        }

    def previews(self) -> list[Preview]:
        return [self._preview(path) for path in self._folder.glob("*.json")]

    def answer_previews(self) -> Mapping[str, list[Any]]:
        return {
            str(self._folder / f"{one.name}.json"): [
                one.message_count,
                one.roles,
                list(one.tools),
                one.created_at,
                one.updated_at,
                one.parent_id,
                list(one.sub_sessions),
            ]
            for one in self.previews()
        }

    def _info(self, path: Path) -> Info:
        session = self._loads(path.read_bytes())
        messages = session["messages"]
        first = next((message["content"] for message in messages if message["role"] == "user"), "(no messages)")
        parent = session["parent_id"]
        return Info(
            path=path,
            name=path.stem,
            parent=path.with_name(f"{parent}.json") if parent else None,
            created=datetime.fromisoformat(session["created_at"]),
            modified=datetime.fromisoformat(session["updated_at"]),
            message_count=sum(message["role"] != "command" for message in messages),
            entry_count=len(messages),
            first_message=first,
            leaf_id=messages[-1]["id"] if messages else None,
        )

    def _preview(self, path: Path) -> Preview:
        session = self._loads(path.read_bytes())
        messages = session["messages"]
        calls = (call for message in messages for call in message.get("tool_calls") or ())
        return Preview(
            name=path.stem,
            created_at=session["created_at"],
            updated_at=session["updated_at"],
            message_count=len(messages),
            roles=dict(Counter(message["role"] for message in messages)),
            tools=tuple(sorted({call["function"]["name"] for call in calls})),
            parent_id=session["parent_id"],
            sub_sessions=tuple(session["sub_sessions"]),
        )


def main() -> None:
    decoder, job, project = sys.argv[1:]
    plain = Plain(Path(project), DECODERS[decoder])
    serve(getattr(plain, job), getattr(plain, f"answer_{job}"))


if __name__ == "__main__":
    main()

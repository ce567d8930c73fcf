"""sessiontree itself: `python -m benches.contestants.ours JOB PATH [--threads N] [--catalogue FILE]`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sessiontree import SessionManager, contexts, scan
from sessiontree.replio import ReplioStore

from .digest import comparable, digest
from .rounds import serve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sessiontree import Scan, SessionContext, SessionInfo
    from sessiontree.replio import Preview


class Ours:
    """The jobs, each of a name, with what they answer."""

    def __init__(self, path: Path, threads: int | None, catalogue: Path | None) -> None:
        self.path, self.threads, self.catalogue = path, threads, catalogue

    def listing(self) -> list[SessionInfo]:
        return SessionManager.list_all(agent_dir=self.path, threads=self.threads, catalogue=self.catalogue or False)

    def answer_listing(self) -> Mapping[str, list[Any]]:
        return {
            str(info.path): [info.message_count, round(info.modified.timestamp() * 1000), info.first_message]
            for info in self.listing()
        }

    def opening(self) -> SessionManager:
        return SessionManager.open(self.path, read_only=True, threads=self.threads)

    def answer_opening(self) -> int:
        return len(self.opening().get_entries())

    def context(self) -> SessionContext:
        context = self.opening().build_session_context()
        _ = context.messages  # decoded when first asked for
        return context

    def answer_context(self) -> object:
        return comparable(self.context().messages)

    def contexts(self) -> int:
        return sum(1 for _ in contexts(self.path, threads=self.threads))

    def decoded(self) -> int:
        return sum(len(context.messages) for _, context in contexts(self.path, threads=self.threads))

    def answer_contexts(self) -> Mapping[str, list[int]]:
        return {str(info.path): digest(context.messages) for info, context in contexts(self.path, threads=self.threads)}

    answer_decoded = answer_contexts

    def replio_listing(self) -> Scan:
        return scan(self.path, threads=self.threads)

    def answer_replio_listing(self) -> Mapping[str, list[Any]]:
        return {
            str(info.path): [
                info.message_count,
                info.entry_count,
                info.first_message,
                info.created and info.created.isoformat(),
                info.modified.isoformat(),
                info.leaf_id,
                info.parent_session_path and str(info.parent_session_path),
            ]
            for info in self.replio_listing()
        }

    def replio_previews(self) -> list[Preview]:
        store = ReplioStore(self.path)
        return [store.preview(name) for name in store.list()]

    def answer_replio_previews(self) -> Mapping[str, list[Any]]:
        folder = ReplioStore(self.path).sessions_dir
        return {
            str(folder / f"{one.name}.json"): [
                one.message_count,
                one.roles,
                list(one.tools),
                one.created_at,
                one.updated_at,
                one.parent_id,
                list(one.sub_sessions),
            ]
            for one in self.replio_previews()
        }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("job")
    parser.add_argument("path", type=Path)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--catalogue", type=Path)
    given = parser.parse_args()
    ours = Ours(given.path, given.threads, given.catalogue)
    serve(getattr(ours, given.job), getattr(ours, f"answer_{given.job}"))


if __name__ == "__main__":
    main()

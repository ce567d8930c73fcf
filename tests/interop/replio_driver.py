"""Replio as a process, for the Python that has it: a request a line on standard input, an answer a line on output.

Each request names an operation (a function below), a project's folder, and what else the operation takes. Answers are
`{value}` or `{error}`. Nothing is kept between two requests: every operation reads the session's file.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from typing import Any, TypeAlias

from replio.config import Config
from replio.engine import Engine, _sub_session_name
from replio.jobs import job_session_name
from replio.sessions.render import render_session

Json: TypeAlias = dict[str, Any]


class Screen:
    """Keeps the lines that are shown, be they errors or not."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, msg: str) -> None:
        self.lines.append(msg)

    def error(self, code: object, msg: str) -> None:
        self.lines.append(f"{code} {msg}")


class Provider:
    """Keeps what it is asked, and has one answer."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[Json] | None = None

    def chat_nonstreaming(self, messages: list[Json], tools: object = None) -> Json:
        self.asked = messages
        return {"content": self.text}


class NoPlugins:
    """Plugins are no part of what is compared."""

    def register_commands(self, registry: object) -> None:
        """There are none."""


def opened(project: str, name: str | None = None, *, answer: str = "", settings: Json | None = None) -> Engine:
    """Replio in a project, its current session the one of that name; without instructions of its own for the model."""
    config = Config(project)
    config.data.update({"noise_tools": [], "project_instructions": "", **(settings or {})})
    engine = Engine(config, ui=Screen(), plugin_manager=NoPlugins(), provider=Provider(answer))
    if name is not None:
        engine.load_or_create_session(name)
    return engine


def read(project: str, name: str) -> Json:
    """A session, and what Replio makes of it."""
    engine = opened(project)
    session = engine.sessions.read(name)
    if session is None:
        raise LookupError(name)
    engine.current_session = session
    engine.preview_session(name)
    return {
        "session": session.to_dict(),
        "context": engine._provider_messages(),
        "folded": engine._clean_messages(session.messages),
        "preview": engine.ui.lines,
        "markdown": render_session(session),
    }


def names(project: str) -> list[str]:
    return list(opened(project).sessions.list())


def save(project: str, name: str, settings: Json) -> None:
    """Read a session, and write it."""
    opened(project, name, settings=settings).session_auto_save()


def live(project: str, name: str, steps: list[tuple[str, list[Any], Json]]) -> None:
    """Load or create a session, call these methods of it, and save it."""
    engine = opened(project, name)
    for method, args, fields in steps:
        getattr(engine.current_session, method)(*args, **fields)
    engine.session_auto_save()


def compact(project: str, name: str, keep: int, answer: str) -> list[Json] | None:
    """Compact and save a session; gives what was to be summarised, without the instruction."""
    engine = opened(project, name, answer=answer, settings={"compact_keep": keep})
    engine.compact_session()
    asked: list[Json] | None = engine.provider.asked
    return asked and asked[1:]


def automatic_name(project: str, stamp: str, text: str) -> str:
    """The name of a session of that stamp, once the user has said something."""
    engine = opened(project, stamp)
    engine.current_session.add_message("user", text)
    engine.session_auto_save()
    engine._auto_name_session(text)
    return str(engine.current_session.name)


def sub_name(project: str, stamp: str, parent: str) -> str:
    return str(_sub_session_name(stamp, parent, opened(project).sessions.sessions_dir))


def job_name(project: str, time: str, job: str) -> str:
    return str(job_session_name(job, datetime.fromisoformat(time)))


def delete(project: str, name: str) -> bool:
    return bool(opened(project).sessions.delete(name))


def delete_and_go_on(project: str, name: str) -> None:
    """Delete the session that is current, and say something more."""
    engine = opened(project, name)
    engine.sessions.delete(name)
    engine.current_session.add_message("user", "more")
    engine.session_auto_save()


OPERATIONS = {
    one.__name__: one
    for one in (*(read, names, save, live, compact, automatic_name, sub_name, job_name, delete, delete_and_go_on),)
}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"value": OPERATIONS[request.pop("op")](**request)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

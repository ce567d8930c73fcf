"""A provider of models on loopback, compatible with OpenAI's, that plays a script: an answer a request."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

Json: TypeAlias = dict[str, Any]

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
COST = {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 0}
"""US dollars a million tokens."""

COST_OF_ANSWER = (100 * 3 + 20 * 15) / 1e6


@dataclass(frozen=True)
class Answer:
    """What the provider says to one request.

    Attributes:
        text: A text, sent in small pieces.
        call: A tool's name and what it is given, or None.
        status: The HTTP status; from 400 up there is neither text nor call.
    """

    text: str = ""
    call: tuple[str, dict[str, Any]] | None = None
    status: int = 200


HANGS = Answer(status=0)
"""A request that is never answered."""


@dataclass(frozen=True)
class Served:
    """A script that is being played.

    Attributes:
        url: Where, for a program that adds the names of the calls.
        asked: The requests so far.
        waits: Is set when a request has come that is never answered.
    """

    url: str
    asked: list[Json]
    waits: threading.Event


@contextmanager
def serve(script: Sequence[Answer]) -> Generator[Served]:
    """Play a script; its last answer is repeated."""
    answers, ended = list(script), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            served.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            answer = answers.pop(0) if len(answers) > 1 else answers[0]
            if answer is HANGS:
                served.waits.set()
                ended.wait()
                return
            self.send_response(answer.status)
            self.send_header("Content-Type", "text/event-stream" if answer.status < 400 else "application/json")
            self.end_headers()
            if answer.status >= 400:
                self.wfile.write(b'{"error":{"message":"overloaded","type":"server_error"}}')
                return
            for chunk in _chunks(answer):
                self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = Served(f"http://127.0.0.1:{server.server_port}/v1", [], threading.Event())
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield served
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def provider(agent_dir: Path, script: Sequence[Answer]) -> Generator[threading.Event]:
    """Play a script, and tell pi of it, whose folder is given; gives `Served.waits`."""
    model = {"id": "fake-1", "name": "Fake", "reasoning": False, "input": ["text"], "cost": COST}
    ours = {
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{**model, "contextWindow": 100_000, "maxTokens": 1000}],
    }
    retry = {"enabled": True, "maxRetries": 2, "baseDelayMs": 20, "provider": {"maxRetries": 0}}
    with serve(script) as served:
        agent_dir.mkdir(parents=True, exist_ok=True)
        (agent_dir / "models.json").write_text(json.dumps({"providers": {"fake": {**ours, "baseUrl": served.url}}}))
        (agent_dir / "settings.json").write_text(json.dumps({"retry": retry}))
        yield served.waits


def _chunks(answer: Answer) -> Generator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "r", "object": "chat.completion.chunk", "model": "fake-1", "choices": [choice], **more}

    yield chunk({"role": "assistant", "content": ""})
    for at in range(0, len(answer.text), 9):
        yield chunk({"content": answer.text[at : at + 9]})
    if answer.call is not None:
        name, given = answer.call
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [call]})
        arguments = json.dumps(given)
        for at in range(0, len(arguments), 9):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments[at : at + 9]}}]})
    yield chunk({}, "tool_calls" if answer.call else "stop")
    yield {**chunk({}), "choices": [], "usage": USAGE}

"""A program behind a driver, which gets a request a line and answers each with a line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

_ANSWER_S = 60


class RefusedError(Exception):
    """A side refused the call."""


class Driven:
    """A driver's process, with a home of its own."""

    def __init__(self, command: Sequence[str], home: Path, environment: Mapping[str, str]) -> None:
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "HOME": str(home), **environment},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    @staticmethod
    def _loads(line: bytes) -> Any:  # noqa: ANN401  whatever the answer is
        """An answer's line, its numbers as the program has them."""
        return json.loads(line)

    @property
    def is_running(self) -> bool:
        """Whether the process can be asked."""
        return self._process.poll() is None

    def ask(self, **request: object) -> Any:  # noqa: ANN401  whatever the answer is
        """Send a request and wait for its answer.

        Raises:
            RefusedError: The program failed.
        """
        self.send(**request)
        return self.receive()

    def send(self, **request: object) -> None:
        """Send a request; each must be followed by a `receive` some time."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()

    def receive(self) -> Any:  # noqa: ANN401  whatever the answer is
        """The answer to the first request that has had none.

        Raises:
            RefusedError: The program failed.
        """
        assert self._process.stdout is not None
        watch = threading.Timer(_ANSWER_S, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watch.cancel()
        assert line, "the program ended, or was ended after a minute without an answer"
        answer = self._loads(line)
        if "error" in answer:
            raise RefusedError(answer["error"])
        return answer["value"]

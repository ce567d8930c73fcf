"""What a whole stream of events comes to, in plain Python: docs/events.md. It looks back and forth as it likes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reference_usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TOKENS = {"input": "input", "output": "output", "cacheRead": "cache_read", "cacheWrite": "cache_write"}


@dataclass
class Facts:
    """What a stream that has ended comes to."""

    session_id: str | None
    status: str
    final_answer: str | None
    error_message: str | None
    tool_calls: list[tuple[str, str, Any, str]]
    usage: Usage


def read(data: bytes) -> tuple[list[dict[str, Any]], list[int]]:
    """The events of a stream, and the numbers of its damaged lines."""
    events, damaged = [], []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        text = line.decode("utf-8", "replace")
        if not text.strip(" \t\r"):
            continue
        try:
            event = json.loads(text, parse_constant=_no_constant, parse_int=_integer)
        except ValueError:
            event = None
        if isinstance(event, dict) and isinstance(event.get("type"), str):
            events.append(event)
        else:
            damaged.append(number)
    return events, damaged


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _integer(text: str) -> float:
    """As JavaScript has it, but for those of 64 bits, which are exact."""
    return int(text) if -(2**63) <= int(text) < 2**64 else float(text)


def reduce(events: Sequence[dict[str, Any]]) -> Facts:
    """What they come to."""
    ends = [place for place, event in enumerate(events) if event["type"] == "agent_end"]
    outcome = _outcome(events, ends)
    is_cut = any(_begins(event) for event in events[ends[-1] + 1 if ends else 0 :])
    reason = (outcome or {}).get("stopReason")
    status = "incomplete" if outcome is None or is_cut else str(reason) if reason in ("error", "aborted") else "ok"
    header = next((event for event in events if event["type"] == "session"), {})
    error = outcome.get("errorMessage") if outcome and status in ("error", "aborted") else None
    return Facts(
        header["id"] if isinstance(header.get("id"), str) else None,
        status,
        _text(outcome) if outcome and status == "ok" else None,
        error if isinstance(error, str) else None,
        _calls(events),
        _usage(events, ends),
    )


def _begins(event: dict[str, Any]) -> bool:
    if event["type"] == "message_update":
        return not event.get("message") or not isinstance(event["message"], dict) or _role(event) == "assistant"
    is_answer = event["type"] in ("message_start", "message_end", "turn_end") and _role(event) == "assistant"
    return event["type"] in ("agent_start", "turn_start") or is_answer


def _outcome(events: Sequence[dict[str, Any]], ends: list[int]) -> dict[str, Any] | None:
    """The last answer that the user's last words got, from the last end backwards."""
    for place in range(ends[-1], -1, -1) if ends else ():
        event = events[place]
        if event["type"] == "agent_end":
            listed = _messages(event)
            for message in reversed(listed):
                if message.get("role") == "assistant":
                    return dict(message)
            if any(message.get("role") == "user" for message in listed) and not _was_told(events[:place]):
                return None
        elif event["type"] == "agent_settled" or (_is_told(event) and _role(event) == "user"):
            return None
        elif event["type"] in ("message_end", "turn_end") and _role(event) == "assistant":
            return dict(event["message"])
    return None


def _was_told(events: Sequence[dict[str, Any]]) -> bool:
    """Whether the attempt that these lead up to has had messages before its end."""
    for event in reversed(events):
        if event["type"] == "agent_end":
            return False
        ends = event["type"] in ("message_end", "turn_end") and _role(event) == "assistant"
        if ends or (_is_told(event) and _role(event) == "user"):
            return True
    return False


def _is_told(event: dict[str, Any]) -> bool:
    return event["type"] in ("message_start", "message_end")


def _messages(event: dict[str, Any]) -> list[dict[str, Any]]:
    messages = event.get("messages")
    return [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []


def _role(event: dict[str, Any]) -> object:
    message = event.get("message")
    return message.get("role") if isinstance(message, dict) else None


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "".join(
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def _calls(events: Iterable[dict[str, Any]]) -> list[tuple[str, str, Any, str]]:
    calls: list[list[Any]] = []
    for event in events:
        _, _, step = event["type"].rpartition("tool_execution_")
        if not event["type"].startswith("tool_execution_") or step not in ("start", "update", "end"):
            continue
        names = [event.get(key) if isinstance(event.get(key), str) else "" for key in ("toolCallId", "toolName")]
        mine = [call for call in calls if call[0] == names[0]]
        if step == "start" or not mine:
            mine = [[*names, event.get("args"), "running"]]
            calls += mine
        if step == "end":
            mine[-1][3] = "failed" if event.get("isError") is True else "done"
    return [(call[0], call[1], call[2], call[3]) for call in calls]


def _usage(events: Sequence[dict[str, Any]], ends: list[int]) -> Usage:
    """The sums: of each attempt's messages as they ended, or those of its end where no answer did; and what else."""
    total = Usage()
    start = 0
    for end in [*ends, len(events)]:
        # A start without an end before it ends the attempt as well.
        starts = [place for place in range(start, end) if events[place]["type"] == "agent_start"]
        for first, last in zip([start, *starts], [*starts, end], strict=True):
            part = events[first:last]
            ended = [event["message"] for event in part if event["type"] == "message_end" and _role(event) is not None]
            if last == end < len(events) and not any(message["role"] == "assistant" for message in ended):
                ended = _messages(events[end]) or ended
            for message in ended:
                if message.get("role") in ("assistant", "toolResult"):
                    _add(total, message.get("usage"))
            for event in part:
                holder = {"compaction_end": "result", "entry_appended": "entry"}.get(event["type"])
                if holder and isinstance(event.get(holder), dict):
                    _add(total, event[holder].get("usage"))
        start = end + 1
    return total


def _add(total: Usage, usage: object) -> None:
    if not isinstance(usage, dict):
        return
    for key, name in _TOKENS.items():
        setattr(total, name, getattr(total, name) + _counted(usage.get(key)))
    cost = usage.get("cost")
    total.cost_total += _counted(cost.get("total")) if isinstance(cost, dict) else 0


def _counted(value: object) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number and 0 <= value < float("inf") else 0  # type: ignore[operator, return-value]

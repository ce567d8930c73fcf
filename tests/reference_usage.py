"""What a session used, in plain Python: docs/reading.md, "Usage"."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference_json import Json, is_number, object_, string

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reference import Entry, Found

_TOKENS = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_COSTS = ("input", "output", "cacheRead", "cacheWrite", "total")
_FIELDS = ("input", "output", "cache_read", "cache_write", "total_tokens", "cost_total")
_UNNAMED = "tools and summaries"


@dataclass(slots=True)
class Usage:
    """Tokens and cost, summed; `by_model` holds the same by model."""

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    total_tokens: float = 0
    cost_total: float = 0
    by_model: dict[str, Usage] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """A usage record: its numbers, first those of `Usage` in their order, and what tells it from others."""

    numbers: tuple[float, ...]
    model: str
    response_id: str | None
    entry_id: str | None
    timestamp: str | None
    place: int


def records_of(entry: Entry, reports: list[Found]) -> list[Record]:
    """The usage records of an entry; what does not count goes to `reports`."""
    response_id = string(entry.message if entry.type == "message" else entry.json, "responseId") or None
    timestamp, model = string(entry.json, "timestamp"), _model(entry)
    records: list[Record] = []
    for place, usage in enumerate(_usages(entry)):
        if isinstance(usage, dict):
            numbers, odd_count = _numbers(usage)
            reports += [entry.line.report("value")] * odd_count
            records.append(Record(numbers, model, response_id, entry.id, timestamp, place))
        elif usage is not None:
            reports.append(entry.line.report("value"))
    return records


def _usages(entry: Entry) -> list[object]:
    """What stands in the places for usage; None where there is none."""
    found: list[object] = []
    if entry.role in ("assistant", "toolResult"):
        found.append(entry.message.get("usage"))
    if entry.role == "toolResult":
        found += _model_usages(object_(entry.message, "details").get("modelUsage"))
    if entry.type in ("compaction", "branch_summary", "usage"):
        found.append(entry.json.get("usage"))
    return found


def _model_usages(value: object) -> list[object]:
    if isinstance(value, list):
        return [item for item in value if _is_usage(item)]
    if _is_usage(value):
        return [value]
    found: list[object] = []
    for item in value.values() if isinstance(value, dict) else ():
        if _is_usage(item):
            found.append(item)
        elif isinstance(item, dict) and isinstance(item.get("usage"), dict):
            found.append(item["usage"])
    return found


def _is_usage(value: object) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint((*_TOKENS, "cost"))


def _model(entry: Entry) -> str:
    if entry.role != "assistant" and entry.type != "usage":
        return _UNNAMED
    holder = entry.message if entry.type == "message" else entry.json
    provider, model = string(holder, "provider"), string(holder, "model")
    return _UNNAMED if provider is None or model is None else f"{provider}/{model}"


def _numbers(usage: Json) -> tuple[tuple[float, ...], int]:
    """The tokens, the cost's total and its parts, 0 for what does not count; and how much of it does not."""
    tokens = [usage.get(key, 0) for key in _TOKENS]
    cost = usage.get("cost", {})
    costs = [cost.get(key, 0) for key in _COSTS] if isinstance(cost, dict) else [None]
    odd_count = sum(not _counts(value) for value in tokens + costs)
    return tuple(float(value) if _counts(value) else 0.0 for value in [*tokens, *reversed(costs)]), odd_count


def _counts(value: object) -> bool:
    return is_number(value) and 0 <= value < math.inf


def total(records: Iterable[Record]) -> Usage:
    """The sum of all records, each counted once."""
    usage = Usage()
    for record in first_of_equal(records):
        _add(usage, record.numbers)
        _add(usage.by_model.setdefault(record.model, Usage()), record.numbers)
    return usage


def _add(usage: Usage, numbers: tuple[float, ...]) -> None:
    for name, number in zip(_FIELDS, numbers, strict=False):  # the parts of the cost are in no sum
        setattr(usage, name, min(getattr(usage, name) + number, sys.float_info.max))


def first_of_equal(records: Iterable[Record]) -> Iterator[Record]:
    """Leave out what equals an earlier record: by the response where both name one, else by all the rest."""
    responses: set[object] = set()
    rests: set[object] = set()
    rests_without_response: set[object] = set()
    for record in records:
        response = record.response_id, record.place
        rest = record.entry_id, record.timestamp, record.numbers, record.place
        if record.response_id is not None:
            is_known = response in responses or rest in rests_without_response
            responses.add(response)
        elif record.entry_id is not None:
            is_known = rest in rests
            rests_without_response.add(rest)
        else:
            is_known = False
        rests.add(rest)
        if not is_known:
            yield record

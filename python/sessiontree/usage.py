"""Tokens and cost, as sessions record them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens used and their cost, summed over usage records.

    Token counts are whole numbers unless a file says otherwise. Every total is finite and not negative.

    Attributes:
        input: Tokens sent.
        output: Tokens received.
        cache_read: Tokens read from a provider's cache.
        cache_write: Tokens written to it.
        total_tokens: The sum of the records' own `totalTokens`.
        cost_total: US dollars.
        by_model: The same by `provider/model`; what no model is named for stands under `tools and summaries`. Empty in
            the parts themselves.

    Rule: docs/reading.md, "Usage".
    """

    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    total_tokens: float = 0
    cost_total: float = 0
    by_model: dict[str, Usage] = field(default_factory=dict[str, "Usage"], hash=False)

    def to_dict(self) -> dict[str, Any]:
        """The same facts as plain JSON values."""
        row: dict[str, Any] = {
            "input": self.input,
            "output": self.output,
            "cache_read": self.cache_read,
            "cache_write": self.cache_write,
            "total_tokens": self.total_tokens,
            "cost_total": self.cost_total,
        }
        if self.by_model:
            row["by_model"] = {model: part.to_dict() for model, part in self.by_model.items()}
        return row

"""A drawing of time against size, both logarithmic, in plain SVG."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Point = tuple[float, float]

WIDTH, HEIGHT = 860, 500
LEFT, RIGHT, TOP, BOTTOM = 70, 250, 20, 50
LINE_HEIGHT = 17
MARGIN = 0.08
"""Of a decade, around what is drawn."""
COLOURS = ("#0969da", "#54aeff", "#1f883d", "#8c959f", "#bc4c00", "#9a6700", "#8250df", "#cf222e")
STYLE = "text { font: 13px system-ui, sans-serif; fill: #818b98 } .grid { stroke: #818b98; stroke-opacity: 0.3 }"


def draw(lines: Mapping[str, Sequence[Point]]) -> str:
    """The drawing.

    Args:
        lines: Points of (megabytes, seconds), by what they are called; the first is drawn bold.
    """
    points = [point for line in lines.values() for point in line]
    x = _Axis([megabytes for megabytes, _ in points], LEFT, WIDTH - RIGHT)
    y = _Axis([seconds for _, seconds in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">',
        "<title>Seconds to list a store, against its megabytes</title>",
        f"<style>{STYLE}</style>",
        *_grid(x, y),
        *_lines(lines, x, y),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Axis:
    """Values of many sizes, in places along a line."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self._low, self._high = math.log10(min(values)) - MARGIN, math.log10(max(values)) + MARGIN
        self.decades = range(math.ceil(self._low), math.floor(self._high) + 1)
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        part = (math.log10(value) - self._low) / (self._high - self._low)
        return self._start + part * (self._end - self._start)


def _grid(x: _Axis, y: _Axis) -> Iterator[str]:
    for decade in x.decades:
        place = x(10.0**decade)
        yield f'<line class="grid" x1="{place:.1f}" y1="{TOP}" x2="{place:.1f}" y2="{HEIGHT - BOTTOM}"/>'
        label = f"{10.0**decade:g} MB" if decade < 3 else f"{10.0 ** (decade - 3):g} GB"
        yield f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 22}" text-anchor="middle">{label}</text>'
    for decade in y.decades:
        place = y(10.0**decade)
        yield f'<line class="grid" x1="{LEFT}" y1="{place:.1f}" x2="{WIDTH - RIGHT}" y2="{place:.1f}"/>'
        label = f"{10.0**decade:g} s" if decade >= 0 else f"{10.0 ** (decade + 3):g} ms"
        yield f'<text x="{LEFT - 10}" y="{place + 4:.1f}" text-anchor="end">{label}</text>'


def _lines(lines: Mapping[str, Sequence[Point]], x: _Axis, y: _Axis) -> Iterator[str]:
    """The lines, and their names at their ends, moved apart where they would lie on each other."""
    lowest = 0.0
    colours = dict(zip(lines, COLOURS, strict=False))
    for name, line in sorted(lines.items(), key=lambda item: -item[1][-1][1]):
        colour, width = colours[name], 3 if name == next(iter(lines)) else 1.5
        path = " ".join(f"{x(megabytes):.1f},{y(seconds):.1f}" for megabytes, seconds in line)
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
        for megabytes, seconds in line:
            yield f'<circle cx="{x(megabytes):.1f}" cy="{y(seconds):.1f}" r="{width + 1}" fill="{colour}"/>'
        end, seconds = line[-1]
        lowest = max(lowest + LINE_HEIGHT, y(seconds) + 4)
        yield f'<text x="{x(end) + 12:.1f}" y="{lowest:.1f}" style="fill: {colour}">{name}</text>'

# SPDX-License-Identifier: Apache-2.0
"""The intervals over time as SVG: a band per host, each in a picture of its own scale."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from rclrt_py.pages.scale import COLOURS
from rclrt_py.pages.svg import FAINT, GRID, INK, WIDTH, line, picture, text

from rclrt_clock.offsets import Offsets, Peer, Sample

LEFT, RIGHT = 90.0, WIDTH - 24.0
TOP, HEIGHT, GAP = 70.0, 180.0, 70.0
PAINT = COLOURS[5]
BASE_NS = 500_000_000
MOST_GAP = 5
"""A band ends where this many times the usual time passes between two samples."""


def offsets_picture(offsets: Offsets) -> str:
    """Returns the whole file; a host without any interval has none."""
    shown = [offsets.peers[key] for key in sorted(offsets.peers) if offsets.peers[key].samples]
    host = offsets.start.get("host", "this host")
    parts = [text(16, 24, f"Clocks less that of {host}, as intervals", INK, bold=True, size=15)]
    top = TOP
    for peer in shown:
        parts += _panel(peer, top)
        top += HEIGHT + GAP
    return picture(parts, top)


def _panel(peer: Peer, top: float) -> Iterator[str]:
    samples = peer.samples
    begin_ns, end_ns = samples[0].monotonic_ns, samples[-1].monotonic_ns
    least_ns = min(each.low_ns for each in samples)
    base_ns = least_ns - least_ns % BASE_NS  # labels of large offsets are relative to it
    low_ms = (least_ns - base_ns) / 1e6
    high_ms = (max(each.high_ns for each in samples) - base_ns) / 1e6
    step = _step(high_ms - low_ms)
    low_ms = math.floor(low_ms / step) * step
    high_ms = max(math.ceil(high_ms / step) * step, low_ms + step)
    duration_s = max((end_ns - begin_ns) / 1e9, 1e-3)

    def x(time_ns: int) -> float:
        return LEFT + (RIGHT - LEFT) * (time_ns - begin_ns) / 1e9 / duration_s

    def y(offset_ns: float) -> float:
        return top + HEIGHT * (high_ms - offset_ns / 1e6) / (high_ms - low_ms)

    beyond = f" above {base_ns / 1e9:.1f} s" if base_ns else ""
    yield text(LEFT, top - 10, f"{peer.host}: offset in ms{beyond}, time in s")
    digits = max(0, -math.floor(math.log10(step)))
    for number in range(round((high_ms - low_ms) / step) + 1):
        tick = low_ms + number * step
        yield line(LEFT, y(tick * 1e6), RIGHT, y(tick * 1e6), GRID)
        yield text(LEFT - 8, y(tick * 1e6) + 4, f"{tick:.{digits}f}", FAINT, "end")
    time_step = _step(duration_s)
    for number in range(math.floor(duration_s / time_step) + 1):
        place = LEFT + (RIGHT - LEFT) * number * time_step / duration_s
        yield line(place, top, place, top + HEIGHT, GRID)
        yield text(place, top + HEIGHT + 18, f"{number * time_step:g}", FAINT, "middle")
    for part in _parts(peer):
        upper = [f"{x(each.monotonic_ns):.1f},{y(each.high_ns - base_ns):.2f}" for each in part]
        lower = [
            f"{x(each.monotonic_ns):.1f},{y(each.low_ns - base_ns):.2f}" for each in reversed(part)
        ]
        yield (
            f'<polygon points="{" ".join([*upper, *lower])}" fill="{PAINT}" fill-opacity="0.35" '
            f'stroke="{PAINT}" stroke-width="1"/>'
        )


def _parts(peer: Peer) -> Iterator[list[Sample]]:
    """Yields the samples between which the interval was known."""
    samples = peer.samples
    times = sorted(b.monotonic_ns - a.monotonic_ns for a, b in pairwise(samples))
    usual_ns = times[len(times) // 2] if times else 0
    part = [samples[0]]
    for before, after in pairwise(samples):
        if (
            after.steps != before.steps
            or after.monotonic_ns - before.monotonic_ns > MOST_GAP * usual_ns
        ):
            yield part
            part = []
        part.append(after)
    yield part


def _step(span: float) -> float:
    """Returns a round number of which the span has about five."""
    raw = max(span, 1e-6) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)

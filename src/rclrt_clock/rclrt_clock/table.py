# SPDX-License-Identifier: Apache-2.0
"""The table of the offsets, and what happened, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rclrt_py.clocks.interval import TAI_ADVICE, within_ms
from rclrt_py.clocks.sources import ClockSource
from rclrt_py.terminal.table import Columns, Paint
from rclrt_py.text import shorten

from rclrt_clock.offsets import Offsets, Peer

NAME_WIDTH = 24
COLUMNS = (
    ("offset from", 15),
    ("to", 15),
    ("width", 11),
    ("age", 10),
    ("drift", 18),
    ("steps", 7),
    ("lost", 7),
)
"""Title and width of each column. The interval of the offset and its width are in ms, the age of
the newest bounds in s, the drift seen in millionths."""

_WIDTHS = Columns(NAME_WIDTH, *(width for _, width in COLUMNS))
_EVENTS = {
    "appeared": "{host} sends pings",
    "restarted": "{host}: another process sends its pings; its interval begins again",
    "step": "{host}: its pings contradict each other: a clock was set, or drifts by more than "
    "{drift:g} ppm; its interval begins again",
    "clock_set": "the clock of this host was set by {by:+.3f} ms; all intervals begin again",
    "peer_clock_set": "the clock of {host} was set; its interval begins again",
    "silent": "{host} sends no pings any more; its interval grows",
    "back": "{host} sends pings again",
    "same_name": "another machine is also called {host}: state other names with --host",
    "too_many": "{host} and further hosts or processes are left out: more than 64",
}


def lines(offsets: Offsets, sources: Sequence[ClockSource], paint: Paint) -> Iterator[str]:
    """Yields the table: the clock of each peer less the one of this host."""
    yield paint.dim(_WIDTHS.line("peer", *(title for title, _ in COLUMNS)))
    for key in sorted(offsets.peers):
        yield from _peer_lines(offsets.peers[key], paint)
    if not offsets.peers:
        yield "  none yet"
    for source in sources:
        yield paint.dim(source_line(source))


def source_line(source: ClockSource) -> str:
    """Returns a line such as "chrony: this clock less UTC by 10.0.0.1: -0.580 to +0.580 ms"."""
    if source.interval is None:
        return f"{source.name}: {shorten(source.reference, 60)}, not synchronised"
    where = f"this clock less {shorten(source.reference, 60)}"
    return f"{source.name}: {where}: {within_ms(source.interval)}"


def event_line(event: dict[str, Any], drift_ppm: float) -> str:
    """Returns an event as a sentence."""
    text = _EVENTS.get(event["event"], "{host}: " + str(event["event"]))
    by_ms = event.get("by_ns", 0) / 1e6
    return text.format(host=shorten(str(event["host"]), 64), by=by_ms, drift=drift_ppm)


def _peer_lines(peer: Peer, paint: Paint) -> Iterator[str]:
    state = peer.latest
    interval = peer.interval
    bounds = ("-", "-", "-")
    if interval is not None:
        bounds = (
            f"{interval.low_ns / 1e6:+.3f}",
            f"{interval.high_ns / 1e6:+.3f}",
            f"{interval.width_ns / 1e6:.3f}",
        )
    age = "-" if state["age_ns"] is None else f"{state['age_ns'] / 1e9:.1f}"
    drift = "-"
    if state["drift_low_ppm"] is not None:
        drift = f"{state['drift_low_ppm']:+.0f} to {state['drift_high_ppm']:+.0f}"
    counts = (str(state["steps"]), str(state["lost"]))
    line = _WIDTHS.line(shorten(peer.host, NAME_WIDTH - 1), *bounds, age, drift, *counts)
    yield paint.dim(line + "  (silent)") if state["silent"] else line
    if interval is None:
        yield "  no interval yet: no ping of this host has been answered since the last step"
    elif interval.is_tai:
        yield paint.red(f"  within a second of 37 s: {TAI_ADVICE}")

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

TEST_CLOCK = "the clock of this host is wrong on purpose (RCLRT_TEST_CLOCK)"
_WIDTHS = Columns(NAME_WIDTH, *(width for _, width in COLUMNS))
_EVENTS = {
    "appeared": "{host} sends pings",
    "restarted": "{host}: another process sends its pings",
    "step": "{host}: its pings contradict each other: a machine was suspended, or its quartz "
    "drifts by more than {drift:g} ppm; its interval begins again",
    "clock_set": "the clock of this host was set by {by:+.6g} ms",
    "peer_clock_set": "the clock of {host} was set",
    "silent": "{host} sends no pings any more; its interval grows",
    "back": "{host} sends pings again",
    "same_name": "another machine is also called {host}: state other names with --host",
    "forgotten": "{host} was silent, and made room for another host",
    "test_clock": "the clock of {host} is wrong on purpose (RCLRT_TEST_CLOCK)",
    "too_many": "{host}: more than 64 hosts, or 8 processes of a host; its pings are left out",
    "lost_events": "{count} further events are not listed",
    "lost_lines": "this program reads too slowly: {count} lines are lost",
}


def lines(offsets: Offsets, sources: Sequence[ClockSource], paint: Paint) -> Iterator[str]:
    """Yields the table: the clock of each peer less the one of this host."""
    yield paint.dim(_WIDTHS.line("peer", *(title for title, _ in COLUMNS)))
    names = [host for host, _ in offsets.peers]
    for key in sorted(offsets.peers):
        yield from _peer_lines(offsets.peers[key], names.count(key[0]) > 1, paint)
    if not offsets.peers:
        yield "  none yet"
    if offsets.start.get("test_clock"):
        yield paint.red(TEST_CLOCK)
    for source in sources:
        yield paint.dim(source_line(source))


def source_line(source: ClockSource) -> str:
    """Returns a line such as "chrony: this clock less that of 10.0.0.1: -0.580 to +0.580 ms"."""
    reference = shorten(source.reference, 80)
    if source.interval is None:
        return f"{source.name}: {reference}"
    return f"{source.name}: this clock less {reference}: {within_ms(source.interval)}"


def event_line(event: dict[str, Any], drift_ppm: float) -> str:
    """Returns an event as a sentence."""
    name = str(event["event"])
    host = shorten(str(event["host"]), 64)
    by_ms = event.get("by_ns", 0) / 1e6
    text = _EVENTS.get(name)
    if text is None:
        return f"{host}: {shorten(name, 64)}"
    return text.format(host=host, by=by_ms, drift=drift_ppm, count=event.get("count", 0))


def _peer_lines(peer: Peer, has_namesake: bool, paint: Paint) -> Iterator[str]:
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
    name = shorten(peer.host, NAME_WIDTH - 1)
    if has_namesake:  # machines with one name
        name = f"{shorten(peer.host, NAME_WIDTH - 6)} {peer.boot[:4]}"
    line = _WIDTHS.line(name, *bounds, age, drift, *counts)
    yield paint.dim(line + "  (silent)") if state["silent"] else line
    if interval is None:
        yield "  no interval yet: no ping of this host has been answered since the last step"
    elif interval.is_tai:
        yield paint.red(f"  within a second of 37 s: {TAI_ADVICE}")

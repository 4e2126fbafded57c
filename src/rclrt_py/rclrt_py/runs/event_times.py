# SPDX-License-Identifier: Apache-2.0
"""When timers and events release their callbacks, as the application states it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.figures import time_of
from rclrt_py.text import exact

if TYPE_CHECKING:
    from rclrt_model import Callback


@dataclass(frozen=True)
class EventTimes:
    """The times of an event in milliseconds: its intervals, and its period if it has one."""

    min_interval_ms: float
    max_interval_ms: float
    period_ms: float = 0.0
    """0: the intervals are all that is known."""
    jitter_ms: float = 0.0

    @classmethod
    def read(cls, owner: JsonValue) -> EventTimes | None:
        """Reads the times below the key `event`. None: the owner is no event, or an earlier release
        wrote the file."""
        if not owner.has("event") or owner.get("event").value is None:
            return None
        json = owner.get("event")
        times = ("min_interval_ms", "max_interval_ms", "period_ms", "jitter_ms")
        return cls(*(time_of(json.get(key)) for key in times))

    @classmethod
    def of_model(cls, callback: Callback) -> EventTimes | None:
        """Returns the intervals between the releases of a callback that an event triggers; None for
        other callbacks."""
        if callback.kind != "event":
            return None
        trigger: Any = callback.trigger
        return cls(
            trigger.min_interval_ns / 1e6,
            trigger.max_interval_ns / 1e6,
            trigger.period_ns / 1e6,
            trigger.jitter_ns / 1e6,
        )


def release_text(period_ms: float, event: EventTimes | None) -> str:
    """Returns when a timer with this period, or the event, releases its callback: "every 50 ms",
    "every 33.333 ms, up to 10 ms late", "20 to 500 ms apart"."""
    if event is None:
        return f"every {exact(period_ms)} ms"
    shortest, longest = exact(event.min_interval_ms), exact(event.max_interval_ms)
    if not event.period_ms:
        return (
            f"every {shortest} ms" if shortest == longest else f"{shortest} to {longest} ms apart"
        )
    text = f"every {exact(event.period_ms)} ms"
    if event.jitter_ms:
        text += f", up to {exact(event.jitter_ms)} ms late"
    if shortest != exact(event.period_ms - event.jitter_ms):
        text += f", at least {shortest} ms apart"
    return text

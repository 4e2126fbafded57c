# SPDX-License-Identifier: Apache-2.0
"""The instances that a run that streamed has kept: the section `streamed` of a results.json. Also
describes such a run, and one that was stopped, to a reader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.figures import count_within, time_of

INTERRUPTED = "interrupted"
RUNNING = "running"
ENDS = (INTERRUPTED, RUNNING)


@dataclass(frozen=True)
class Streamed:
    """A run of which single instances are kept only in part; the others are in its histograms."""

    instances: int
    """Number of instances of callbacks in the run."""
    kept: int
    """Number of those that instances.csv has."""
    latest_since_ms: float
    """From this time on, every instance is kept."""
    percentile_error: float
    """By which part a percentile may be too large."""

    @classmethod
    def read(cls, json: JsonValue) -> Streamed | None:
        """Reads the section of the results. None: all instances are kept."""
        if "streamed" not in json.object():
            return None
        stated = json.get("streamed")
        instances = stated.get("instances").count()
        return cls(
            instances=instances,
            kept=count_within(stated.get("kept"), instances, "instances"),
            latest_since_ms=stated.get("latest_since_ms").number(),
            percentile_error=time_of(stated.get("percentile_error")),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def read_ended(json: JsonValue) -> str | None:
    """Returns how the run ended before its time. None: it lasted as long as it was asked to."""
    if "ended" not in json.object():
        return None
    ended = json.get("ended")
    if ended.text() not in ENDS:
        ended.fail(f"one of {', '.join(ENDS)}")
    return ended.text()


def ended_text(ended: str, duration_s: float) -> str:
    """Describes the end of a run that did not last as long as it was asked to."""
    if ended == RUNNING:
        return (
            f"the run had not ended when these results were written, {duration_s:.1f} s after its "
            "start"
        )
    return f"the run was stopped after {duration_s:.1f} s"


def kept_text(streamed: Streamed) -> str:
    """Describes what the single instances are."""
    return (
        f"{streamed.kept} of {streamed.instances} instances of callbacks are kept: those around "
        "the worst of each chain, and the latest; counts, extremes and means are of all, "
        f"percentiles at most {100 * streamed.percentile_error:g} % too large"
    )


def stream_notes(streamed: Streamed | None, ended: str | None, duration_s: float) -> Iterator[str]:
    """Yields what a reader of the results must know; nothing for a complete run."""
    if ended is not None:
        yield ended_text(ended, duration_s)
    if streamed is not None:
        yield kept_text(streamed)

# SPDX-License-Identifier: Apache-2.0
"""One run of one program, read from its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rclrt_py.files.json_reader import JsonValue

from rclrt_demos.timer_study.histogram import Histogram, read_histogram
from rclrt_demos.timer_study.inheritance import Inheritance, read_inheritance
from rclrt_demos.timer_study.matrix import Case

SUMMARY, HIST, TOPN = "summary.json", "hist.csv", "topn.csv"
_FIGURES = ("min", "mean", "sd", "p50", "p99", "max")


@dataclass(frozen=True)
class Distribution:
    """Statistics of times in µs."""

    n: int
    min: float
    mean: float
    sd: float
    p50: float
    p99: float
    max: float

    def to_json(self) -> dict[str, float]:
        return {"n": self.n} | {name: getattr(self, name) for name in _FIGURES}


@dataclass(frozen=True)
class Measured:
    case: Case
    rmw: str
    realtime: bool
    realtime_problem: str
    inheritance: Inheritance
    latency: Distribution
    """From the nominal release."""
    since_rcl_call: Distribution | None
    """The study's own figure for callbacks; see the README."""
    missed_passes: int
    histogram: Histogram

    @classmethod
    def read(cls, case: Case, rmw: str, directory: Path) -> Measured:
        """Throws BadInput for files that are not those of a complete run."""
        summary = JsonValue.load(directory / SUMMARY)
        latency = _distribution(summary.get("latency_us"))
        histogram = read_histogram(directory / HIST)
        if histogram.n != latency.n:
            summary.get("latency_us").fail(f"as many samples as {HIST} has, {histogram.n}")
        callbacks = case.measures_callbacks
        return cls(
            case, rmw, summary.get("realtime").boolean(), summary.get("realtime_problem").text(),
            read_inheritance(summary, case.has_nodes), latency,
            _distribution(summary.get("since_rcl_call_us")) if callbacks else None,
            summary.get("missed_passes").count() if callbacks else 0, histogram,
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        return {
            "rmw": self.rmw,
            "program": self.case.program,
            "measured": self.case.what,
            "policy_set_before": self.case.policy_set_before,
            "children": self.case.children,
            "realtime": self.realtime,
            "inheritance": self.inheritance.to_json(),
            "latency_us": self.latency.to_json(),
            "since_rcl_call_us": self.since_rcl_call.to_json() if self.since_rcl_call else None,
            "missed_passes": self.missed_passes,
            "overflow": self.histogram.overflow,
            "published_us": list(self.case.published_us) if self.case.published_us else None,
        }


def _distribution(json: JsonValue) -> Distribution:
    return Distribution(json.get("n").count(), *(json.get(name).number() for name in _FIGURES))

# SPDX-License-Identifier: Apache-2.0
"""The results of chains that sample, in a results.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rclrt_py.files.json_reader import JsonValue
from rclrt_py.runs.cause_effect_way import Way
from rclrt_py.runs.figures import count_within, error_of, optional_count, read_summary, time_or_none
from rclrt_py.stats import Summary


@dataclass(frozen=True)
class SamplingPrediction:
    """The bounds of a chain that samples, and the number of outputs above them."""

    reaction_bound_ms: float | None
    age_bound_ms: float | None
    verdict: str
    assumptions: tuple[str, ...]
    above_reaction_bound: int
    above_age_bound: int
    reaction_by_host: int
    """The part of `above_reaction_bound` that the machine explains: it stood still, or made
    segments exceed their own bounds, for as long as the time is above the bound."""
    age_by_host: int
    """The part of `above_age_bound` that the machine explains."""
    note: str

    @property
    def above_own(self) -> int:
        """Number of times above their bounds that no stall explains."""
        above = self.above_reaction_bound + self.above_age_bound
        return above - self.reaction_by_host - self.age_by_host

    @classmethod
    def read(cls, json: JsonValue) -> SamplingPrediction:
        for kind in ("reaction", "age"):
            if json.has(f"{kind}_by_host"):
                above = json.get(f"above_{kind}_bound").count()
                count_within(json.get(f"{kind}_by_host"), above, f"above_{kind}_bound")
        return cls(
            reaction_bound_ms=time_or_none(json.get("reaction_bound_ms")),
            age_bound_ms=time_or_none(json.get("age_bound_ms")),
            verdict=json.get("verdict").text(),
            assumptions=tuple(json.get("assumptions").texts()),
            above_reaction_bound=json.get("above_reaction_bound").count(),
            above_age_bound=json.get("above_age_bound").count(),
            reaction_by_host=optional_count(json, "reaction_by_host"),
            age_by_host=optional_count(json, "age_by_host"),
            note=json.get("note").text(),
        )


def _check_counts(json: JsonValue) -> None:
    """Refuses counts of outputs that do not add up."""
    outputs = json.get("outputs").count()
    count_within(json.get("missed_age"), outputs, "outputs")
    count_within(json.get("missed_reaction"), outputs + 1, "outputs, and one that is awaited")
    ages = json.get("age_ms")
    if (ages.value is None) != (outputs == 0):
        ages.fail("times, because there are outputs" if outputs else "null: there are no outputs")


def _over_hosts(json: JsonValue) -> dict[str, Any]:
    if not json.has("error_ms"):
        return {}
    counts = {key: json.get(key).count() for key in ("unknown_reaction", "unknown_age")}
    return {**counts, "error_ms": error_of(json)}


@dataclass(frozen=True)
class CauseEffectResult:
    """The results of one path over messages and variables under one executor."""

    id: str
    segments: tuple[str, ...]
    """The ids of its chains."""
    max_reaction_ms: float | None
    max_age_ms: float | None
    inputs: int
    """Instances of the first segment that ended: values that may be read."""
    distinct: int
    """Number of these that an output used."""
    outputs: int
    """Runs of the last callback that used a value."""
    initial: int
    """Runs of the last callback before there was a value."""
    missed_reaction: int
    missed_age: int
    reaction: Summary | None
    age: Summary | None
    predicted: SamplingPrediction | None = None
    """The bounds of the analysis, if they were asked for."""
    worst_reaction: Way | None = None
    """Where the longest reaction time went."""
    worst_age: Way | None = None
    """Where the largest data age went."""
    unknown_reaction: int | None = None
    """Reactions of which it is not known whether they met the limit, because of the hosts' clocks.
    None: the run was on one host."""
    unknown_age: int | None = None
    error_ms: float | None = None
    """Reactions and ages are wrong by at most this, in either direction."""

    @property
    def missed(self) -> int:
        return self.missed_reaction + self.missed_age

    @classmethod
    def read(cls, json: JsonValue) -> CauseEffectResult:
        _check_counts(json)
        error_ms = error_of(json)
        return cls(
            id=json.get("id").text(),
            segments=tuple(json.get("segments").texts()),
            max_reaction_ms=time_or_none(json.get("max_reaction_ms")),
            max_age_ms=time_or_none(json.get("max_age_ms")),
            inputs=json.get("inputs").count(),
            distinct=json.get("distinct").count(),
            outputs=json.get("outputs").count(),
            initial=json.get("initial").count(),
            missed_reaction=json.get("missed_reaction").count(),
            missed_age=json.get("missed_age").count(),
            reaction=read_summary(json.get("reaction_ms"), error_ms),
            age=read_summary(json.get("age_ms"), error_ms),
            predicted=SamplingPrediction.read(json) if json.has("verdict") else None,
            worst_reaction=Way.read(json, "worst_reaction", error_ms),
            worst_age=Way.read(json, "worst_age", error_ms),
            **_over_hosts(json),
        )

    def ways_json(self) -> dict[str, Any]:
        """Returns the ways of the longest times, as far as there are any."""
        ways = {"worst_reaction": self.worst_reaction, "worst_age": self.worst_age}
        return {key: way.to_json() for key, way in ways.items() if way}

    def _over_hosts_json(self) -> dict[str, Any]:
        values = {
            "unknown_reaction": self.unknown_reaction,
            "unknown_age": self.unknown_age,
            "error_ms": self.error_ms,
        }
        return values if self.error_ms is not None else {}

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "segments": list(self.segments),
            "max_reaction_ms": self.max_reaction_ms,
            "max_age_ms": self.max_age_ms,
            "inputs": self.inputs,
            "distinct": self.distinct,
            "outputs": self.outputs,
            "initial": self.initial,
            "missed_reaction": self.missed_reaction,
            "missed_age": self.missed_age,
            "reaction_ms": self.reaction.to_json() if self.reaction else None,
            "age_ms": self.age.to_json() if self.age else None,
            **self.ways_json(),
            **self._over_hosts_json(),
            **(asdict(self.predicted) if self.predicted else {}),
        }

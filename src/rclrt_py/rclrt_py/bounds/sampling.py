# SPDX-License-Identifier: Apache-2.0
"""Bounds of cause-effect chains beside their observed reaction times and data ages."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from rclrt_py.bounds.excesses import Excess
from rclrt_py.bounds.predicted import PredictedChain, PredictedSampling
from rclrt_py.runs.cause_effect import CauseEffectResult, SamplingPrediction
from rclrt_py.runs.csv_reader import StallRow
from rclrt_py.runs.histograms import Times
from rclrt_py.runs.run_data import CauseEffectSamples


@dataclass(frozen=True)
class Observed:
    """The observations of one run, for all its cause-effect chains."""

    samples: Mapping[str, CauseEffectSamples]
    stalls: Sequence[StallRow]
    excesses: Sequence[Excess]
    """They are of all chains, segments too."""
    histograms: Mapping[str, tuple[Times, Times]] = field(default_factory=dict)
    """All reaction times and ages of a run that streamed; `samples` has those that are kept."""


class _Stalls:
    """The time in which at least one of some CPUs stood still. All times in nanoseconds."""

    def __init__(self, stalls: Sequence[StallRow], cpus: set[int]) -> None:
        """Uses the stalls of these CPUs; of all CPUs if the set is empty."""
        self._starts: list[int] = []
        self._ends: list[int] = []
        for stall in sorted(stalls, key=lambda stall: stall.start):
            if cpus and stall.cpu not in cpus:
                continue
            if self._ends and stall.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], stall.host_end)
            elif stall.host_end > stall.start:
                self._starts.append(stall.start)
                self._ends.append(stall.host_end)
        lengths = (end - start for start, end in zip(self._starts, self._ends, strict=True))
        self._before = [0, *accumulate(lengths)]

    def within(self, begin: int, end: int) -> int:
        """Returns the time between `begin` and `end` in which a CPU stood still."""
        first, last = bisect_right(self._ends, begin), bisect_left(self._starts, end)
        if first >= last:
            return 0
        cut = max(0, begin - self._starts[first]) + max(0, self._ends[last - 1] - end)
        return self._before[last] - self._before[first] - cut


class _Delays:
    """The instances of one segment that were above their bound because of the machine."""

    def __init__(self, excesses: Sequence[Excess], segment: str) -> None:
        self._own = sorted(
            (excess for excess in excesses if excess.by_host and excess.chain == segment),
            key=lambda excess: excess.release,
        )
        self._releases = [excess.release for excess in self._own]
        self._longest = max((excess.response or math.inf for excess in self._own), default=0)

    def within(self, begin: int, end: int) -> float:
        """Returns the longest time by which an instance between `begin` and `end` was above its
        bound; infinity if it never ended."""
        first = bisect_left(self._releases, begin - self._longest)
        last = bisect_left(self._releases, end)
        found: list[float] = [
            math.inf if excess.response is None else excess.response - excess.bound
            for excess in self._own[first:last]
            if excess.response is None or excess.release + excess.response > begin
        ]
        return max(found, default=0)


def with_sampling_bounds(
    chain: CauseEffectResult,
    predicted: PredictedSampling | None,
    segments: Mapping[str, PredictedChain],
    runs: Sequence[Observed],
) -> CauseEffectResult:
    """Returns the result with its bounds, and the number of times above them. `segments` are the
    bounds of chains by their ids. The machine explains a time above its bound if it stood still, or
    made an instance of each segment exceed its own bound, for as long in all."""
    if predicted is None:
        return chain
    own = [segments[name] for name in chain.segments if name in segments]
    cpus = {cpu for segment in own for cpu in segment.cpus}
    if any(not segment.cpus for segment in own):
        cpus = set()  # any CPU
    reactions = _above(chain, predicted.reaction_ms, runs, cpus, ages=False)
    ages = _above(chain, predicted.age_ms, runs, cpus, ages=True)
    reaction_terms = {(term.kind, term.chain): term.reaction_ms for term in predicted.why}
    age_terms = {(term.kind, term.chain): term.age_ms for term in predicted.why}
    return replace(
        chain,
        worst_reaction=chain.worst_reaction and chain.worst_reaction.with_bounds(reaction_terms),
        worst_age=chain.worst_age and chain.worst_age.with_bounds(age_terms),
        predicted=SamplingPrediction(
            reaction_bound_ms=predicted.reaction_ms,
            age_bound_ms=predicted.age_ms,
            verdict=predicted.verdict,
            assumptions=predicted.assumptions,
            above_reaction_bound=reactions[0],
            above_age_bound=ages[0],
            reaction_by_host=reactions[1],
            age_by_host=ages[1],
            note=predicted.note,
        ),
    )


def _above(
    chain: CauseEffectResult,
    bound_ms: float | None,
    runs: Sequence[Observed],
    cpus: set[int],
    *,
    ages: bool,
) -> tuple[int, int]:
    """Returns the number of reaction times or ages above the bound, and how many of them the
    machine explains. It explains none that a run that streamed has not kept."""
    if bound_ms is None:
        return 0, 0
    number = by_host = 0
    bound = round(bound_ms * 1e6)
    for run in runs:
        samples = run.samples[chain.id]
        times, ends = (
            (samples.ages, samples.ends) if ages else (samples.reactions, samples.reaction_ends)
        )
        kept = sum(time > bound for time in times)
        all_times = run.histograms.get(chain.id)
        histogram = all_times[ages].histogram if all_times else None
        number += max(kept, histogram.above(bound) if histogram else 0)
        if not kept:
            continue
        stalls = _Stalls(run.stalls, cpus)
        delays = [_Delays(run.excesses, segment) for segment in chain.segments]
        for time, end in zip(times, ends, strict=True):
            if time > bound:
                lost = stalls.within(end - time, end)
                delayed = sum(each.within(end - time, end) for each in delays)
                by_host += lost + delayed >= time - bound
    return number, by_host

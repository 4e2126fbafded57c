# SPDX-License-Identifier: Apache-2.0
"""Bounds of cause-effect chains beside their observed reaction times and data ages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rclrt_py.bounds.excesses import Excess
from rclrt_py.bounds.predicted import PredictedSampling
from rclrt_py.runs.cause_effect import CauseEffectResult, SamplingPrediction
from rclrt_py.runs.csv_reader import StallRow
from rclrt_py.runs.run_data import CauseEffectSamples


@dataclass(frozen=True)
class Observed:
    """The observations of one run, for all its cause-effect chains."""

    samples: Mapping[str, CauseEffectSamples]
    stalls: Sequence[StallRow]
    excesses: Sequence[Excess]
    """They are of all chains, segments too."""

    def is_by_host(self, time: int, end: int, bound: int, segments: Sequence[str]) -> bool:
        """Returns whether the machine explains a time above its bound: it stood still for as long
        as the time is above the bound, or made an instance of a segment exceed its own bound. All
        times in nanoseconds; `time` ends at `end`."""
        begin = end - time
        stood = sum(
            max(0, min(stall.host_end, end) - max(stall.start, begin)) for stall in self.stalls
        )
        return stood >= time - bound or any(
            excess.by_host
            and excess.chain in segments
            and excess.release < end
            and (excess.response is None or excess.release + excess.response > begin)
            for excess in self.excesses
        )


def with_sampling_bounds(
    chain: CauseEffectResult, predicted: PredictedSampling | None, runs: Sequence[Observed]
) -> CauseEffectResult:
    """Returns the result with its bounds, and the number of times above them."""
    if predicted is None:
        return chain
    reactions = list(_above(chain, predicted.reaction_ms, runs, ages=False))
    ages = list(_above(chain, predicted.age_ms, runs, ages=True))
    return replace(
        chain,
        predicted=SamplingPrediction(
            reaction_bound_ms=predicted.reaction_ms,
            age_bound_ms=predicted.age_ms,
            verdict=predicted.verdict,
            assumptions=predicted.assumptions,
            above_reaction_bound=len(reactions),
            above_age_bound=len(ages),
            reaction_by_host=sum(reactions),
            age_by_host=sum(ages),
            note=predicted.note,
        ),
    )


def _above(
    chain: CauseEffectResult, bound_ms: float | None, runs: Sequence[Observed], *, ages: bool
) -> Iterator[bool]:
    """Yields, for each reaction time or age above the bound, whether the host explains it."""
    bound = math.inf if bound_ms is None else round(bound_ms * 1e6)
    for run in runs:
        samples = run.samples[chain.id]
        times, ends = (
            (samples.ages, samples.ends) if ages else (samples.reactions, samples.reaction_ends)
        )
        for time, end in zip(times, ends, strict=True):
            if time > bound:
                yield run.is_by_host(time, end, int(bound), chain.segments)

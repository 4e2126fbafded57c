# SPDX-License-Identifier: Apache-2.0
"""The conclusion from the figures, as plain sentences."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from rclrt_demos.exercises import BASELINE, SOLUTION, Measure
from rclrt_demos.measured import NS_PER_US
from rclrt_demos.rounds import Outcome, measure_of

FACTOR = {Measure.MAX: 2.0, Measure.SPREAD: 2.0, Measure.MEAN: 1.25}
"""The least ratio of the flaw's figure to the fix's. A largest value varies more than a mean."""
DISTURBING_SHARE = 0.005
"""A part of the CPU time. A larger one means a stall that can be a variant's largest value."""


class Shown(Enum):
    YES = "yes"
    SOMETIMES = "in some rounds only"
    NO = "no"


@dataclass(frozen=True)
class Effect:
    """How flaw and fix compare: the medians of their rounds' figures, and round by round."""

    shown: Shown
    flaw_us: float
    fix_us: float
    rounds: int
    worse_rounds: int
    """The number of rounds in which the flaw's figure is larger by the factor."""

    @property
    def ratio(self) -> float:
        return self.flaw_us / self.fix_us if self.fix_us else float("inf")


def effect_of(outcome: Outcome) -> Effect:
    """The host may cause a single large value, so medians and most rounds must agree."""
    factor = FACTOR[outcome.exercise.measure]
    pairs = list(zip(outcome.measures(BASELINE), outcome.measures(SOLUTION), strict=False))
    worse = sum(flaw > factor * fix for flaw, fix in pairs)
    better = sum(fix > factor * flaw for flaw, fix in pairs)
    flaw_us, fix_us = (statistics.median(each) for each in zip(*pairs, strict=True))
    shown = Shown.NO
    if 2 * worse > len(pairs) and flaw_us > factor * fix_us:
        shown = Shown.YES
    elif worse > better:
        shown = Shown.SOMETIMES
    return Effect(shown, flaw_us, fix_us, len(pairs), worse)


def sentences(outcome: Outcome) -> list[str]:
    """The effect, and the reasons why it may not be visible."""
    made = _comparison(outcome) if outcome.compared else _single(outcome)
    return [*made, *_counters(outcome), *_disturbances(outcome)]


def _comparison(outcome: Outcome) -> Iterator[str]:
    exercise, effect = outcome.exercise, effect_of(outcome)
    what = f"{exercise.measure.value} {exercise.slice_name}"
    if effect.rounds > 1:
        what = f"in the median of {effect.rounds} rounds {what}"
    figures = (
        f"{_capital(what)} is {micro(effect.flaw_us)} with "
        f"{exercise.flaw} and {micro(effect.fix_us)} with {exercise.fix}"
    )
    rounds = f"{effect.worse_rounds} of {effect.rounds} rounds"
    times = f"{FACTOR[exercise.measure]:g} times"
    if effect.shown is Shown.YES:
        yield f"{figures}, {factor_text(effect.ratio)} as much: {exercise.look}."
    elif effect.shown is Shown.SOMETIMES:
        yield (
            f"{figures}. But it was more than {times} as much in {rounds} only; where it was, "
            f"{exercise.look}."
        )
    else:
        yield f"The effect did not show. {figures}; it was more than {times} as much in {rounds}."
    over = " and ".join(
        f"{_over(outcome, variant)} with {exercise.variant_label(variant)}"
        for variant in outcome.variants
    )
    if exercise.limit_us is not None:
        yield f"Above {exercise.limit_name} of {exercise.limit_us:g} µs: {over}."
    if effect.shown is not Shown.YES:
        yield from _reasons(outcome)


def _single(outcome: Outcome) -> Iterator[str]:
    exercise, variant = outcome.exercise, outcome.variants[0]
    found = outcome.statistics(variant)
    if found is None:
        raise ValueError("no values")
    yield (
        f"{_capital(exercise.measure.value)} {exercise.slice_name} with "
        f"{exercise.variant_label(variant)}: {micro(measure_of(exercise.measure, found))}."
    )
    if exercise.limit_us is not None:
        yield (
            f"Above {exercise.limit_name} of {exercise.limit_us:g} µs: {_over(outcome, variant)}."
        )
    yield "With --compare it runs flaw and fix in turn, and says how they differ."


def _over(outcome: Outcome, variant: str) -> str:
    values = outcome.pooled(variant).slices[outcome.exercise.slice_name]
    limit_ns = (outcome.exercise.limit_us or 0.0) * NS_PER_US
    return f"{sum(value > limit_ns for value in values)} of {len(values)}"


def _reasons(outcome: Outcome) -> Iterator[str]:
    """Why an effect may not have shown."""
    exercise = outcome.exercise
    reasons = []
    if exercise.needs_realtime and not all(
        outcome.pooled(variant).real_time for variant in outcome.variants
    ):
        reasons.append("without real-time scheduling no thread comes before another")
    if exercise.needs_stress and not outcome.stress:
        reasons.append("nothing competed for the CPUs; --stress makes it")
    if exercise.measure is not Measure.MEAN:
        seconds = outcome.pooled(BASELINE).seconds
        reasons.append(
            f"the event is rare, and {seconds:g} s may be too short to meet it; --seconds says "
            "for how long"
        )
    if (outcome.host_share or 0.0) > DISTURBING_SHARE:
        reasons.append("the host's stalls hit flaw and fix alike")
    if reasons:
        yield f"Possible reasons: {'; '.join(reasons)}."


def _counters(outcome: Outcome) -> Iterator[str]:
    """The program's other counts, such as cycles that overran."""
    counted = []
    for variant in outcome.variants:
        notes = outcome.pooled(variant).notes
        if notes:
            figures = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in notes.items())
            counted.append(f"with {outcome.exercise.variant_label(variant)}: {figures}")
    if counted:
        yield f"Counted {'; '.join(counted)}."


def _disturbances(outcome: Outcome) -> Iterator[str]:
    measured = [outcome.pooled(variant) for variant in outcome.variants]
    reason = next((each.reason for each in measured if not each.real_time), "")
    if reason:
        yield f"Not real-time, so what priorities do cannot be shown: {reason}."
    if (outcome.host_share or 0.0) > DISTURBING_SHARE:
        yield (
            f"The host of this virtual machine took {100 * (outcome.host_share or 0.0):.1f} % of "
            "the CPU time; single large values may be its doing."
        )


def micro(value_us: float) -> str:
    """With three significant digits below 100 µs, in whole microseconds above."""
    if value_us >= 100:
        return f"{value_us:.0f} µs"
    return f"{value_us:.3g} µs"


def factor_text(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio >= 10 else f"{ratio:.1f} times"


def _capital(words: str) -> str:
    return words[0].upper() + words[1:]

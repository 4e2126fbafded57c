# SPDX-License-Identifier: Apache-2.0
"""The claims of the thesis's chapter 7, in its order, each with how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean, median

from rclrt_experiments.comparison import all_of
from rclrt_experiments.published import (
    FLAT,
    LENGTHS,
    LEVELS,
    MEAN_JITTER,
    MEAN_MISSES,
    MEAN_WORST,
    MEDIAN_WORST,
    OURS,
    PC,
    STANDARD,
    SYN,
    SYNC_LENGTHS,
    TABLE_7_4,
    TD,
    TRIALS,
    Claim,
    Evidence,
    Metric,
    Place,
    compare_trials,
    falls,
    rises,
    shown,
)
from rclrt_experiments.rows import OverheadRow

NAMES = {STANDARD: "standard", PC: "PC", TD: "TD", SYN: "TD + synthesis", OURS: "ours"}
NEW = (PC, TD)
BUSY, SHORT, IDLE = "length 4, 60 %", "length 1, 60 %", "length 1, 15 %"
CHANCE = 0.05
"""A count of 0 says that nothing is there if chance gives it less often than this."""
CLEAN = 100
"""Chain-runs without a miss say that it is rare: less than 3 % (rule of three)."""
SMALL = 0.05
"""A median that is better by less than this part of it is not: published was 0.07 at length 9."""
ABOVE_20 = 20
IN_PHASE = (
    "here a response starts at the nominal release and all timers start together; the thesis "
    "starts to count when the timer's callback starts, which hides the wait before it"
)
ABOVE = (
    f"{IN_PHASE}. That wait may be for less urgent callbacks of other executors, too: each gives "
    "its own priorities the highest of SCHED_FIFO (thesis, section 5.1.3)"
)
MERGES = (
    "table 7.8 leaves out the merge probability, on which the number of syncs depends (section "
    "6.2.3). Raising a callback for one chain delays others, which the median of all chains counts"
)
INTERVAL = (
    "The thesis took the time from the retrieval of a message to the callback, within the executor "
    "and differently in each; here it is the whole time from ready, with the middleware and, for "
    "TD, the start of a thread, as far as nothing earlier ran"
)

Found = tuple[bool | None, str]
Time = Callable[[OverheadRow], float]


def _middle(row: OverheadRow) -> float:
    return row.p50_us


def _width(row: OverheadRow) -> float:
    return row.p98_us - row.p2_us


def _longest(row: OverheadRow) -> float:
    return row.worst_us


def _standard_takes(evidence: Evidence, point: str, time: Time, what: str, *, more: bool) -> Found:
    """Whether the time of standard is longer than those of PC and TD, or shorter than both."""
    found = {name: evidence.launches(point, name, time) for name in (STANDARD, *NEW)}
    answers = []
    for name in NEW:
        pair = (found[STANDARD], found[name]) if more else (found[name], found[STANDARD])
        answers.append(compare_trials([pair], median).more())
    middles = (
        f"{NAMES[name]} {median([value for own in trials.values() for value in own]):.1f} µs"
        for name, trials in found.items()
    )
    return all_of(*answers), f"{what}, median of the trials: {', '.join(middles)}"


def _counts(evidence: Evidence, place: Place, executors: Sequence[str]) -> str:
    """Chain-runs that missed, at each point, and of how many."""
    lines = (
        f"{NAMES[name]} {' '.join(map(str, evidence.misses(place, name)))}" for name in executors
    )
    counts = {len(own.rows) for name in executors for own in evidence.samples(place, name)}
    of = f" of {counts.pop()} at each" if len(counts) == 1 else ""
    return "; ".join(lines) + of


def _values(evidence: Evidence, place: Place, executors: Sequence[str], metric: Metric) -> str:
    lines = (f"{NAMES[name]} {shown(evidence.series(place, name, metric))}" for name in executors)
    return "; ".join(lines)


def _more(
    evidence: Evidence,
    place: Place,
    high: str,
    low: Sequence[str],
    metric: Metric,
    *,
    strictly: bool = True,
) -> Found:
    """One executor has more than each of the others, at each point."""
    say = _counts if metric is MEAN_MISSES else partial(_values, metric=metric)
    answers = (
        evidence.compare(place, high, other, metric).more(strictly=strictly) for other in low
    )
    return all_of(*answers), say(evidence, place, (high, *low))


def _ours_no_more(evidence: Evidence, place: Place) -> Found:
    answers = (evidence.compare(place, name, OURS, MEAN_MISSES).no_less() for name in NEW)
    return all_of(*answers), _counts(evidence, place, (*NEW, OURS))


def _in_the_mean(
    evidence: Evidence, place: Place, executors: Sequence[str], other: str, metric: Metric, *,
    more: bool,
) -> Found:  # fmt: skip
    """In the mean of all points each executor has more, or less, than the other one."""
    answers: list[bool | None] = []
    said = []
    for name in executors:
        pair = (name, other) if more else (other, name)
        mean = evidence.compare(place, *pair, metric).mean
        answers.append(True if mean.low > 0 else False if mean.high < 0 else None)
        value, of_other = (fmean(evidence.series(place, each, metric)) for each in (name, other))
        if metric is MEAN_JITTER and value > 0:
            by = f"by {100 * (of_other / value - 1):.0f} % more than {NAMES[name]}"
            said.append(f"{NAMES[other]} {by}")
        else:
            said.append(f"{NAMES[name]} {_ratio(value, of_other)} that of {NAMES[other]}")
    return all_of(*answers), "; ".join(said)


def _nothing(evidence: Evidence, place: Place, executors: Sequence[str]) -> Found:
    """None of the chains missed."""
    answers: list[bool | None] = []
    for name in executors:
        samples, found = evidence.samples(place, name), sum(evidence.misses(place, name))
        runs = sum(len(own.rows) for own in samples)
        clean = True if runs >= CLEAN else None
        answers.append(_by_chance(found, samples[0].trials) if found else clean)
    return all_of(*answers), _counts(evidence, place, executors)


def _by_chance(found: int, trials: int) -> bool | None:
    """None if so many misses in these trials, and none in the published ones, may be chance: the
    conditional test of two Poisson counts, all of which would fall into these. Else False."""
    return False if (trials / (TRIALS + trials)) ** found < CHANCE else None


def _something(evidence: Evidence, place: Place, executor: str, published: int) -> Found:
    """A chain missed. If not, by chance: so many as published and here together would all fall into
    the published trials (the conditional test of two Poisson counts)."""
    (found,), (sample,) = evidence.misses(place, executor), evidence.samples(place, executor)
    chance = (TRIALS / (TRIALS + sample.trials)) ** published
    said = _counts(evidence, place, (executor,))
    return True if found > 0 else False if chance < CHANCE else None, said


def _misses_rise(evidence: Evidence) -> Found:
    place = Place("utilisation", LEVELS)
    answers: list[bool | None] = []
    for name in (STANDARD, *NEW):
        first, *_, last = evidence.observed(place, name, MEAN_MISSES)
        by = compare_trials([(last, first)], fmean).mean
        holds = rises(evidence.misses(place, name)) and by.low > 0
        answers.append(True if holds else False if by.high < 0 else None)
    return all_of(*answers), _counts(evidence, place, (STANDARD, *NEW))


def _standard_above_20(evidence: Evidence) -> Found:
    place = Place("chain-length", LENGTHS)
    limit = ABOVE_20 / TRIALS
    answers: list[bool | None] = []
    for trials in evidence.observed(place, STANDARD, MEAN_MISSES):
        none = {trial: [0.0] for trial in trials}
        (by,) = compare_trials([(trials, none)], fmean).points
        high = by.high if by.value > 0 else 3 / len(trials)  # rule of three
        answers.append(True if by.low > limit else False if high < limit else None)
    return all_of(*answers), _counts(evidence, place, (STANDARD,))


def _grows(evidence: Evidence, executor: str, metric: Metric, points: Sequence[str]) -> Found:
    """An executor has more at the second of two chain lengths than at the first."""
    place = Place("chain-length", points)
    before, after = evidence.observed(place, executor, metric)
    by = compare_trials([(after, before)], metric.statistic).mean
    say = _counts if metric is MEAN_MISSES else partial(_values, metric=metric)
    holds = True if by.low > 0 else False if by.high < 0 else None
    return holds, say(evidence, place, (executor,))


def _fall(evidence: Evidence, executors: Sequence[str], metric: Metric) -> Found:
    """What executors have becomes less with the length of the chains."""
    place = Place("chain-length", LENGTHS)
    said = _values(evidence, place, executors, metric)
    return all_of(*(_falls(evidence, place, name, metric) for name in executors)), said


def _falls(evidence: Evidence, place: Place, executor: str, metric: Metric) -> bool | None:
    """By more than FLAT of the first, and beyond chance."""
    observed = evidence.observed(place, executor, metric)
    values = list(map(metric.of, observed))
    by = compare_trials([(observed[0], observed[-1])], metric.statistic).mean
    if falls(values) and by.value > values[0] * FLAT and by.low > 0:
        return True
    return False if values[0] > 0 and by.high < values[0] * FLAT else None


def _standard_flat(evidence: Evidence) -> Found:
    place = Place("chain-length", LENGTHS)
    first, *_, last = observed = evidence.observed(place, STANDARD, MEDIAN_WORST)
    by = compare_trials([(first, last)], median).mean
    limit = FLAT * MEDIAN_WORST.of(first)
    said = f"standard {shown([MEDIAN_WORST.of(each) for each in observed])}"
    return True if by.high < limit else False if by.low > limit else None, said


def _urgent_less(evidence: Evidence, metric: Metric) -> Found:
    """Chain 0 has less than chain 2 under PC and TD, at each length."""
    answers, said = [], []
    for name in NEW:
        urgent, other = (
            evidence.observed(Place("priority-chain", LENGTHS, chain), name, metric)
            for chain in ("chain0", "chain2")
        )
        pairs = list(zip(other, urgent, strict=True))
        answers.append(compare_trials(pairs, metric.statistic).more(strictly=False))
        said.append(
            f"{NAMES[name]} {shown(list(map(metric.of, urgent)))} and "
            f"{shown(list(map(metric.of, other)))}"
        )
    return all_of(*answers), f"chain 0 and 2: {'; '.join(said)}"


def _urgent_clean(evidence: Evidence) -> Found:
    place = Place("priority-chain", LENGTHS[-1:], "chain0")
    (found,), (sample,) = evidence.misses(place, TD), evidence.samples(place, TD)
    clean = _by_chance(found, sample.trials) if found else True
    missed, _ = _something(evidence, place, STANDARD, published=24)
    return all_of(clean, missed), _counts(evidence, place, (STANDARD, TD))


def _synthesis_helps(evidence: Evidence, place: Place) -> Found:
    return _more(evidence, place, TD, (SYN,), MEDIAN_WORST)


def _synthesis_does_not(evidence: Evidence, place: Place) -> Found:
    by = evidence.compare(place, TD, SYN, MEDIAN_WORST).mean
    (before,) = evidence.series(place, TD, MEDIAN_WORST)
    said = _values(evidence, place, (TD, SYN), MEDIAN_WORST)
    return False if by.low > 0 else True if by.high < SMALL * before else None, said


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f} times" if other > 0 else f"{one:.3f}, not comparable with the 0"


UTILISATION = Place("utilisation", LEVELS)
LENGTH = Place("chain-length", LENGTHS)
SYNTHESIS = Place("synthesis", SYNC_LENGTHS)


def _urgent(points: Sequence[str], chain: str = "chain0") -> Place:
    return Place("priority-chain", points, chain)


CLAIMS = (
    Claim("7.3.1", "At length 4 and 60 %, PC and TD take less time than standard (median)",
          partial(_standard_takes, point=BUSY, time=_middle, what="median", more=True),
          otherwise=INTERVAL),
    Claim("7.3.1", "At length 4 and 60 %, the times of PC and TD lie closer together than those "
          "of standard",
          partial(_standard_takes, point=BUSY, time=_width, what="2nd to 98th percentile",
                  more=True), otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 60 %, standard still has the highest median",
          partial(_standard_takes, point=SHORT, time=_middle, what="median", more=True),
          otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 60 %, the times of standard still are spread wider",
          partial(_standard_takes, point=SHORT, time=_width, what="2nd to 98th percentile",
                  more=True), otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 15 %, standard has the lowest median",
          partial(_standard_takes, point=IDLE, time=_middle, what="median", more=False),
          otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 15 %, standard has the largest outliers",
          partial(_standard_takes, point=IDLE, time=_longest, what="worst", more=True),
          otherwise=INTERVAL),
    Claim("7.3.2", "Table 7.4: at each utilisation standard misses at least as often as PC and TD, "
          "and in all more often",
          partial(_more, place=UTILISATION, high=STANDARD, low=NEW, metric=MEAN_MISSES,
                  strictly=False)),
    Claim("7.3.2", "Table 7.4: TD misses nothing below 60 %",
          partial(_nothing, place=Place("utilisation", LEVELS[:5]), executors=(TD,))),
    Claim("7.3.2", "Table 7.4: standard misses at 10 % already",
          partial(_something, place=Place("utilisation", LEVELS[:1]), executor=STANDARD,
                  published=TABLE_7_4[STANDARD][0])),
    Claim("7.3.2", "Table 7.4: PC misses at 10 % already",
          partial(_something, place=Place("utilisation", LEVELS[:1]), executor=PC,
                  published=TABLE_7_4[PC][0])),
    Claim("7.3.2", "Table 7.4: misses rise with the utilisation", _misses_rise),
    Claim("7.3.2", "At 90 % PC misses more often than TD (published: 102 and 62 of 250)",
          partial(_more, place=Place("utilisation", LEVELS[-1:]), high=PC, low=(TD,),
                  metric=MEAN_MISSES)),
    Claim("7.3.2", "`preemptive` misses no more often than PC and TD at any utilisation",
          partial(_ours_no_more, place=UTILISATION), published=False),
    Claim("7.3.2", "At 60 % standard has a higher mean jitter than TD (published: by 72 %)",
          partial(_more, place=Place("utilisation", ("60 %",)), high=STANDARD, low=(TD,),
                  metric=MEAN_JITTER)),
    Claim("7.3.2", "Over all utilisations standard has a higher mean jitter than TD (published: by "
          "286 %) and PC (252 %)",
          partial(_in_the_mean, place=UTILISATION, executors=NEW, other=STANDARD,
                  metric=MEAN_JITTER, more=False)),
    Claim("7.3.3", "PC and TD miss nothing beyond length 6",
          partial(_nothing, place=Place("chain-length", LENGTHS[3:]), executors=NEW), ABOVE),
    Claim("7.3.3", f"Standard misses more than {ABOVE_20} times in {TRIALS} trials at every length",
          _standard_above_20, IN_PHASE),
    Claim("7.3.3", "At every length standard has a higher mean jitter than TD (published: at least "
          "1.89 times)",
          partial(_more, place=LENGTH, high=STANDARD, low=(TD,), metric=MEAN_JITTER)),
    Claim("7.3.3", "Over all lengths standard has a higher mean jitter than TD (published: by "
          "360 %)",
          partial(_in_the_mean, place=LENGTH, executors=(TD,), other=STANDARD,
                  metric=MEAN_JITTER, more=False)),
    Claim("7.3.3", "Table 7.6: at every length standard has the highest median response",
          partial(_more, place=LENGTH, high=STANDARD, low=NEW, metric=MEDIAN_WORST)),
    Claim("7.3.3", "Table 7.6: the medians of PC and TD fall with the length",
          partial(_fall, executors=NEW, metric=MEDIAN_WORST)),
    Claim("7.3.3", "The mean jitter of PC and TD falls with the length",
          partial(_fall, executors=NEW, metric=MEAN_JITTER)),
    Claim("7.3.3", "The misses of PC and TD fall with the length",
          partial(_fall, executors=NEW, metric=MEAN_MISSES)),
    Claim("7.3.3", "Table 7.6: the median of standard does not fall with the length",
          _standard_flat),
    Claim("7.3.3", "Standard misses more often at length 8 than at length 2",
          partial(_grows, executor=STANDARD, metric=MEAN_MISSES, points=(LENGTHS[0], LENGTHS[3]))),
    Claim("7.3.3", "Standard has more jitter at length 4 than at length 2",
          partial(_grows, executor=STANDARD, metric=MEAN_JITTER, points=LENGTHS[:2])),
    Claim("7.3.3", "`preemptive` misses no more often than PC and TD at any length",
          partial(_ours_no_more, place=LENGTH), published=False),
    Claim("7.3.4", "Chain 0 responds faster under PC and TD than under standard (published: in "
          "27 % of its time)",
          partial(_in_the_mean, place=_urgent(LENGTHS), executors=NEW, other=STANDARD,
                  metric=MEAN_WORST, more=False)),
    Claim("7.3.4", "Chain 2 responds slower under PC (published: by 17 %) and TD (15 %)",
          partial(_in_the_mean, place=_urgent(LENGTHS, "chain2"), executors=NEW, other=STANDARD,
                  metric=MEAN_WORST, more=True), IN_PHASE),
    Claim("7.3.4", "Under PC and TD chain 0 responds faster than chain 2 at every length",
          partial(_urgent_less, metric=MEAN_WORST), ABOVE),
    Claim("7.3.4", "Under PC and TD chain 0 misses less often than chain 2",
          partial(_urgent_less, metric=MEAN_MISSES), ABOVE),
    Claim("7.3.4", "Under PC and TD chain 0 has less jitter than chain 2 at every length",
          partial(_urgent_less, metric=MEAN_JITTER), ABOVE),
    Claim("7.3.4", "At length 10 chain 0 misses nothing under TD, and misses under standard "
          "(published: 24)", _urgent_clean, ABOVE),
    Claim("7.3.4", "At length 10 chain 0 has more jitter under standard than under TD (published: "
          "13 times)",
          partial(_more, place=_urgent(LENGTHS[-1:]), high=STANDARD, low=(TD,),
                  metric=MEAN_JITTER)),
    Claim("7.3.4", "At length 2 chain 2 has more jitter under PC than under standard (published: "
          "1.35 times)",
          partial(_more, place=_urgent(LENGTHS[:1], "chain2"), high=PC, low=(STANDARD,),
                  metric=MEAN_JITTER), IN_PHASE),
    Claim("7.3.6", "Table 7.9: TD has lower medians than standard at every length",
          partial(_more, place=SYNTHESIS, high=STANDARD, low=(TD,), metric=MEDIAN_WORST),
          IN_PHASE),
    Claim("7.3.6", "Table 7.9: synthesis helps at length 9 (published: about 7 %)",
          partial(_synthesis_helps, place=Place("synthesis", SYNC_LENGTHS[-1:])), MERGES),
    Claim("7.3.6", "Table 7.9: synthesis does not help at length 3",
          partial(_synthesis_does_not, place=Place("synthesis", SYNC_LENGTHS[:1])), MERGES),
)  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""The claims of the thesis's chapter 7, in its order, each with its judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import ceil

from rclrt_experiments.judges import (
    ABOVE_20,
    BUSY,
    IDLE,
    NEW,
    SHORT,
    fall_with_length,
    grows,
    has_more,
    in_the_mean,
    longest,
    middle,
    miss_nothing,
    misses_rise,
    misses_something,
    ours_misses_no_more,
    standard_does_not_fall,
    standard_misses_above_20,
    standard_takes,
    synthesis_does_not_help,
    synthesis_helps,
    urgent_has_less,
    urgent_misses_nothing,
    width,
)
from rclrt_experiments.published import (
    LENGTHS,
    LEVELS,
    MEAN_JITTER,
    MEAN_MISSES,
    MEAN_WORST,
    MEDIAN_WORST,
    PC,
    STANDARD,
    SYNC_LENGTHS,
    TABLE_7_4,
    TD,
    TRIALS,
    Claim,
    Place,
)

ABOVE = (
    "A chain may wait for less urgent callbacks of other executors, for each gives its own "
    "priorities the highest of SCHED_FIFO (thesis, section 5.1.3)"
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

CHAINS = 5
"""Chains of an application. In one trial, all of them may miss."""
UTILISATION = Place("utilisation", LEVELS)
LENGTH = Place("chain-length", LENGTHS)
SYNTHESIS = Place("synthesis", SYNC_LENGTHS)


def _urgent(points: Sequence[str], chain: str = "chain0") -> Place:
    return Place("priority-chain", points, chain)


CLAIMS = (
    Claim("7.3.1", "At length 4 and 60 %, PC and TD take less time than standard (median)",
          partial(standard_takes, point=BUSY, time=middle, what="median", more=True),
          otherwise=INTERVAL),
    Claim("7.3.1", "At length 4 and 60 %, the times of PC and TD lie closer together than those "
          "of standard",
          partial(standard_takes, point=BUSY, time=width, what="2nd to 98th percentile",
                  more=True), otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 60 %, standard still has the highest median",
          partial(standard_takes, point=SHORT, time=middle, what="median", more=True),
          otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 60 %, the times of standard still are spread wider",
          partial(standard_takes, point=SHORT, time=width, what="2nd to 98th percentile",
                  more=True), otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 15 %, standard has the lowest median",
          partial(standard_takes, point=IDLE, time=middle, what="median", more=False),
          otherwise=INTERVAL),
    Claim("7.3.1", "At length 1 and 15 %, standard has the largest outliers",
          partial(standard_takes, point=IDLE, time=longest, what="worst", more=True),
          otherwise=INTERVAL),
    Claim("7.3.2", "Table 7.4: at each utilisation standard misses at least as often as PC and TD, "
          "and in all more often",
          partial(has_more, place=UTILISATION, high=STANDARD, low=NEW, metric=MEAN_MISSES,
                  strictly=False)),
    Claim("7.3.2", "Table 7.4: TD misses nothing below 60 %",
          partial(miss_nothing, place=Place("utilisation", LEVELS[:5]), executors=(TD,))),
    Claim("7.3.2", "Table 7.4: standard misses at 10 % already",
          partial(misses_something, place=Place("utilisation", LEVELS[:1]), executor=STANDARD,
                  published=ceil(TABLE_7_4[STANDARD][0] / CHAINS))),
    Claim("7.3.2", "Table 7.4: PC misses at 10 % already",
          partial(misses_something, place=Place("utilisation", LEVELS[:1]), executor=PC,
                  published=ceil(TABLE_7_4[PC][0] / CHAINS))),
    Claim("7.3.2", "Table 7.4: misses rise with the utilisation", misses_rise),
    Claim("7.3.2", "At 90 % PC misses more often than TD (published: 102 and 62 of 250)",
          partial(has_more, place=Place("utilisation", LEVELS[-1:]), high=PC, low=(TD,),
                  metric=MEAN_MISSES)),
    Claim("7.3.2", "`preemptive` misses no more often than PC and TD at any utilisation",
          partial(ours_misses_no_more, place=UTILISATION), published=False),
    Claim("7.3.2", "At 60 % standard has a higher mean jitter than TD (published: by 72 %)",
          partial(has_more, place=Place("utilisation", ("60 %",)), high=STANDARD, low=(TD,),
                  metric=MEAN_JITTER)),
    Claim("7.3.2", "Over all utilisations standard has a higher mean jitter than TD (published: by "
          "286 %) and PC (252 %)",
          partial(in_the_mean, place=UTILISATION, executors=NEW, other=STANDARD,
                  metric=MEAN_JITTER, more=False)),
    Claim("7.3.3", "PC and TD miss nothing beyond length 6",
          partial(miss_nothing, place=Place("chain-length", LENGTHS[3:]), executors=NEW), ABOVE,
          in_phase=True),
    Claim("7.3.3", f"Standard misses more than {ABOVE_20} times in {TRIALS} trials at every length",
          standard_misses_above_20, in_phase=True),
    Claim("7.3.3", "At every length standard has a higher mean jitter than TD (published: at least "
          "1.89 times)",
          partial(has_more, place=LENGTH, high=STANDARD, low=(TD,), metric=MEAN_JITTER)),
    Claim("7.3.3", "Over all lengths standard has a higher mean jitter than TD (published: by "
          "360 %)",
          partial(in_the_mean, place=LENGTH, executors=(TD,), other=STANDARD,
                  metric=MEAN_JITTER, more=False)),
    Claim("7.3.3", "Table 7.6: at every length standard has the highest median response",
          partial(has_more, place=LENGTH, high=STANDARD, low=NEW, metric=MEDIAN_WORST)),
    Claim("7.3.3", "Table 7.6: the medians of PC and TD fall with the length",
          partial(fall_with_length, executors=NEW, metric=MEDIAN_WORST)),
    Claim("7.3.3", "The mean jitter of PC and TD falls with the length",
          partial(fall_with_length, executors=NEW, metric=MEAN_JITTER)),
    Claim("7.3.3", "The misses of PC and TD fall with the length",
          partial(fall_with_length, executors=NEW, metric=MEAN_MISSES)),
    Claim("7.3.3", "Table 7.6: the median of standard does not fall with the length",
          standard_does_not_fall),
    Claim("7.3.3", "Standard misses more often at length 8 than at length 2",
          partial(grows, executor=STANDARD, metric=MEAN_MISSES, points=(LENGTHS[0], LENGTHS[3]))),
    Claim("7.3.3", "Standard has more jitter at length 4 than at length 2",
          partial(grows, executor=STANDARD, metric=MEAN_JITTER, points=LENGTHS[:2])),
    Claim("7.3.3", "`preemptive` misses no more often than PC and TD at any length",
          partial(ours_misses_no_more, place=LENGTH), published=False),
    Claim("7.3.4", "Chain 0 responds faster under PC and TD than under standard (published: in "
          "27 % of its time)",
          partial(in_the_mean, place=_urgent(LENGTHS), executors=NEW, other=STANDARD,
                  metric=MEAN_WORST, more=False)),
    Claim("7.3.4", "Chain 2 responds slower under PC (published: by 17 %) and TD (15 %)",
          partial(in_the_mean, place=_urgent(LENGTHS, "chain2"), executors=NEW, other=STANDARD,
                  metric=MEAN_WORST, more=True), in_phase=True),
    Claim("7.3.4", "Under PC and TD chain 0 responds faster than chain 2 at every length",
          partial(urgent_has_less, metric=MEAN_WORST), ABOVE, in_phase=True),
    Claim("7.3.4", "Under PC and TD chain 0 misses less often than chain 2 at every length",
          partial(urgent_has_less, metric=MEAN_MISSES), ABOVE, in_phase=True),
    Claim("7.3.4", "Under PC and TD chain 0 has less jitter than chain 2 at every length",
          partial(urgent_has_less, metric=MEAN_JITTER), ABOVE, in_phase=True),
    Claim("7.3.4", "At length 10 chain 0 misses nothing under TD, and misses under standard "
          "(published: 24)", urgent_misses_nothing, ABOVE, in_phase=True),
    Claim("7.3.4", "At length 10 chain 0 has more jitter under standard than under TD (published: "
          "13 times)",
          partial(has_more, place=_urgent(LENGTHS[-1:]), high=STANDARD, low=(TD,),
                  metric=MEAN_JITTER)),
    Claim("7.3.4", "At length 2 chain 2 has more jitter under PC than under standard (published: "
          "1.35 times)",
          partial(has_more, place=_urgent(LENGTHS[:1], "chain2"), high=PC, low=(STANDARD,),
                  metric=MEAN_JITTER), in_phase=True),
    Claim("7.3.6", "Table 7.9: TD has lower medians than standard at every length",
          partial(has_more, place=SYNTHESIS, high=STANDARD, low=(TD,), metric=MEDIAN_WORST),
          in_phase=True),
    Claim("7.3.6", "Table 7.9: synthesis helps at length 9 (published: about 7 %)",
          partial(synthesis_helps, place=Place("synthesis", SYNC_LENGTHS[-1:])), MERGES),
    Claim("7.3.6", "Table 7.9: synthesis does not help at length 3",
          partial(synthesis_does_not_help, place=Place("synthesis", SYNC_LENGTHS[:1])), MERGES),
)  # fmt: skip

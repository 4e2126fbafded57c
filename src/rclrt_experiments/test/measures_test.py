# SPDX-License-Identifier: Apache-2.0
"""Claims by the thesis's measure, and claims that very many trials decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import pytest
from published_rows import ROW, as_published, chain_runs, claim_of, missing_at
from rclrt_experiments.claims import CLAIMS
from rclrt_experiments.comparison import compare, highest_share
from rclrt_experiments.metrics import Results
from rclrt_experiments.published import LEVELS, PC, STANDARD, SYN, SYNC_LENGTHS, TD, Evidence, judge
from rclrt_experiments.rows import Row


def by_the_thesis(rows: Sequence[Row]) -> Evidence:
    counted = [row.as_the_thesis_counts() for row in rows]
    return Evidence(Results(counted), [], simulated=True, thesis=True)


def test_by_the_thesis_measure_a_wait_before_the_first_callback_does_not_count() -> None:
    """Chain 0 waits for a long callback before its first one starts, then runs without waiting."""
    rows = []
    for row in as_published():
        if (
            row.experiment == "priority-chain"
            and row.chain == "chain0"
            and row.executor != STANDARD
        ):
            row = replace(row, normalised_worst=1.3, jitter=1.1, missed=2,
                          from_start_worst=0.2, from_start_jitter=0.1)  # fmt: skip
        else:
            row = replace(row, from_start_worst=row.normalised_worst, from_start_jitter=row.jitter)
        rows.append(row)
    for text in ("chain 0 responds faster than chain 2", "chain 0 misses less often than chain 2",
                 "chain 0 has less jitter than chain 2"):  # fmt: skip
        claim = claim_of(text)
        ours = judge(claim, Evidence(Results(rows), [], True))
        thesis = judge(claim, by_the_thesis(rows))
        assert (thesis.verdict, ours.verdict) == ("reproduced", "not reproduced")
        assert "nominal release" in ours.observed
        assert "nominal release" not in thesis.observed


def test_rows_that_did_not_keep_the_start_say_so() -> None:
    evidence = by_the_thesis(as_published())
    for claim in CLAIMS:
        judged = judge(claim, evidence)
        assert judged.verdict == "not comparable"
        if not claim.otherwise and "synthesis" not in claim.text:
            assert "from the start of a chain's first callback" in judged.observed, claim


def test_many_trials_of_which_none_differs_decide_against_an_order() -> None:
    row = replace(ROW, varied=LEVELS[-1])
    for trials, verdict in ((50, "not comparable"), (100, "not reproduced")):
        rows = [
            each for own in (PC, TD) for each in chain_runs(replace(row, executor=own), trials, 30)
        ]
        judged = judge(claim_of("PC misses more often than TD"), Evidence(Results(rows), [], True))
        assert judged.verdict == verdict
        assert "PC and TD: no trial differs" in judged.observed


@pytest.mark.parametrize(
    ("trials", "late", "verdict"),
    [
        (400, 8, "not comparable"),  # too few trials for a share of misses
        (1000, 20, "reproduced"),  # 2 %: of 50 such trials a third show none
        (1000, 55, "not comparable"),  # 5.5 %, up to 7.1 %: 50 show none in 2.5 to 6 of 100 cases
        (1000, 80, "not reproduced"),
    ],
)
def test_many_trials_tell_how_often_as_few_as_published_show_nothing(
    trials: int, late: int, verdict: str
) -> None:
    evidence = Evidence(Results(missing_at(("10",), trials, late)), [], simulated=True)
    assert judge(claim_of("miss nothing beyond length 6"), evidence).verdict == verdict


def test_a_share_is_at_most_that_of_wilsons_interval() -> None:
    # Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", 2001: 1 of 10.
    assert highest_share(1, 10) == pytest.approx(0.4042, abs=1e-4)
    assert highest_share(0, 1000) == pytest.approx(0.0038, abs=1e-4)


def test_synthesis_that_changes_nothing_in_many_applications_does_not_help() -> None:
    rows = [
        each
        for name in (TD, SYN)
        for each in chain_runs(
            replace(ROW, experiment="synthesis", executor=name, varied=SYNC_LENGTHS[0]), 100, 0
        )
    ]
    claim = claim_of("synthesis does not help at length 3")
    same = {("synthesis", SYNC_LENGTHS[0])}
    judged = judge(claim, Evidence(Results(rows), [], True, same))
    assert judged.verdict == "reproduced"
    assert "no simulated time of 100 applications" in judged.observed


def test_the_difference_of_means_of_many_trials_is_that_of_all_their_values() -> None:
    one = {n: [float(n), 1.0] for n in range(200)}
    other = {n: [0.5] * (1 + n % 3) for n in range(200)}
    slow = compare([(one, other)], lambda values: fmean(values))
    assert compare([(one, other)], fmean).mean.value == pytest.approx(slow.mean.value)
    assert compare([(one, other)], fmean).mean.low == pytest.approx(slow.mean.low)

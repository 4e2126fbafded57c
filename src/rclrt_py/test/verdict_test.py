# SPDX-License-Identifier: Apache-2.0
"""The exit codes of --fail-on-miss."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.comparisons.verdict import ANY_CHAIN, verdict
from rclrt_py.errors import EXIT_ABOVE_BOUND, BadInput
from rclrt_py.runs.cause_effect import CauseEffectResult, SamplingPrediction
from rclrt_py.runs.hosts import OverHosts


def with_misses(comparison: Comparison, missed: int, missed_host: int) -> Comparison:
    """Returns only the preemptive executor, with misses of chain obstacle and of no other chain."""
    results = comparison.executors[-1]
    obstacle, *others = (replace(chain, missed=0, missed_host=0) for chain in results.chains)
    obstacle = replace(obstacle, missed=missed, missed_host=missed_host)
    return replace(comparison, executors=(replace(results, chains=(obstacle, *others)),))


@pytest.mark.parametrize(
    ("missed", "missed_host", "asked", "code"),
    [
        (0, 0, ANY_CHAIN, 0),
        (2, 0, None, 0),
        (2, 0, ANY_CHAIN, 1),
        (2, 0, "obstacle", 1),
        (2, 0, "planning", 0),
        (2, 1, "obstacle", 1),
        (2, 2, "obstacle", 0),  # the machine stood still: no scheduler could have met those
    ],
)
def test_a_miss_counts_unless_the_machine_explains_it(
    comparison: Comparison, missed: int, missed_host: int, asked: str | None, code: int
) -> None:
    found, reasons = verdict(with_misses(comparison, missed, missed_host), asked)
    assert found == code
    lines = [f"preemptive: chain obstacle missed {missed - missed_host} deadlines of"]
    assert [each.rpartition(" ")[0] for each in reasons] == lines * code


def test_a_response_that_may_be_late_by_the_clocks_of_the_hosts_is_not_in_time(
    comparison: Comparison,
) -> None:
    calm = with_misses(comparison, 0, 0)
    (results,) = calm.executors
    obstacle, *others = results.chains

    def judged(unknown: int) -> tuple[int, list[str]]:
        chains = (replace(obstacle, over_hosts=OverHosts(unknown, 0.5)), *others)
        return verdict(replace(calm, executors=(replace(results, chains=chains),)), "obstacle")

    assert judged(0) == (0, [])
    code, reasons = judged(3)
    assert code == 1
    assert "; 3 deadlines met or missed: unknown" in reasons[0]


def test_the_baseline_is_judged_only_when_it_ran_alone(comparison: Comparison) -> None:
    base = replace(comparison, executors=comparison.executors[:1])
    assert verdict(base, "obstacle") == (0, [])
    assert verdict(replace(base, is_single_run=True), "obstacle")[0] == 1


def test_an_unknown_chain_is_refused(comparison: Comparison) -> None:
    with pytest.raises(BadInput, match="unknown chain 'obstakle'; did you mean 'obstacle'"):
        verdict(comparison, "obstakle")


def sampled(missed_reaction: int, missed_age: int) -> CauseEffectResult:
    return CauseEffectResult(
        "eye", ("see", "act"), 20.0, 30.0, 9, 8, 12, 1, missed_reaction, missed_age, None, None
    )


def test_a_limit_of_a_chain_that_samples_counts_as_a_deadline(comparison: Comparison) -> None:
    calm = with_misses(comparison, 0, 0)
    (results,) = calm.executors
    late = replace(results, cause_effect_chains=(sampled(0, 2),))
    found, reasons = verdict(replace(calm, executors=(late,)), "eye")
    assert found == 1
    assert reasons == [
        "preemptive: chain eye was 2 times above its largest data age, in 12 outputs"
    ]
    assert verdict(replace(calm, executors=(late,)), "obstacle") == (0, [])
    fine = replace(results, cause_effect_chains=(sampled(0, 0),))
    assert verdict(replace(calm, executors=(fine,)), ANY_CHAIN) == (0, [])


@pytest.mark.parametrize(
    ("above", "by_host", "assumptions", "code", "told"),
    [
        (0, 0, (), 0, []),
        (3, 3, (), 0, []),
        (3, 1, (), EXIT_ABOVE_BOUND, ["docs/explanation/measuring.md says how to tell what does"]),
        (3, 1, ("it is calm",), 0, ["one of these assumptions does not hold: it is calm"]),
    ],
)
def test_an_age_above_a_proved_bound_sets_the_exit_code_unless_the_machine_explains_it(
    comparison: Comparison,
    above: int,
    by_host: int,
    assumptions: tuple[str, ...],
    code: int,
    told: list[str],
) -> None:
    calm = with_misses(comparison, 0, 0)
    (results,) = calm.executors
    status = "conditional" if assumptions else "proved"
    predicted = SamplingPrediction(50.0, 30.0, status, assumptions, 0, above, 0, by_host, "")
    chain = replace(sampled(0, 0), predicted=predicted)
    judged = replace(
        results, cause_effect_chains=(chain,), context={**results.context, "realtime": True}
    )
    found, reasons = verdict(replace(calm, executors=(judged,)), None)
    assert found == code
    assert len(reasons) == len(told)
    for reason, end in zip(reasons, told, strict=True):
        assert reason.startswith(
            "preemptive: 2 reactions or ages of cause-effect chain eye are above their bounds of "
            "50 and 30 ms"
        )
        assert reason.endswith(end)
    simulated = replace(judged, simulated={"seed": 1})
    assert verdict(replace(calm, executors=(simulated,)), None) == (0, [])

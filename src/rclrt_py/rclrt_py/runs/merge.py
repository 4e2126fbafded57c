# SPDX-License-Identifier: Apache-2.0
"""Merges the results of several rounds of one executor into one result. Counts are summed.
Percentiles are not averaged: they are computed again over the instances of all rounds together, or
over their histograms if a round streamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rclrt_py.errors import BadInput
from rclrt_py.runs.cause_effect import CauseEffectResult
from rclrt_py.runs.cause_effect_way import Way
from rclrt_py.runs.histograms import Times, summarise_times
from rclrt_py.runs.hosts import OverHosts
from rclrt_py.runs.results import CallbackResult, ChainResult, Results
from rclrt_py.runs.run_data import Run
from rclrt_py.runs.streamed import Streamed
from rclrt_py.stats import Summary


def merge_runs(runs: Sequence[Run]) -> Results:
    """Returns one result for the rounds of one executor, given in the order of the runs."""
    if not runs:
        raise ValueError("nothing to merge")
    for run in runs[1:]:
        _check_same(runs[0], run)
    results = [run.results for run in runs]
    chain_times = [run.chain_times() for run in runs]
    callback_times = [run.callback_times() for run in runs]
    output_times = [run.cause_effect_times() for run in runs]
    first = results[0]
    return replace(
        first,
        duration_s=round(sum(result.duration_s for result in results), 9),
        rounds=sum(result.rounds for result in results),
        context=merge_contexts([result.context for result in results]),
        chains=tuple(
            _merge_chain(
                [result.chains[index] for result in results],
                [times[chain.id] for times in chain_times],
            )
            for index, chain in enumerate(first.chains)
        ),
        cause_effect_chains=tuple(
            _merge_cause_effect(
                [result.cause_effect_chains[index] for result in results],
                [times[chain.id] for times in output_times],
                [_round_of(run) for run in runs] if len(runs) > 1 else [None],
            )
            for index, chain in enumerate(first.cause_effect_chains)
        ),
        callbacks=tuple(
            _merge_callback(
                [result.callbacks[index] for result in results],
                [times[callback.id] for times in callback_times],
            )
            for index, callback in enumerate(first.callbacks)
        ),
        hops=first.hops if len(runs) == 1 else (),
        streamed=_merge_streamed(results),
        ended=next((result.ended for result in results if result.ended), None),
    )


def _merge_streamed(results: Sequence[Results]) -> Streamed | None:
    """Returns the sums, and the last time, of the rounds that streamed. None: none did."""
    streamed = [result.streamed for result in results if result.streamed is not None]
    if not streamed:
        return None
    return Streamed(
        instances=sum(each.instances for each in streamed),
        kept=sum(each.kept for each in streamed),
        latest_since_ms=streamed[-1].latest_since_ms,
        percentile_error=max(each.percentile_error for each in streamed),
    )


def _merge_held_back(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        **parts[-1],
        "count": sum(part["count"] for part in parts),
        "total_ms": round(sum(part["total_ms"] for part in parts), 6),
        "worst_ms": max(part["worst_ms"] for part in parts),
    }


def merge_contexts(contexts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Merges the facts about the machine during several runs. Stalls, waiting times and lost
    records are summed, and real-time scheduling and locked memory count only if all runs had them;
    other facts are those of the last run."""
    stalls = [context["host_stalls"] for context in contexts]
    held_back = [context["held_back"] for context in contexts if "held_back" in context]
    return {
        **contexts[-1],
        "realtime": all(context["realtime"] for context in contexts),
        "memory_locked": all(context["memory_locked"] for context in contexts),
        "steal_ms": round(sum(context["steal_ms"] for context in contexts), 6),
        "host_stalls": {
            **stalls[-1],
            "count": sum(stall["count"] for stall in stalls),
            "total_ms": round(sum(stall["total_ms"] for stall in stalls), 6),
            "worst_ms": max(stall["worst_ms"] for stall in stalls),
            "valid": all(stall["valid"] for stall in stalls),
        },
        **({"held_back": _merge_held_back(held_back)} if held_back else {}),
        "records_dropped": sum(context["records_dropped"] for context in contexts),
        **_sum_if_stated("foreign_messages", contexts),
    }


def _sum_if_stated(key: str, contexts: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Sums a count that results of earlier versions do not have."""
    counts = [context[key] for context in contexts if key in context]
    return {key: sum(counts)} if counts else {}


def parts_of(results: Results) -> tuple[object, ...]:
    """Returns the values that must be equal in all compared results: application and parts."""
    return (
        results.application["sha256"],
        results.application.get("priorities_sha256"),
        [(chain.id, chain.deadline_ms) for chain in results.chains],
        [callback.id for callback in results.callbacks],
        [
            (chain.id, chain.max_reaction_ms, chain.max_age_ms)
            for chain in results.cause_effect_chains
        ],
    )


def _check_same(first: Run, other: Run) -> None:
    """Rejects a round of another application or executor: such rounds cannot be merged."""
    a, b = first.results, other.results
    if a.executor != b.executor or parts_of(a) != parts_of(b):
        raise BadInput(
            f"{other.directory}: not a round of the same application and executor as "
            f"{first.directory}; leave it out, or measure both again"
        )


def _merge_chain(results: Sequence[ChainResult], times: Sequence[Times]) -> ChainResult:
    return replace(
        results[0],
        released=sum(result.released for result in results),
        completed=sum(result.completed for result in results),
        dropped=sum(result.dropped for result in results),
        pending=sum(result.pending for result in results),
        unmatched=sum(result.unmatched for result in results),
        missed=sum(result.missed for result in results),
        missed_host=sum(result.missed_host for result in results),
        response=summarise_times(times),
        over_hosts=_merge_over_hosts([each.over_hosts for each in results if each.over_hosts]),
    )


def _merge_over_hosts(parts: Sequence[OverHosts]) -> OverHosts | None:
    """Returns the sum of the unknown deadlines, and the largest error. None: no round was over
    several hosts."""
    if not parts:
        return None
    return OverHosts(
        unknown=sum(part.unknown for part in parts), error_ms=max(part.error_ms for part in parts)
    )


def _merge_cause_effect(
    results: Sequence[CauseEffectResult],
    times: Sequence[tuple[Times, Times]],
    rounds: Sequence[int | None],
) -> CauseEffectResult:
    return replace(
        results[0],
        inputs=sum(result.inputs for result in results),
        distinct=sum(result.distinct for result in results),
        outputs=sum(result.outputs for result in results),
        initial=sum(result.initial for result in results),
        missed_reaction=sum(result.missed_reaction for result in results),
        missed_age=sum(result.missed_age for result in results),
        reaction=summarise_times([reactions for reactions, _ in times]),
        age=summarise_times([ages for _, ages in times]),
        worst_reaction=_longest(
            [(result.worst_reaction, result.reaction) for result in results], rounds
        ),
        worst_age=_longest([(result.worst_age, result.age) for result in results], rounds),
        unknown_reaction=_sum_if_known([result.unknown_reaction for result in results]),
        unknown_age=_sum_if_known([result.unknown_age for result in results]),
        error_ms=_largest_if_known([result.error_ms for result in results]),
    )


def _longest(
    rows: Sequence[tuple[Way | None, Summary | None]], rounds: Sequence[int | None]
) -> Way | None:
    """Returns the way of the longest time, with its round. None: there are no times, or a round
    has times and does not state a way, as rounds of earlier versions."""
    if any(times is not None and way is None for way, times in rows):
        return None
    found = [
        way if number is None else replace(way, round=number)
        for (way, _), number in zip(rows, rounds, strict=True)
        if way
    ]
    return max(found, key=lambda way: way.time_ms, default=None)


def _round_of(run: Run) -> int | None:
    """Returns the number in the name `round-2` of a run's directory."""
    number = run.directory.name.removeprefix("round-")
    return int(number) if number.isdecimal() else None


def _merge_callback(
    results: Sequence[CallbackResult], times: Sequence[tuple[Times, Times, Times]]
) -> CallbackResult:
    return replace(
        results[0],
        released=sum(result.released for result in results),
        completed=sum(result.completed for result in results),
        dropped=sum(result.dropped for result in results),
        missed=sum(result.missed for result in results),
        response=summarise_times([responses for responses, _, _ in times]),
        dispatch=summarise_times([dispatches for _, dispatches, _ in times]),
        execution=summarise_times([executions for _, _, executions in times]),
        preemptions=sum(result.preemptions for result in results),
        migrations=_sum_if_known([result.migrations for result in results]),
        error_ms=_largest_if_known([result.error_ms for result in results]),
    )


def _sum_if_known(counts: Sequence[int | None]) -> int | None:
    """Returns the sum of the counts that are known. None: none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _largest_if_known(errors_ms: Sequence[float | None]) -> float | None:
    """Returns the largest of the errors that are stated. None: none is."""
    return max((error for error in errors_ms if error is not None), default=None)

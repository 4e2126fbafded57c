# SPDX-License-Identifier: Apache-2.0
"""The exit code of a comparison, and its reasons."""

from __future__ import annotations

from collections.abc import Iterable

from rclrt_py.bounds.comparing import judgement
from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, did_you_mean

ANY_CHAIN = ""
"""Value of --fail-on-miss without the name of a chain."""


def check_chain(name: str, chains: Iterable[str], sampled: Iterable[str]) -> None:
    """Rejects a value of --fail-on-miss that is neither a chain nor one that samples."""
    known = list(dict.fromkeys([*chains, *sampled]))
    if name not in known:
        raise BadInput(
            f"--fail-on-miss: unknown chain '{name}'{did_you_mean(name, known)}\n"
            f"  the application has: {', '.join(known)}"
        )


def verdict(comparison: Comparison, fail_on_miss: str | None) -> tuple[int, list[str]]:
    """Returns the exit code of a run or comparison, and the reasons for it: first the observations
    above a bound, then the deadline misses of the chain `fail_on_miss` (ANY_CHAIN: of every chain;
    None: misses do not count). Throws BadInput for an unknown chain."""
    above, reasons = judgement(comparison.executors)
    if above or fail_on_miss is None:
        return above, reasons
    missed = _misses(comparison, fail_on_miss)
    return (EXIT_NO if missed else EXIT_OK), reasons + missed


def _misses(comparison: Comparison, fail_on_miss: str) -> list[str]:
    """Returns a sentence for each executor and chain with deadline misses. Misses of the baseline
    executor count only if the baseline is the only executor that ran."""
    judged = [
        results
        for results in comparison.executors
        if comparison.is_single_run or results is not comparison.baseline
    ]
    found = []
    for results in judged:
        if fail_on_miss != ANY_CHAIN:
            check_chain(
                fail_on_miss,
                (chain.id for chain in results.chains),
                (chain.id for chain in results.cause_effect_chains),
            )
        found += [
            f"{results.executor}: chain {chain.id} missed {chain.missed_own} deadlines of "
            f"{chain.due}"
            for chain in results.chains
            if chain.missed_own and fail_on_miss in (ANY_CHAIN, chain.id)
        ]
        found += [
            f"{results.executor}: chain {chain.id}: {chain.over_hosts.text}"
            for chain in results.chains
            if chain.over_hosts and chain.over_hosts.unknown
            if fail_on_miss in (ANY_CHAIN, chain.id)
        ]
        for chain in results.cause_effect_chains:
            if fail_on_miss in (ANY_CHAIN, chain.id):
                found += [
                    f"{results.executor}: chain {chain.id} was {missed} times above its largest "
                    f"{what}, in {chain.outputs} outputs"
                    for missed, what in (
                        (chain.missed_reaction, "reaction time"),
                        (chain.missed_age, "data age"),
                    )
                    if missed
                ]
    return found

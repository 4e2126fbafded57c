# SPDX-License-Identifier: Apache-2.0
"""The exit code of a comparison, and its reasons."""

from __future__ import annotations

from rclrt_py.bounds.comparing import judgement
from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, did_you_mean

ANY_CHAIN = ""
"""Value of --fail-on-miss without the name of a chain."""


def check_chain(name: str, known: list[str]) -> None:
    if name not in known:
        raise BadInput(
            f"--fail-on-miss: unknown chain '{name}'{did_you_mean(name, known)}\n"
            f"  the application has: {', '.join(known)}"
        )


def verdict(comparison: Comparison, fail_on_miss: str | None) -> tuple[int, list[str]]:
    """Returns the exit code and its reasons: first the observations above their bound, then, for
    --fail-on-miss, the misses of that chain or of any chain. Throws BadInput for an unknown chain.
    """
    above, reasons = judgement(comparison.executors)
    if above or fail_on_miss is None:
        return above, reasons
    missed = _misses(comparison, fail_on_miss)
    return (EXIT_NO if missed else EXIT_OK), reasons + missed


def _misses(comparison: Comparison, fail_on_miss: str) -> list[str]:
    """Returns a line for each chain with misses that count. Those of a baseline do not, unless it
    ran alone."""
    judged = [
        results
        for results in comparison.executors
        if comparison.is_single_run or results is not comparison.baseline
    ]
    found = []
    for results in judged:
        if fail_on_miss != ANY_CHAIN:
            check_chain(fail_on_miss, [chain.id for chain in results.chains])
        found += [
            f"{results.executor}: chain {chain.id} missed {chain.missed_own} deadlines of "
            f"{chain.due}"
            for chain in results.chains
            if chain.missed_own and fail_on_miss in (ANY_CHAIN, chain.id)
        ]
    return found

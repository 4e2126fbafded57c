# SPDX-License-Identifier: Apache-2.0
"""The report's first sentence, made from the numbers alone."""

from __future__ import annotations

import math

from rclrt_py.comparisons.comparison import Comparison
from rclrt_py.executors import FOCUS
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.runs.results import ChainResult, Results


def focus(comparison: Comparison) -> Results:
    """Returns the results of the executor that the headline is about: `preemptive` if it ran,
    otherwise the last executor that is not the baseline, otherwise the baseline."""
    others = [item for item in comparison.executors if item is not comparison.baseline]
    named = [item for item in others if item.executor == FOCUS]
    return (named or others or list(comparison.executors))[-1]


def headline(comparison: Comparison) -> str:
    hard = in_report_order(comparison)[0]
    subject = focus(comparison)
    sentence = (
        f"Under {subject.executor_label}, {_result(subject.chain(hard.id), f'chain {hard.id}')}"
    )
    baseline = comparison.baseline
    if baseline is not None and baseline is not subject:
        sentence += (
            f"; under the {baseline.executor_label} {_result(baseline.chain(hard.id), 'it')}"
        )
    if replayed := comparison.replayed:
        sentence += (
            f". The run repeats a counter-example, which is about instance {replayed.instance} "
            f"of chain {replayed.chain}"
        )
    return sentence + "."


def _result(chain: ChainResult | None, name: str) -> str:
    if chain is None:
        return f"{name} did not run"
    if not chain.released:
        return f"{name} was never released"
    text = f"{name} missed {_missed(chain)}"
    if chain.over_hosts and chain.over_hosts.unknown:
        text += f" (of {chain.over_hosts.unknown} more it is unknown)"
    if chain.response is None:
        return text + " and never completed"
    return (
        f"{text}, with a 99th-percentile response of {milliseconds(chain.response.p99)} "
        f"and {milliseconds(chain.response.jitter)} of jitter"
    )


def _missed(chain: ChainResult) -> str:
    if not chain.missed:
        return f"none of its {chain.due} deadlines"
    text = f"{chain.missed} of its {chain.due} deadlines"
    if not chain.missed_host:
        return text
    if chain.missed_host >= chain.missed:
        what = "all" if chain.missed > 1 else "that one"
    else:
        what = f"{chain.missed_host} of them"
    return f"{text} ({what} explained by a stall of the machine)"


def milliseconds(value: float) -> str:
    """Returns the time (in milliseconds) with three significant digits and its unit, such as "16.0
    ms", in the same format as the rest of the report."""
    number, unit = (value * 1000, "µs") if value < 1 else (value, "ms")
    decimals = 2 - math.floor(math.log10(number)) if number > 0 else 0
    return f"{number:.{max(0, min(decimals, 3))}f} {unit}"

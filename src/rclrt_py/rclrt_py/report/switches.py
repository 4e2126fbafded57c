# SPDX-License-Identifier: Apache-2.0
"""How often the instances of each callback were preempted, and how often they changed the CPU."""

from __future__ import annotations

from typing import Any

from rclrt_py.comparisons.comparison import Comparison

MEASURED = (
    "In a run, a preemption is an involuntary switch of the thread, and an instance moved if it "
    "ended on another CPU than it began on: at least once."
)
SIMULATED = "A simulation counts each."


def switches_data(comparison: Comparison) -> dict[str, Any]:
    """Returns the counts of the callbacks that have any, for the page's script. "executors":
    indices of the executors with known CPUs; "callbacks": for each of these executors the
    preemptions, and the migrations or None."""
    known = [
        index
        for index, results in enumerate(comparison.executors)
        if any(callback.migrations is not None for callback in results.callbacks)
    ]
    rows = []
    for number, callback in enumerate(comparison.executors[0].callbacks):
        own = [comparison.executors[index].callbacks[number] for index in known]
        counts = [(each.preemptions, each.migrations) for each in own]
        if any(preemptions or moved for preemptions, moved in counts):
            rows.append({"id": callback.id, "counts": counts})
    kinds = {comparison.executors[index].simulated is not None for index in known}
    notes = [
        text
        for text, is_simulated in ((MEASURED, False), (SIMULATED, True))
        if is_simulated in kinds
    ]
    return {"executors": known, "callbacks": rows, "note": " ".join(notes)}

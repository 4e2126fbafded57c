# SPDX-License-Identifier: Apache-2.0
"""The table of a task set's analysis."""

from __future__ import annotations

from collections.abc import Iterator

from rclrt_py.analyses.tasks import TaskAnalysis
from rclrt_py.terminal.table import Columns

WIDTH = 12


def table(result: TaskAnalysis) -> Iterator[str]:
    """Yields a line per task, and the reasons of the answer."""
    names = [task["id"][:40].encode("unicode_escape").decode() for task in result["tasks"]]
    columns = Columns.named(["task", *names], WIDTH, WIDTH, WIDTH)
    yield f"{result['policy']}, utilisation {result['utilisation']:.3f}"
    yield columns.line("task", "response", "deadline", "verdict")
    for name, task in zip(names, result["tasks"], strict=True):
        response = "-" if task["response"] is None else f"{task['response']:.12g}"
        cells = (response, f"{task['deadline']:.12g}", task["verdict"])
        note = f"  {task['note']}" if task["note"] else ""
        yield columns.line(name, *cells, note)
        if "counter_example" in task:
            example = task["counter_example"]
            yield columns.indent + (
                f"  job {example['job']}, arriving at {example['arrival']:.12g}, takes "
                f"{example['response']:.12g} in a simulation"
            )
    yield ""
    yield f"schedulable: {result['verdict']}"
    tests = result["tests"]
    for label, passed in (
        ("Liu and Layland", tests.get("liu_layland")),
        ("hyperbolic bound", tests.get("hyperbolic")),
    ):
        if passed is not None:
            yield f"{label}: {'passed' if passed else 'not passed (sufficient only)'}"
    yield "Assumes: " + "; ".join(result["assumptions"]) + "."

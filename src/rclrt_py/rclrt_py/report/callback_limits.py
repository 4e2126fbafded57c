# SPDX-License-Identifier: Apache-2.0
"""The results of callbacks that have a deadline or a largest age of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rclrt_py.runs.results import CallbackResult, Results
from rclrt_py.terminal.table import LINE_WIDTH
from rclrt_py.text import exact, shorten


def limit_lines(executors: Sequence[Results]) -> Iterator[str]:
    """Yields a line for each callback with a limit of its own, the one with most misses first."""
    for results in executors:
        limited = [callback for callback in results.callbacks if _limit(callback)]
        if not limited:
            continue
        yield ""
        yield f"Limits of single callbacks, {shorten(results.executor_label, LINE_WIDTH // 2)}:"
        for callback in sorted(limited, key=lambda each: (-each.missed, each.id)):
            worst = (
                f", worst response {callback.response.worst:.3f} ms" if callback.response else ""
            )
            yield (
                f"  {shorten(callback.id, LINE_WIDTH // 2)}: {callback.missed} of "
                f"{callback.released} missed ({_limit(callback)}){worst}"
            )


def _limit(callback: CallbackResult) -> str:
    if callback.max_age_ms is not None:
        return f"largest age {exact(callback.max_age_ms)} ms"
    return "" if callback.deadline_ms is None else f"deadline {exact(callback.deadline_ms)} ms"

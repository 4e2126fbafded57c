# SPDX-License-Identifier: Apache-2.0
"""The table of an analysis's margins."""

from __future__ import annotations

from collections.abc import Iterator

from rclrt_py.analyses.sensitivity import MarginResult, SensitivityResult
from rclrt_py.terminal.table import GAP, Columns
from rclrt_py.text import exact

NAME_WIDTH = 40
NUMBER_WIDTH = 12
CONDITIONAL = "  conditional"


def table(result: SensitivityResult) -> Iterator[str]:
    """Yields the margins, the tightest of the execution times first."""
    yield ""
    factor = result["factor"]
    together = "no factor is enough" if factor is None else f"factor {factor:.6g}"
    mark = "" if _are_all_conditional(result) else CONDITIONAL
    together += mark if result["factor_conditional"] else ""
    yield f"All execution times together: {together}. One alone ({result['unit']}):"
    names = [_name(item) for item in (*result["wcets"], *result["periods"])]
    columns = Columns.named(names, NUMBER_WIDTH)
    with_limit = Columns.named(names, NUMBER_WIDTH, NUMBER_WIDTH + GAP)
    for items, sign, what in (
        (result["wcets"], 1, "execution time, at most"),
        (result["periods"], -1, "period, at least"),
    ):
        yield columns.indent + what
        for item in sorted(items, key=lambda item: _closeness(item, sign)):
            cells = (_name(item), exact(item["stated"]))
            suffix = mark if item["conditional"] else ""
            if item["unlimited"]:
                yield columns.line(*cells, f"  any{suffix}")
            elif item["limit"] is None:
                yield columns.line(*cells, "  no value of it is enough")
            else:
                by = "" if item["factor"] is None else f"  factor {item['factor']:.6g}"
                yield with_limit.line(*cells, exact(item["limit"]), by + suffix)
    yield from _notes(result)


def _are_all_conditional(result: SensitivityResult) -> bool:
    """Returns whether there are limits, and no deadline is proved with any of them."""
    marks = [item["conditional"] for item in _limited(result)]
    if result["factor"] is not None:
        marks.append(result["factor_conditional"])
    return bool(marks) and all(marks)


def _limited(result: SensitivityResult) -> list[MarginResult]:
    items = (*result["wcets"], *result["periods"])
    return [item for item in items if item["unlimited"] or item["limit"] is not None]


def _notes(result: SensitivityResult) -> Iterator[str]:
    if _are_all_conditional(result):
        yield (
            "Every limit is conditional: with it, deadlines hold only under the conditions of "
            "rclrt analyze."
        )
    elif result["factor_conditional"] or any(each["conditional"] for each in _limited(result)):
        yield (
            "conditional: with this value, a deadline holds only under a condition. rclrt analyze "
            "names it."
        )
    if not result["monotone"]:
        yield (
            "Not monotone: some value within a limit is not proved, or some value beyond it is. "
            "Check your value with rclrt analyze."
        )


def _name(item: MarginResult) -> str:
    return item["id"][:NAME_WIDTH].encode("unicode_escape").decode()


def _closeness(item: MarginResult, sign: int) -> float:
    if item["unlimited"]:
        return float("inf")
    return -1.0 if item["factor"] is None else item["factor"] * sign

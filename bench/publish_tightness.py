# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/one-cpu.md or several-cpus.md from the output of `rclrt verify`.

    rclrt verify [--cpus 16] --count N --worst 100 --again M --json > FILE
    tools/env python3 bench/publish_tightness.py PAGE FILE

PAGE is one of the two names. The text of the page outside of its marks stays.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from publish_thesis import markdown
from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_OK, BadInput
from rclrt_py.files.json_reader import JsonValue
from results_page import write_results

NAMES = {"median": "median", "p95": "95th percentile"}


@dataclass(frozen=True)
class Page:
    """One of the pages, and the largest ratios that its bounds should have."""

    by_cpus: bool
    """Whether each number of CPUs has a row. Otherwise all of an executor are in one."""
    executors: Sequence[str]
    """Those that have an aim; none: all."""
    aims: Mapping[str, float]
    most_rows: int
    """Number of bounds of each executor in the table of single ones."""


PAGES = {
    "several-cpus.md": Page(True, ("preemptive",), {"median": 1.3, "p95": 2.5}, 10),
    "one-cpu.md": Page(False, (), {"p95": 3.0}, 3),
}


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in PAGES:
        print(__doc__, file=sys.stderr)
        return EXIT_BAD_INPUT
    name, file = arguments
    try:
        answer = JsonValue.load(Path(file))
        _check(name, answer)
        text = "\n".join(lines(PAGES[name], answer))
    except BadInput as error:
        print(f"publish_tightness.py: {error}", file=sys.stderr)
        return error.exit_code
    write_results(name, "rclrt verify", "publish_tightness.py", text)
    return EXIT_OK


def _check(name: str, answer: JsonValue) -> None:
    """Throws BadInput if the output is for the other page: only without --cpus, some applications
    have one CPU in all."""
    has_one = any(
        each.get("cpus").count() == 1
        for executor in answer.get("executors").items()
        for each in executor.get("by_cpus").items()
    )
    if has_one == PAGES[name].by_cpus:
        raise BadInput(
            f"{name}: the output of verify is {'without' if has_one else 'with'} --cpus; name "
            f"{'one-cpu.md' if has_one else 'several-cpus.md'} as PAGE instead"
        )


def lines(page: Page, answer: JsonValue) -> Iterator[str]:
    applications = answer.get("applications").count()
    seeds = answer.get("seeds")
    yield (
        f"{applications} applications (seeds {seeds.get('first').count()} to "
        f"{seeds.get('last').count()}, {answer.get('infeasible').count()} of them infeasible), "
        f"{sum(1 for _ in answer.get('violations').items())} violations. Bounds of applications "
        f"with a load of {answer.get('most_load').number():.0%} or more are left out."
    )
    yield ""
    cpus = ("CPUs",) if page.by_cpus else ()
    figures = ("chains", "no bound", "median", "95th percentile", "largest")
    heads: tuple[str, ...] = ("executor", *cpus, *figures)
    yield from markdown(heads, [[*row.names(), *row.figures()] for row in _rows(page, answer)])
    yield from ("", *_aims(page, answer), "")
    yield (
        "The causes of the largest ratios: the longest term of the bound, its own work aside, or "
        "the search, if a longer one (`--again`) finds a response that explains half of what the "
        "bound is above the first one. The ratios are medians, before and after that search:"
    )
    yield ""
    heads = ("executor", "cause", "bounds", "ratio", "after a longer search")
    yield from markdown(heads, list(_causes(answer)))
    yield from ("", f"The {page.most_rows} largest ratios of each executor:", "")
    heads = (
        *("executor", "seed", "CPUs", "chain", "bound / response", "after a longer search"),
        *("cause", "share of the longest term"),
    )
    yield from markdown(heads, list(_worst(page, answer)))


def _cpus(count: int) -> str:
    return str(count) if count else "any"


@dataclass(frozen=True)
class Row:
    """The statistics of an executor, perhaps of one number of CPUs."""

    executor: str
    cpus: str | None
    statistics: JsonValue

    def names(self) -> list[str]:
        return [f"`{self.executor}`", *([] if self.cpus is None else [self.cpus])]

    def ratio(self, key: str) -> float | None:
        return self.statistics.get("tightness").get("response").get(key).number_or_none()

    def figures(self) -> list[str]:
        chains = self.statistics.get("chains").count()
        unbounded = self.statistics.get("unbounded").count()
        share = f"{unbounded / chains:.1%}" if chains else "-"
        ratios = (self.ratio(key) for key in ("median", "p95", "largest"))
        return [str(chains), share, *("-" if each is None else f"{each:.2f}" for each in ratios)]


def _rows(page: Page, answer: JsonValue) -> Iterator[Row]:
    for executor in answer.get("executors").items():
        name = executor.get("executor").text()
        if not page.by_cpus:
            yield Row(name, None, executor.get("below_load"))
            continue
        for each in executor.get("by_cpus").items():
            yield Row(name, _cpus(each.get("cpus").count()), each.get("statistics"))


def _aims(page: Page, answer: JsonValue) -> Iterator[str]:
    """Says which of the page's aims are missed, and where."""
    wanted = " and ".join(f"a {NAMES[key]} of at most {most}" for key, most in page.aims.items())
    aimed = ", ".join(f"`{each}`" for each in page.executors) or "every executor"
    yield f"The aim for {aimed} is {wanted}{', on each number of CPUs' if page.by_cpus else ''}."
    rows = [
        row for row in _rows(page, answer) if not page.executors or row.executor in page.executors
    ]
    for key, most in page.aims.items():
        found = [(row.names()[-1], value) for row in rows if (value := row.ratio(key)) is not None]
        missed = [f"{name} ({value:.2f})" for name, value in found if value > most]
        if missed:
            yield f"The {NAMES[key]} is missed on these: {', '.join(missed)}."
        elif found:
            yield f"The {NAMES[key]} is reached on all."


def _causes(answer: JsonValue) -> Iterator[list[str]]:
    for worst in answer.get("worst").items():
        bounds = list(worst.get("bounds").items())
        for each in worst.get("causes").items():
            own = [one for one in bounds if one.get("cause").text() == each.get("cause").text()]
            yield [
                f"`{worst.get('executor').text()}`",
                each.get("cause").text(),
                str(each.get("bounds").count()),
                f"{statistics.median(one.get('ratio').number() for one in own):.2f}",
                f"{statistics.median(map(_longer, own)):.2f}",
            ]


def _longer(bound: JsonValue) -> float:
    """Returns the ratio after the longer search, or without one, the ratio."""
    found = bound.get("longer").number_or_none()
    return bound.get("ratio").number() if found is None else found


def _worst(page: Page, answer: JsonValue) -> Iterator[list[str]]:
    for worst in answer.get("worst").items():
        for each in list(worst.get("bounds").items())[: page.most_rows]:
            yield [
                f"`{worst.get('executor').text()}`",
                str(each.get("seed").count()),
                _cpus(each.get("cpus").count()),
                each.get("chain").text(),
                f"{each.get('ratio').number():.2f}",
                f"{_longer(each):.2f}",
                each.get("cause").text(),
                f"{each.get('share').number():.0%}",
            ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

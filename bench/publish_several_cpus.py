# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/several-cpus.md from the output of `rclrt verify`.

    rclrt verify --cpus 16 --count N --worst 100 --again M --json > FILE
    tools/env python3 bench/publish_several_cpus.py FILE

The text of the page outside of its marks stays.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from publish_thesis import markdown
from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_OK, BadInput
from rclrt_py.files.json_reader import JsonValue
from results_page import write_results

MOST_ROWS = 10
"""Number of bounds of each executor in the table of single ones."""
AIMS = {"median": 1.3, "p95": 2.5}
"""The largest ratios that bounds of AIMED should have on each number of CPUs."""
AIMED = "preemptive"
NAMES = {"median": "median", "p95": "95th percentile"}


def main(names: Sequence[str]) -> int:
    if len(names) != 1:
        print(__doc__, file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        text = "\n".join(lines(JsonValue.load(Path(names[0]))))
    except BadInput as error:
        print(f"publish_several_cpus.py: {error}", file=sys.stderr)
        return error.exit_code
    write_results("several-cpus.md", "rclrt verify", "publish_several_cpus.py", text)
    return EXIT_OK


def lines(answer: JsonValue) -> Iterator[str]:
    applications = answer.get("applications").count()
    seeds = answer.get("seeds")
    yield (
        f"{applications} applications (seeds {seeds.get('first').count()} to "
        f"{seeds.get('last').count()}, {answer.get('infeasible').count()} of them infeasible), "
        f"{sum(1 for _ in answer.get('violations').items())} violations. Bounds of applications "
        f"with a load of {answer.get('most_load').number():.0%} or more are left out."
    )
    yield ""
    heads: tuple[str, ...] = (
        "executor",
        "CPUs",
        "chains",
        "no bound",
        "median",
        "95th percentile",
        "largest",
    )
    yield from markdown(heads, list(_tightness(answer)))
    yield from ("", *_aims(answer), "")
    yield (
        "The causes of the largest ratios: the longest term of the bound, its own work aside, or "
        "the search, if a longer one (see above) finds a response that explains half of what the "
        "bound is above the first one. The ratios are medians, before and after that search:"
    )
    yield ""
    heads = ("executor", "cause", "bounds", "ratio", "after a longer search")
    yield from markdown(heads, list(_causes(answer)))
    yield from ("", f"The {MOST_ROWS} largest ratios of each executor:", "")
    heads = (
        *("executor", "seed", "CPUs", "chain", "bound / response", "after a longer search"),
        *("cause", "share of the longest term"),
    )
    yield from markdown(heads, list(_worst(answer)))


def _cpus(count: int) -> str:
    return str(count) if count else "any"


def _tightness(answer: JsonValue) -> Iterator[list[str]]:
    for row in answer.get("executors").items():
        for each in row.get("by_cpus").items():
            found = each.get("statistics")
            chains = found.get("chains").count()
            share = f"{found.get('unbounded').count() / chains:.1%}" if chains else "-"
            keys = ("median", "p95", "largest")
            ratios = (_response(each).get(key).number_or_none() for key in keys)
            yield [
                f"`{row.get('executor').text()}`",
                _cpus(each.get("cpus").count()),
                str(chains),
                share,
                *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
            ]


def _aims(answer: JsonValue) -> Iterator[str]:
    """Says which of the AIMS are missed, and where."""
    wanted = " and ".join(f"a {NAMES[key]} of at most {most}" for key, most in AIMS.items())
    yield f"The aim for `{AIMED}` is {wanted}, on each number of CPUs."
    for row in answer.get("executors").items():
        if row.get("executor").text() != AIMED:
            continue
        for key, most in AIMS.items():
            missed = [
                f"{_cpus(each.get('cpus').count())} ({value:.2f})"
                for each in row.get("by_cpus").items()
                if (value := _response(each).get(key).number_or_none() or 0) > most
            ]
            said = f"missed on these: {', '.join(missed)}" if missed else "reached on all"
            yield f"The {NAMES[key]} is {said}."


def _response(by_cpus: JsonValue) -> JsonValue:
    return by_cpus.get("statistics").get("tightness").get("response")


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


def _worst(answer: JsonValue) -> Iterator[list[str]]:
    for worst in answer.get("worst").items():
        for each in list(worst.get("bounds").items())[:MOST_ROWS]:
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

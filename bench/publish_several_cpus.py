# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/several-cpus.md from the output of `rclrt verify`.

    rclrt verify --cpus 16 --count N --worst 100 --json > FILE
    tools/env python3 bench/publish_several_cpus.py FILE

The text of the page outside of its marks stays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from publish_thesis import markdown
from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_OK, BadInput
from rclrt_py.files.json_reader import JsonValue
from results_page import write_results

MOST_ROWS = 10
"""Number of bounds of each executor in the table of single ones."""


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
    heads = ("executor", "CPUs", "chains", "no bound", "median", "95th percentile", "largest")
    yield from markdown(heads, list(_tightness(answer)))
    yield from ("", "The longest term of the bounds with the largest ratios:", "")
    yield from markdown(("executor", "longest term", "bounds"), list(_causes(answer)))
    yield from ("", f"The {MOST_ROWS} largest ratios of each executor:", "")
    heads = ("executor", "seed", "CPUs", "chain", "bound / response", "longest term", "its share")
    yield from markdown(heads, list(_worst(answer)))


def _cpus(count: int) -> str:
    return str(count) if count else "any"


def _tightness(answer: JsonValue) -> Iterator[list[str]]:
    for row in answer.get("executors").items():
        for each in row.get("by_cpus").items():
            statistics = each.get("statistics")
            chains = statistics.get("chains").count()
            share = f"{statistics.get('unbounded').count() / chains:.1%}" if chains else "-"
            found = statistics.get("tightness").get("response")
            ratios = (found.get(key).number_or_none() for key in ("median", "p95", "largest"))
            yield [
                f"`{row.get('executor').text()}`",
                _cpus(each.get("cpus").count()),
                str(chains),
                share,
                *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
            ]


def _causes(answer: JsonValue) -> Iterator[list[str]]:
    for worst in answer.get("worst").items():
        for each in worst.get("causes").items():
            yield [
                f"`{worst.get('executor').text()}`",
                each.get("cause").text(),
                str(each.get("bounds").count()),
            ]


def _worst(answer: JsonValue) -> Iterator[list[str]]:
    for worst in answer.get("worst").items():
        for each in list(worst.get("bounds").items())[:MOST_ROWS]:
            yield [
                f"`{worst.get('executor').text()}`",
                str(each.get("seed").count()),
                _cpus(each.get("cpus").count()),
                each.get("chain").text(),
                f"{each.get('ratio').number():.2f}",
                each.get("cause").text(),
                f"{each.get('share').number():.0%}",
            ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/sampling.md and its figures from the output of `rclrt experiment`.

    rclrt experiment sampling --simulate --out DIR
    tools/env python3 bench/publish_sampling.py DIR

The text of the page outside of its marks stays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from publish_thesis import command_of, load, markdown
from rclrt_experiments.page import Page, machine_table
from rclrt_experiments.parts import Figure
from rclrt_py.errors import EXIT_BAD_INPUT, EXIT_OK, BadInput
from rclrt_py.files.atomic import write_atomically
from results_page import FIGURES, RESULTS, write_results

NAME = "sampling"


def main(names: Sequence[str]) -> int:
    if len(names) != 1:
        print(__doc__, file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        page = load(Path(names[0]))
        if [each.name for each in page.experiments] != [NAME]:
            raise BadInput(f"{names[0]}: expected the results of `rclrt experiment {NAME}`")
    except BadInput as error:
        print(f"publish_sampling.py: {error}", file=sys.stderr)
        return error.exit_code
    write_results("sampling.md", "the experiment", "publish_sampling.py", "\n".join(lines(page)))
    return EXIT_OK


def lines(page: Page) -> Iterator[str]:
    """Writes the figures and yields the tables and the links to the figures."""
    (section,) = page.sections
    for old in FIGURES.glob(f"{NAME}_*.svg"):
        old.unlink()
    trials = page.plan["experiments"][0]["trials"]
    yield (
        f"`{command_of(page)}`, rclrt {page.plan['rclrt']}, {page.made}. The seeds are 1 to "
        f"{trials}, one for each trial."
    )
    for name, count in page.left_out.items():
        yield from ("", f"{name}: {count} applications are infeasible and left out.")
    yield from ("", *markdown(*machine_table(page.experiments)))
    for note in section.notes():
        yield from ("", note)
    for part in section.parts():
        yield ""
        if isinstance(part, Figure):
            file = FIGURES / f"{part.name}.svg"
            write_atomically(file, part.svg)
            yield f"![{part.caption}]({file.relative_to(RESULTS)})"
        else:
            yield from (f"{part.title}:", "", *markdown(part.heads, part.rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""Makes docs/reproducing.md and its figures from directories of `rclrt experiment`.

    rclrt experiment all --simulate --out SIMULATED
    rclrt experiment beyond --simulate --out BEYOND
    rclrt experiment all --trials 10 --seconds 10 --out RUN
    tools/env python3 bench/publish_thesis.py SIMULATED BEYOND [RUN]

Everything in the page comes from these directories, so each must be complete.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rclrt_cli.errors import BadInput
from rclrt_experiments.experiment import load_experiment
from rclrt_experiments.journal import load_plan
from rclrt_experiments.page import (
    Page,
    bounds_table,
    claims_rows,
    disturbed,
    host_sentences,
    machine_table,
    verdict_counts,
)
from rclrt_experiments.sections import Figure, Section

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, FIGURES = DOCS / "reproducing.md", DOCS / "figures"


def main(directories: Sequence[str]) -> int:
    if not 1 <= len(directories) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        pages = [load(Path(name)) for name in directories]
    except BadInput as error:
        print(f"publish_thesis.py: {error}", file=sys.stderr)
        return error.exit_code
    shutil.rmtree(FIGURES, ignore_errors=True)
    FIGURES.mkdir()
    text = "\n".join(document(pages))
    PAGE.write_text(text + "\n", encoding="utf-8")
    print(PAGE)
    return 0


def load(directory: Path) -> Page:
    """Throws BadInput where the plan is of other files than those that are bundled now."""
    plan = load_plan(directory)
    experiments = [load_experiment(each["name"]) for each in plan["experiments"]]
    for experiment, stated in zip(experiments, plan["experiments"], strict=True):
        if experiment.digest != stated["sha256"]:
            raise BadInput(f"{directory}: {experiment.name} has changed since; do it again")
    page = Page.load(directory, experiments)
    if page.missing:
        raise BadInput(f"{directory}: {page.missing} units are missing; go on with --resume")
    return page


def command_of(page: Page) -> str:
    """As it was called, up to where its results went."""
    first = page.plan["experiments"][0]
    name = "all" if page.judged else "beyond"
    if len(page.experiments) == 1:
        name = first["name"]
    words = ["rclrt experiment", name]
    words += ["--simulate"] if page.plan["simulated"] else []
    own = page.experiments[0]
    if first["trials"] != own.trials:
        words.append(f"--trials {first['trials']}")
    if first["seconds"] != own.seconds:
        words.append(f"--seconds {first['seconds']:g}")
    if tuple(first["executors"]) != own.executors:
        words.append(f"--executors {','.join(first['executors'])}")
    if page.plan["overheads"]:
        words.append("--overheads FILE")
    return " ".join([*words, "--out DIR"])


def document(pages: Sequence[Page]) -> Iterator[str]:
    yield "# Reproducing the thesis"
    yield ""
    yield (
        "The experiments of chapter 7 of the [thesis](glossary.md), repeated, and some beyond it. "
        "`bench/publish_thesis.py` made this page from the results of the commands below, "
        f"{datetime.now(UTC).strftime('%Y-%m-%d')}. What an experiment is, and how to make your "
        "own, is in [rclrt_experiments](../src/rclrt_experiments)."
    )
    for page in pages:
        yield from of_page(page)


def of_page(page: Page) -> Iterator[str]:
    kind = "In simulation" if page.plan["simulated"] else "On ROS 2"
    yield ""
    yield f"## {kind}: {'the thesis' if page.judged else 'beyond the thesis'}"
    yield ""
    yield f"`{command_of(page)}`, rclrt {page.plan['rclrt']}, {page.made}."
    if page.runs:
        yield from ("", *host_sentences(page.runs))
    for name, count in page.left_out.items():
        yield from ("", f"{name}: {count} applications are infeasible and left out.")
    if page.plan["simulated"]:
        yield from ("", *markdown(*machine_table(page.experiments)))
    if page.judged:
        yield from ("", "### What was published, and what came out", "")
        yield verdict_counts(page.judged) + "."
        yield from ("", *markdown(*claims_rows(page.judged)))
    yield from ("", "### Bounds", "", *markdown(*bounds_table(page.rows, disturbed(page.runs))))
    for section in page.sections:
        yield from of_section(section, "simulated" if page.plan["simulated"] else "run")


def of_section(section: Section, kind: str) -> Iterator[str]:
    own = section.experiment
    of = f" (section {own.section})" if own.section else ""
    yield from ("", f"### {own.title}{of}")
    for part in section.parts():
        yield ""
        if isinstance(part, Figure):
            file = FIGURES / f"{kind}_{part.name}.svg"
            file.write_text(part.svg, encoding="utf-8")
            yield f"![{part.caption}]({file.relative_to(DOCS)})"
        else:
            yield from (f"{part.title}:", "", *markdown(part.heads, part.rows))


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (heads, ["---"] * len(heads), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

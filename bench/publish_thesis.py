# SPDX-License-Identifier: Apache-2.0
"""Makes docs/results/thesis.md and its figures from the output of `rclrt experiment`.

    rclrt experiment all --simulate --out SIMULATED
    rclrt experiment beyond --simulate --out BEYOND
    rclrt experiment chain-length --trials 10 --seconds 10 --overheads FILE --out RUN
    tar -C RUN -cJf bench/thesis/chain-length.tar.xz experiment.json done.jsonl
    tools/env python3 bench/publish_thesis.py SIMULATED BEYOND bench/thesis/*.tar.xz

The whole page is made from these directories, or archives of them, so each must be complete. All
five experiments take over four hours on ROS 2. Each may be run at another time. Archives in the
repository keep the data of the page, and the file of overheads beside them is the one that each
plan names. The exit code is 3 if a chain violated a proved bound in a run that counts.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rclrt_experiments.bounds import Cells, name_of
from rclrt_experiments.claims import CLAIMS
from rclrt_experiments.experiment import THESIS, bundled, load_experiment
from rclrt_experiments.experiment_command import TRIES
from rclrt_experiments.journal import JOURNAL, PLAN, load_plan
from rclrt_experiments.page import (
    MEASURES,
    VERDICTS,
    Page,
    alike,
    claims_rows,
    machine_table,
    verdict_counts,
    verdict_of,
)
from rclrt_experiments.parts import Figure
from rclrt_experiments.sections import Section
from rclrt_py.errors import EXIT_ABOVE_BOUND, EXIT_BAD_INPUT, EXIT_OK, BadInput
from rclrt_py.files.atomic import write_atomically
from rclrt_py.terminal.table import markdown_lines

from rclrt_experiments import synthesis

ROOT = Path(__file__).resolve().parent.parent
RESULTS, KEPT = ROOT / "docs" / "results", ROOT / "bench" / "thesis"
PAGE, FIGURES = RESULTS / "thesis.md", RESULTS / "figures"
FILES = (PLAN, JOURNAL)
KINDS = SIMULATED, RUN = "simulated", "run"
"""The prefix of the figures' names; the directory also has figures of other pages."""


def main(names: Sequence[str]) -> int:
    if not names:
        print(__doc__, file=sys.stderr)
        return EXIT_BAD_INPUT
    try:
        pages = [load(Path(name)) for name in names]
        check_once(pages)
    except BadInput as error:
        print(f"publish_thesis.py: {error}", file=sys.stderr)
        return error.exit_code
    FIGURES.mkdir(exist_ok=True)
    for kind in KINDS:
        for figure in FIGURES.glob(f"{kind}_*.svg"):
            figure.unlink()
    text = "\n".join(document(pages))
    write_atomically(PAGE, text + "\n")
    print(PAGE)
    return EXIT_ABOVE_BOUND if any(page.proofs.broken for page in pages) else EXIT_OK


def load(path: Path) -> Page:
    """Reads a directory, or an archive of one. Throws BadInput."""
    if not path.is_file():
        return load_directory(path, path)
    with tempfile.TemporaryDirectory() as name:
        try:
            extract(path, Path(name))
        except (OSError, EOFError, tarfile.TarError, lzma.LZMAError, zlib.error) as error:
            raise BadInput(f"{path}: is no archive of a directory: {error}") from error
        return load_directory(Path(name), path)


def extract(path: Path, directory: Path) -> None:
    """Extracts the files of a page into the directory, wherever they are in the archive."""
    with tarfile.open(path) as archive:
        for file in archive:
            file.name = Path(file.name).name
            if file.name not in FILES or not file.isfile():
                continue
            if (directory / file.name).exists():
                raise BadInput(
                    f"{path}: has two {file.name}; expected the archive of one directory"
                )
            archive.extract(file, directory)


def check_once(pages: Sequence[Page]) -> None:
    """Throws BadInput if an experiment is given twice: its figures would have the same name."""
    seen: set[tuple[str, bool]] = set()
    for page in pages:
        for each in page.experiments:
            key = (each.name, page.plan["simulated"])
            if key in seen:
                raise BadInput(f"{each.name} is in two of the directories; leave out one of them")
            seen.add(key)


def load_directory(directory: Path, stated: Path) -> Page:
    """Loads the results of experiments from a directory. Throws BadInput, with `stated` as the name
    of the directory, if the experiments or the overheads have changed since the run, or if units of
    the run are missing."""
    plan = load_plan(directory)
    experiments = [load_experiment(each["name"]) for each in plan["experiments"]]
    for experiment, planned in zip(experiments, plan["experiments"], strict=True):
        if experiment.digest != planned["sha256"]:
            raise BadInput(f"{stated}: {experiment.name} has changed since its run; run it again")
    if plan["overheads"] and not are_kept(plan["overheads"]):
        raise BadInput(
            f"{stated}: was made with another {plan['overheads']['file']} than the one in {KEPT}; "
            "copy the file of these runs there"
        )
    if not (directory / JOURNAL).is_file():
        raise BadInput(f"{stated}: has no {JOURNAL}; keep it beside {PLAN}")
    page = Page.load(directory, experiments)
    if page.missing:
        raise BadInput(
            f"{stated}: {page.missing} units are missing; complete them by rclrt experiment "
            "--resume"
        )
    return page


def are_kept(overheads: Mapping[str, str]) -> bool:
    """Returns whether a plan's file of overheads is the one in the repository."""
    path = KEPT / Path(overheads["file"]).name
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == overheads["sha256"]


def scope(page: Page) -> str:
    """Returns `all`, `beyond`, or nothing for a page of one experiment."""
    if len(page.experiments) == 1:
        return ""
    return "all" if page.experiments[0].name in THESIS else "beyond"


def command_of(page: Page) -> str:
    """Returns the command line without the directory of its results."""
    first = page.plan["experiments"][0]
    name = scope(page) or first["name"]
    words = ["rclrt experiment", name]
    words += ["--simulate"] if page.plan["simulated"] else []
    own = page.experiments[0]
    if first["trials"] != own.trials:
        words.append(f"--trials {first['trials']}")
    if first["seconds"] != own.seconds:
        words.append(f"--seconds {first['seconds']:g}")
    if tuple(first["executors"]) != own.executors:
        words.append(f"--executors {','.join(first['executors'])}")
    if stated := page.plan["overheads"]:
        file = (KEPT / stated["file"]).relative_to(ROOT)
        words.append(f"--overheads {file} --overhead-percentile {stated['statistic']}")
    if not page.plan["simulated"] and page.plan["tries"] != TRIES:
        words.append(f"--tries {page.plan['tries']}")
    return " ".join([*words, "--out DIR"])


def document(pages: Sequence[Page]) -> Iterator[str]:
    yield "# The thesis's experiments"
    yield ""
    yield (
        "The experiments of chapter 7 of the [thesis](../reference/glossary.md), repeated, and "
        "some beyond it. `bench/publish_thesis.py` made this page from the results of the commands "
        f"below, {datetime.now(UTC).strftime('%Y-%m-%d')}. "
        "[rclrt_experiments](../../src/rclrt_experiments) describes experiments, and how to make "
        "your own."
    )
    yield from ("", *missing(pages))
    yield from ("", "## The published claims, and our results", "", *markdown(*verdicts(pages)))
    yield from ("", f"{MEASURES} {VERDICTS} {sizes(pages)}")
    for page in sorted(pages, key=place_of):
        yield from of_page(page)


def place_of(page: Page) -> tuple[bool, int]:
    """Sorts simulations first, then in the order of the thesis."""
    names = bundled()
    return not page.plan["simulated"], names.index(page.experiments[0].name)


def verdicts(pages: Sequence[Page]) -> Cells:
    """Returns the verdict on each claim, in simulation and on ROS 2, by both measures."""
    found = {
        (bool(page.plan["simulated"]), thesis, ours.claim.text): verdict_of(
            (page.by_thesis[place] if page.by_thesis else None) if thesis else ours
        )
        for page in pages
        for place, ours in enumerate(page.judged)
        for thesis in (True, False)
    }
    cells = [(simulated, thesis) for simulated in (True, False) for thesis in (True, False)]
    heads = [
        f"{'simulated' if simulated else 'ROS 2'}, {'thesis' if thesis else 'our'} measure"
        for simulated, thesis in cells
    ]
    return (
        ["section", "claim", *heads],
        [
            [claim.section, claim.text, *(found.get((*it, claim.text), "-") for it in cells)]
            for claim in CLAIMS
        ],
    )


def sizes(pages: Sequence[Page]) -> str:
    """Returns the number and length of the runs behind the verdicts."""
    found = {
        bool(page.plan["simulated"]): f"{each['trials']} trials of {each['seconds']:g} s"
        for page in pages
        for each in page.plan["experiments"]
        if each["name"] == "utilisation"
    }
    said = [
        f"{what} {found[it]}" for it, what in ((True, "simulated"), (False, "run")) if it in found
    ]
    return f"Utilisation, of each point: {', '.join(said)} (published: 50 of 30 s)." if said else ""


def as_the_thesis_measured(overheads: Mapping[str, str]) -> Iterator[str]:
    """Returns the execution times of the thesis's code, as far as a calibration has them."""
    stated = load_json(KEPT / Path(overheads["file"]).name)
    parts = (
        ("wait_set", "polling_us", "one look for work",
         "the time of get_next_executable that the thesis reports"),
        ("producer_consumer", "scheduler_us", "scheduler thread, for each callback",
         "from the return of wait_for_work until the consumer is notified, for each callback"),
        ("thread_dispatch", "scheduler_us", "scheduler thread, with the start of a thread",
         "not stated"),
    )  # fmt: skip
    rows = []
    for executor, part, here, there in parts:
        own = stated["executors"][executor][part]
        values = (f"{own[name]:.1f}" for name in ("p50", "p99", "max_undisturbed"))
        rows.append([name_of(executor), there, here, *values])
    heads = ["executor", "the thesis (appendix A.1)", "here", "p50 µs", "p99 µs", "max µs"]
    yield (
        "The thesis's code takes the executors' own work, of each another part, without the "
        "wake-up of a consumer; figures 7.1 and 7.2 have no numbers. Nearest to it is what "
        f"`rclrt calibrate` measured for the bounds ({stated['machine']['measured_utc']}):"
    )
    yield from ("", *markdown(heads, rows))


def load_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def missing(pages: Sequence[Page]) -> Iterator[str]:
    """Returns the limits of this page."""
    for simulated, wanted, what in (
        (True, bundled(), "simulated"),
        (False, THESIS, "run on ROS 2"),
    ):
        names = [
            each.name
            for page in pages
            for each in page.experiments
            if bool(page.plan["simulated"]) == simulated
        ]
        if left := [f"`{name}`" for name in wanted if name not in names]:
            yield f"Not {what} here: {', '.join(left)}."


def of_page(page: Page) -> Iterator[str]:
    kind = "In simulation" if page.plan["simulated"] else "On ROS 2"
    yield ""
    titles = {"all": "the thesis", "beyond": "beyond the thesis"}
    yield f"## {kind}: {titles.get(scope(page), page.experiments[0].name)}"
    yield ""
    yield f"`{command_of(page)}`, rclrt {page.plan['rclrt']}, {page.made}."
    if page.runs:
        yield from ("", *page.host_sentences())
    for name, count in page.left_out.items():
        yield from ("", f"{name}: {count} applications are infeasible and left out.")
    if page.plan["simulated"]:
        yield from ("", *markdown(*machine_table(page.experiments)))
        for sentence in alike(page.compared):
            yield from ("", sentence)
    for sentence in synthesis.sentences(page.changes):
        yield from ("", sentence)
    if page.judged:
        yield from ("", "### The published claims, and our results", "")
        yield " ".join(verdict_counts(page))
        yield from ("", *markdown(*claims_rows(page)))
    yield from ("", "### Bounds")
    for part in page.bounds_parts():
        yield from ("", part) if isinstance(part, str) else ("", *markdown(*part))
    for section in page.sections:
        yield from of_section(section, SIMULATED if page.plan["simulated"] else RUN)
        if section.experiment.name == "overhead" and page.plan["overheads"]:
            yield from ("", *as_the_thesis_measured(page.plan["overheads"]))


def of_section(section: Section, kind: str) -> Iterator[str]:
    own = section.experiment
    of = f" (section {own.section})" if own.section else ""
    yield from ("", f"### {own.title}{of}")
    for note in section.notes():
        yield from ("", note)
    for part in section.parts():
        yield ""
        if isinstance(part, Figure):
            file = FIGURES / f"{kind}_{part.name}.svg"
            write_atomically(file, part.svg)
            yield f"![{part.caption}]({file.relative_to(RESULTS)})"
        else:
            yield from (f"{part.title}:", "", *markdown(part.heads, part.rows))


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    return markdown_lines(heads, rows, left=len(heads))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

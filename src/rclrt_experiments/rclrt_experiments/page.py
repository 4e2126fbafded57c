# SPDX-License-Identifier: Apache-2.0
"""Makes the page about experiments: one HTML file without scripts, and each figure as a separate
file. Its content is computed from the plan and the journal in the output directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rclrt_py.errors import RunFailed
from rclrt_py.files.atomic import write_atomically
from rclrt_py.pages.page import figure, heading, paragraph, plain_page, table
from rclrt_py.runs.output_directory import REPORT

from rclrt_experiments import synthesis
from rclrt_experiments.bounds import TERMS, Cells, Proofs, name_of, prediction_table
from rclrt_experiments.claims import CLAIMS
from rclrt_experiments.experiment import THESIS, Experiment
from rclrt_experiments.journal import JOURNAL, load_plan, read_journal, runs_of
from rclrt_experiments.metrics import Results
from rclrt_experiments.parts import Figure
from rclrt_experiments.published import Evidence, Judged, judge
from rclrt_experiments.rows import Row
from rclrt_experiments.runs import Run, disturbed, host_sentences, stalls_ms, without_the_hosts
from rclrt_experiments.sections import Section
from rclrt_experiments.sweep import Cores, cores
from rclrt_experiments.unit import Done, Unit, simulate_unit, units_of

FIGURES = "figures"
OF_OURS = {"reproduced": "holds (ours, not published)", "not reproduced": "does not hold (ours)"}
"""Verdicts of claims that were not published."""


@dataclass(frozen=True)
class Page:
    """The content of a directory of results."""

    experiments: Sequence[Experiment]
    plan: Mapping[str, Any]
    rows: Sequence[Row]
    """Rows without the misses that the host caused."""
    results: Results
    sections: Sequence[Section]
    judged: Sequence[Judged]
    """Claims judged by our measure."""
    by_thesis: Sequence[Judged]
    """The same claims by the thesis's measure; empty if the rows do not have its times."""
    left_out: Mapping[str, int]
    """Per experiment: applications that cannot be generated from the rules and the seed."""
    missing: int
    """Number of units that are not done."""
    made: str
    """Time at which the last unit was completed, in UTC."""
    runs: Sequence[Run] = ()
    """The runs on ROS 2."""
    simulated: Sequence[Row] = ()
    """Simulated rows of the same applications, if all ran on ROS 2 and the user did not stop it."""
    changes: synthesis.Changes = field(default_factory=dict)

    @classmethod
    def load(
        cls,
        directory: Path,
        experiments: Sequence[Experiment],
        stopped: Callable[[], bool] = lambda: False,
    ) -> Page:
        """Loads the content of the page from the plan and the journal in the directory. If all runs
        on ROS 2 are complete, their applications are also simulated, on all CPUs, until `stopped`
        returns True."""
        plan = load_plan(directory)
        units = _units(experiments, plan)
        journal = read_journal(directory / JOURNAL)
        left_out: dict[str, int] = {}
        for unit in units:
            done = journal.get(unit.key())
            if done is not None and done.infeasible and unit.executor == 0:
                name = experiments[unit.experiment].name
                left_out[name] = left_out.get(name, 0) + 1
        results_of = [journal[unit.key()] for unit in units if unit.key() in journal]
        runs = runs_of(results_of)
        rows = without_the_hosts([row for each in results_of for row in each.rows], runs)
        overheads = [row for each in results_of for row in each.overheads]
        outputs = [row for each in results_of for row in each.outputs]
        results = Results(rows)
        sections = [
            Section(each, results, overheads, [o for o in outputs if o.experiment == each.name])
            for each in experiments
            if each.name in results.executors
        ]
        written = datetime.fromtimestamp((directory / JOURNAL).stat().st_mtime, UTC)
        missing = len(units) - len(results_of)
        simulated: Sequence[Row] = ()
        if runs and not missing:
            simulated = _simulated(experiments, plan, units, stopped)
        of_simulation = rows if plan["simulated"] else simulated
        changes = synthesis.changes(of_simulation)
        evidence = Evidence(
            results,
            overheads,
            bool(plan["simulated"]),
            synthesis.unchanged(changes) if of_simulation else None,
        )
        shown = {each.section for each in experiments if each.name in THESIS}
        claims = [claim for claim in CLAIMS if claim.section in shown]
        judged = [judge(claim, evidence) for claim in claims]
        by_thesis: Sequence[Judged] = ()
        if any(row.from_start_worst is not None for row in rows):
            counted = Results(row.as_the_thesis_counts() for row in rows)
            as_thesis = replace(evidence, results=counted, thesis=True)
            by_thesis = [judge(claim, as_thesis) for claim in claims]
        return cls(
            experiments, plan, rows, results, sections, judged, by_thesis, left_out, missing,
            written.strftime("%Y-%m-%d %H:%M UTC"), runs, simulated, changes,
        )  # fmt: skip

    @property
    def seconds(self) -> dict[str, float]:
        """Returns the duration of a run, by experiment."""
        return {each["name"]: each["seconds"] for each in self.plan["experiments"]}

    @property
    def compared(self) -> list[Row]:
        """Returns the rows of experiments that compare responses, not reaction times and ages."""
        others = {each.experiment.name for each in self.sections if each.outputs}
        return [row for row in self.rows if row.experiment not in others]

    @property
    def proofs(self) -> Proofs:
        return Proofs(self.rows, disturbed(self.runs, self.seconds), stalls_ms(self.runs))

    def host_sentences(self) -> Sequence[str]:
        return list(host_sentences(self.runs, self.seconds)) if self.runs else []

    def bounds_parts(self) -> Iterator[str | Cells]:
        """Yields the comparison of the analysis and a simulation with the observed results."""
        yield self.proofs.sentence()
        yield TERMS
        yield self.proofs.table()
        if self.simulated:
            yield (
                "The same applications simulated for as long, with the overheads that the "
                "experiment's file states:"
            )
            yield prediction_table(self.rows, self.simulated)


def _units(experiments: Sequence[Experiment], plan: Mapping[str, Any]) -> list[Unit]:
    return [
        unit
        for number, (each, stated) in enumerate(zip(experiments, plan["experiments"], strict=True))
        for unit in units_of(number, each, stated["trials"], stated["executors"])
    ]


def _simulate(experiments: Sequence[Experiment], plan: Mapping[str, Any], unit: Unit) -> Done:
    stated = plan["experiments"][unit.experiment]
    return simulate_unit(experiments[unit.experiment], stated["executors"], stated["seconds"], unit)


def _simulated(
    experiments: Sequence[Experiment],
    plan: Mapping[str, Any],
    units: Sequence[Unit],
    stopped: Callable[[], bool],
) -> list[Row]:
    """Simulates the applications of these units. Returns an empty list if `stopped` returns True
    before the end or a worker process was killed; the page then shows only the runs."""
    work = partial(_simulate, experiments, plan)
    try:
        found = list(Cores(cores()).run(work, units, stopped))
    except RunFailed:
        return []
    return [row for _, done in found for row in done.rows] if len(found) == len(units) else []


def write_page(directory: Path, page: Page) -> None:
    """Writes report.html and figures/*.svg."""
    (directory / FIGURES).mkdir(exist_ok=True)
    for section in page.sections:
        for part in section.parts():
            if isinstance(part, Figure):
                write_atomically(directory / FIGURES / f"{part.name}.svg", part.svg)
    write_atomically(directory / REPORT, plain_page("rclrt experiments", _body(page)))


def _body(page: Page) -> Iterator[str]:
    kind = "simulated" if page.plan["simulated"] else "run on ROS 2"
    yield heading(1, f"Experiments, {kind}")
    yield paragraph(
        f"rclrt {page.plan['rclrt']}, {page.made}. The same applications under each executor; the "
        "trial's number is the seed.",
        "note",
    )
    yield table(
        ["experiment", "trials", "seconds", "executors", "rows"],
        [
            [each["name"], str(each["trials"]), f"{each['seconds']:g}",
             ", ".join(each["executors"]),
             str(sum(row.experiment == each["name"] for row in page.rows))]
            for each in page.plan["experiments"]
        ],
    )  # fmt: skip
    for name, count in page.left_out.items():
        yield paragraph(f"{name}: {count} applications are infeasible and left out.")
    if page.plan["simulated"]:
        yield heading(3, "The simulated machine")
        yield table(*machine_table(page.experiments))
        yield from map(paragraph, alike(page.compared))
    yield from map(paragraph, synthesis.sentences(page.changes))
    yield from map(paragraph, page.host_sentences())
    if page.judged:
        yield heading(2, "The published claims")
        yield from map(paragraph, (*verdict_counts(page), MEASURES))
        yield table(*claims_rows(page))
    yield heading(2, "Bounds")
    for each in page.bounds_parts():
        yield paragraph(each) if isinstance(each, str) else table(*each)
    for section in page.sections:
        own = section.experiment
        of = f" (thesis, section {own.section})" if own.section else ""
        yield heading(2, own.title + of)
        yield from map(paragraph, section.notes())
        for part in section.parts():
            if isinstance(part, Figure):
                yield figure(part.svg, part.caption)
            else:
                yield heading(3, part.title)
                yield table(part.heads, part.rows)


def machine_table(experiments: Sequence[Experiment]) -> Cells:
    """Returns the overheads of the simulated machine."""
    return (
        ["experiment", "dispatch", "scheduler thread", "polling point", "hop", "execution times"],
        [
            [each.name, *(f"{ns / 1000:g} µs" for ns in (
                each.machine.dispatch_ns, each.machine.scheduler_ns, each.machine.polling_ns,
                each.machine.hop_ns,
            )), _share(each.machine.lowest_execution)]
            for each in experiments
        ],
    )  # fmt: skip


def _share(lowest: float) -> str:
    return "the WCET" if lowest == 1 else f"{100 * lowest:g} to 100 % of the WCET"


def alike(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the executors for which the simulation gives equal results."""
    seen: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for row in rows:
        key = (row.varied, row.trial, row.chain, row.best_ms, row.mean_ms, row.worst_ms, row.missed)
        seen.setdefault((row.experiment, row.executor), []).append(key)
    for experiment in dict.fromkeys(row.experiment for row in rows):
        own = {executor: keys for (name, executor), keys in seen.items() if name == experiment}
        groups: dict[tuple[Any, ...], list[str]] = {}
        for executor, keys in own.items():
            groups.setdefault(tuple(keys), []).append(name_of(executor))
        for names in groups.values():
            if len(names) > 1:
                yield (
                    f"{experiment}: {' and '.join(names)} come out alike in every row of this "
                    "simulation."
                )


VERDICTS = (
    "Reproduced: the order that the claim states is there at each point and, in the mean, beyond "
    "chance (95 %). Not reproduced: the opposite is, beyond chance. Not comparable: these trials "
    "do not decide it, or the thesis measured something else; the column observed has the reason."
)


MEASURES = (
    "By the thesis's measure a response begins when the chain's first callback starts, as its code "
    "counted, and what never ended is not counted. By ours it begins at the nominal release of the "
    "chain's timer, and what never ended has missed."
)
NOT_KEPT = "not kept"
"""The rows lack the times from the start of the first callbacks."""


def verdict_counts(page: Page) -> Iterator[str]:
    """Yields the counts of verdicts on published claims."""
    names = ("reproduced", "not reproduced", "not comparable")
    for measure, judged in (("the thesis's", page.by_thesis), ("our", page.judged)):
        verdicts = [each.verdict for each in judged if each.claim.published]
        if verdicts:
            counts = ", ".join(f"{verdicts.count(name)} {name}" for name in names)
            yield f"By {measure} measure: {counts}."


def verdict_of(judged: Judged | None) -> str:
    """Returns the verdict. Claims that were not published are marked."""
    if judged is None:
        return NOT_KEPT
    if judged.claim.published:
        return judged.verdict
    return OF_OURS.get(judged.verdict, judged.verdict)


def claims_rows(page: Page) -> Cells:
    """Returns each claim under both measures."""
    rows = []
    for place, ours in enumerate(page.judged):
        thesis = page.by_thesis[place] if page.by_thesis else None
        said = ours.observed
        if thesis is not None and thesis.observed != said:
            said = f"Thesis's measure: {thesis.observed} Ours: {said}"
        rows.append(
            [ours.claim.section, ours.claim.text, verdict_of(thesis), verdict_of(ours), said]
        )
    return ["section", "claim", "by the thesis's measure", "by ours", "observed"], rows

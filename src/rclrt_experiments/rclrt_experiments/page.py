# SPDX-License-Identifier: Apache-2.0
"""The page of experiments: one HTML file without scripts, and the figures as files beside it.

All of it is computed from rows.csv, overheads.csv and the plan in the directory.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rclrt_cli.output_directory import REPORT, write_atomically

from rclrt_experiments.claims import CLAIMS
from rclrt_experiments.experiment import THESIS, Experiment
from rclrt_experiments.journal import JOURNAL, OVERHEADS, ROWS, RUNS, load_plan, read_journal
from rclrt_experiments.metrics import Results
from rclrt_experiments.published import Evidence, Judged, judge
from rclrt_experiments.rows import RUN_KEY, Row, read_overheads, read_rows, read_runs
from rclrt_experiments.sections import Figure, Section, name_of

FIGURES = "figures"
STYLE = """
:root { color-scheme: light; }
body { margin: 0; background: #f6f7f9; color: #16202b; font: 15px/1.5 "Inter", "Segoe UI",
  "Liberation Sans", "DejaVu Sans", sans-serif; font-variant-numeric: tabular-nums; }
main { max-width: 1000px; margin: 0 auto; padding: 32px 24px 48px; }
h1 { font-size: 28px; margin: 0 0 4px; } h2 { font-size: 20px; margin: 40px 0 8px; }
h3 { font-size: 15px; margin: 20px 0 6px; }
.note { color: #586574; font-size: 13px; }
figure { margin: 12px 0; padding: 12px; background: #fff; border: 1px solid #d9dee5;
  border-radius: 10px; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { color: #586574; font-size: 13px; }
.scroller { overflow-x: auto; }
table { border-collapse: collapse; background: #fff; border: 1px solid #d9dee5; }
th, td { padding: 4px 10px; border-bottom: 1px solid #e8ebef; text-align: left;
  vertical-align: top; white-space: pre-wrap; }
th { font-weight: 600; }
code { white-space: pre-wrap; }
"""


@dataclass(frozen=True)
class Page:
    """A directory of results, read."""

    experiments: Sequence[Experiment]
    plan: Mapping[str, Any]
    rows: Sequence[Row]
    results: Results
    sections: Sequence[Section]
    judged: Sequence[Judged]
    left_out: Mapping[str, int]
    """Of each experiment: applications that the rules and the seed did not give."""
    missing: int
    """Units that are not done."""
    made: str
    """When the rows were written, in UTC."""
    runs: Sequence[Mapping[str, str]] = ()
    """Of what ran on ROS 2."""

    @classmethod
    def load(cls, directory: Path, experiments: Sequence[Experiment]) -> Page:
        """Of these experiments, whose plan and journal are in the directory."""
        plan = load_plan(directory)
        left_out: dict[str, int] = {}
        journal = read_journal(directory / JOURNAL)
        for key, done in journal.items():
            number, *_, executor = map(int, key.split("/"))
            if done.infeasible and executor == 0:
                name = experiments[number].name
                left_out[name] = left_out.get(name, 0) + 1
        wanted = sum(
            stated["trials"] * len(stated["executors"]) * len(each.points)
            for each, stated in zip(experiments, plan["experiments"], strict=True)
        )
        written = datetime.fromtimestamp((directory / ROWS).stat().st_mtime, UTC)
        made = written.strftime("%Y-%m-%d %H:%M UTC")
        rows = read_rows(directory / ROWS)
        overheads = read_overheads(directory / OVERHEADS)
        runs = read_runs(directory / RUNS)
        results = Results(rows)
        evidence = Evidence(results, overheads, bool(plan["simulated"]))
        sections = [
            Section(each, results, overheads)
            for each in experiments
            if each.name in results.executors
        ]
        shown = {each.section for each in experiments if each.name in THESIS}
        judged = [judge(claim, evidence) for claim in CLAIMS if claim.section in shown]
        return cls(
            experiments, plan, rows, results, sections, judged, left_out,
            wanted - len(journal), made, runs,
        )  # fmt: skip


def write_page(directory: Path, page: Page) -> None:
    """report.html, and figures/*.svg."""
    (directory / FIGURES).mkdir(exist_ok=True)
    for section in page.sections:
        for part in section.parts():
            if isinstance(part, Figure):
                write_atomically(directory / FIGURES / f"{part.name}.svg", part.svg)
    body = "\n".join(_body(page))
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'"
    text = f"""<!DOCTYPE html>
<!-- SPDX-License-Identifier: Apache-2.0 -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>rclrt experiments</title>
<style>{STYLE}</style>
</head>
<body><main>
{body}
</main></body>
</html>
"""
    write_atomically(directory / REPORT, text)


def _body(page: Page) -> Iterator[str]:
    kind = "simulated" if page.plan["simulated"] else "run on ROS 2"
    yield f"<h1>Experiments, {kind}</h1>"
    yield f'<p class="note">rclrt {html.escape(str(page.plan["rclrt"]))}, {page.made}. '
    yield "The same applications under each executor; the trial's number is the seed.</p>"
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
        yield f"<p>{html.escape(name)}: {count} applications are infeasible and left out.</p>"
    if page.plan["simulated"]:
        yield "<h3>The simulated machine</h3>"
        yield table(*machine_table(page.experiments))
    if page.runs:
        yield from (f"<p>{html.escape(each)}</p>" for each in host_sentences(page.runs))
    if page.judged:
        yield "<h2>What was published</h2>"
        yield f"<p>{verdict_counts(page.judged)}</p>"
        yield table(*claims_rows(page.judged))
    yield "<h2>Bounds</h2>"
    yield "<p>How many chains the analysis proved to keep their deadlines, and whether any of "
    yield "those missed one.</p>"
    yield table(*bounds_table(page.rows, disturbed(page.runs)))
    for section in page.sections:
        own = section.experiment
        of = f" (thesis, section {own.section})" if own.section else ""
        yield f"<h2>{html.escape(own.title + of)}</h2>"
        for part in section.parts():
            if isinstance(part, Figure):
                yield f"<figure>{part.svg}<figcaption>{html.escape(part.caption)}</figcaption>"
                yield "</figure>"
            else:
                yield f"<h3>{html.escape(part.title)}</h3>"
                yield table(part.heads, part.rows)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As HTML."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="scroller"><table><tr>{head}</tr>{body}</table></div>'


Cells = tuple[list[str], list[list[str]]]
"""Heads and rows of a table."""


def machine_table(experiments: Sequence[Experiment]) -> Cells:
    """What the simulated machine adds."""
    return (
        ["experiment", "dispatch", "scheduler thread", "polling point", "hop", "execution times"],
        [
            [each.name, *(f"{ns / 1000:g} µs" for ns in (
                each.machine.dispatch_ns, each.machine.scheduler_ns, each.machine.polling_ns,
                each.machine.hop_ns,
            )), f"{100 * each.machine.lowest_execution:g} to 100 % of the WCET"]
            for each in experiments
        ],
    )  # fmt: skip


def host_sentences(runs: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Where it ran, and what the host took."""
    first = runs[0]
    yield (
        f"{first['cpu_model']}, {first['cpus']} CPUs, Linux {first['kernel']}, {first['rmw']}; "
        f"{'real-time' if first['realtime'] == 'True' else 'NOT real-time'} scheduling. Runs from "
        f"{first['started_utc']} to {runs[-1]['started_utc']}."
    )
    again = sum(int(run["tries"]) > 1 for run in runs)
    stolen = sum(float(run["steal_ms"]) for run in runs)
    yield (
        f"{len(runs)} runs, one after the other; {again} were made again because the host took "
        f"time. In those that count it took {stolen:.0f} ms, and stopped a CPU "
        f"{sum(int(run['stalls']) for run in runs)} times; {len(disturbed(runs))} runs were "
        "disturbed so."
    )


def disturbed(runs: Sequence[Mapping[str, str]]) -> set[tuple[str, ...]]:
    """Runs in which the host took time or stopped a CPU."""
    return {
        tuple(run[name] for name in RUN_KEY)
        for run in runs
        if float(run["steal_ms"]) > 0 or int(run["stalls"]) > 0
    }


def verdict_counts(judged: Sequence[Judged]) -> str:
    verdicts = [each.verdict for each in judged]
    names = ("reproduced", "not reproduced", "not comparable")
    return ", ".join(f"{verdicts.count(name)} {name}" for name in names)


def claims_rows(judged: Sequence[Judged]) -> Cells:
    return (
        ["section", "claim", "verdict", "observed"],
        [[each.claim.section, each.claim.text, each.verdict, each.observed] for each in judged],
    )


def bounds_table(rows: Sequence[Row], host: Container[tuple[str, ...]] = ()) -> Cells:
    """By experiment and executor. `host` are the runs that it disturbed."""
    heads = ["experiment", "executor", "chain-runs", "proved", "conditional", "other",
             "proved and missed", "above the bound",
             "proved and missed, undisturbed by the host"]  # fmt: skip
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.experiment, row.executor), []).append(row)
    body = []
    for (experiment, executor), own in groups.items():
        proved = [row for row in own if row.verdict == "proved"]
        conditional = sum(row.verdict == "conditional" for row in own)
        above = [
            row
            for row in own
            if row.bound_ms is not None and row.worst_ms is not None and row.worst_ms > row.bound_ms
        ]
        late = [row for row in proved if row.missed > 0]
        alone = [r for r in late if tuple(str(getattr(r, name)) for name in RUN_KEY) not in host]
        body.append([
            experiment, name_of(executor), str(len(own)),
            f"{len(proved)} ({len(proved) / len(own):.0%})", str(conditional),
            str(len(own) - len(proved) - conditional), str(len(late)),
            str(len(above)), str(len(alone)),
        ])  # fmt: skip
    return heads, body

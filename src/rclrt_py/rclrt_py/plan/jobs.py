# SPDX-License-Identifier: Apache-2.0
"""Searches and simulations that the page asks for. Each job returns a document; a proposal has the
changes that one may take."""

from __future__ import annotations

import io
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclrt_py.analyses import sensitivity as margins
from rclrt_py.analyses.assignment import assign_application, usual_evaluations
from rclrt_py.analyses.chains import sound
from rclrt_py.analyses.synthesis import of_bounds, synthesize
from rclrt_py.comparisons.comparison import Comparison, load_single_run
from rclrt_py.comparisons.measurement import Measurement
from rclrt_py.errors import BadInput
from rclrt_py.executors import ASSIGNABLE, kind_name
from rclrt_py.native import analysis
from rclrt_py.options import overheads
from rclrt_py.plan.answer import answer, parse
from rclrt_py.plan.changes import changed, difference
from rclrt_py.plan.yaml_text import YamlText
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.report.comparison_table import in_report_order
from rclrt_py.report.gantt import gantt_data
from rclrt_py.terminal.progress import Progress
from rclrt_py.text import exact

if TYPE_CHECKING:
    from rclrt_analysis import AssignProgress, Machine
    from rclrt_model import Application

Tell = Callable[[float, str], None]
"""Reports the share of a job that is done, and a text."""
TOLD_EVERY_S = 0.1
SHORTEST_S, LONGEST_S = 1.0, 60.0
"""Seconds that a simulation lasts."""
HYPERPERIODS = 4


class Request:
    """A request of the page about one version of the file."""

    def __init__(self, request: Mapping[str, Any], tell: Tell) -> None:
        self.name: str = request["name"]
        self.executor: str = request["executor"]
        self.options: Mapping[str, Any] = request.get("options", {})
        self.text: str = request["text"]
        self.application: Application = parse(self.text, self.name)
        machine = dict(request["overheads"])
        if machine.get("overheads") is not None:
            machine["overheads"] = Path(machine["overheads"])
        self.machine: Machine = overheads.from_arguments(
            Namespace(**machine), self.executor, self.application
        )
        self.tell = tell

    def needs_levels(self, what: str) -> None:
        if kind_name(self.executor) not in ASSIGNABLE:
            raise BadInput(
                f"{what}: executor '{self.executor}' does not run callbacks by priority; choose "
                f"one of {', '.join(ASSIGNABLE)}"
            )


def run_job(kind: str, request: Mapping[str, Any], tell: Tell) -> dict[str, Any]:
    """Runs a job. Throws BadInput if the application cannot be used for it."""
    job = JOBS.get(kind)
    if job is None:
        raise BadInput(f"unknown request '{kind}'")
    return job(Request(request, tell))


def _answer(request: Request) -> dict[str, Any]:
    return answer(request.application, request.executor, request.machine)


def _proposal(request: Request, changes: list[dict[str, Any]], notes: list[str]) -> dict[str, Any]:
    """Returns changes that one may take, with the bounds that they lead to."""
    request.tell(1.0, "its bounds")
    text = changed(YamlText(request.text, request.name), changes).text
    result, _ = sound(parse(text, request.name), request.executor, request.machine, search=False)
    return {"changes": changes, "notes": notes, "after": result["chains"]}


def _synthesize(request: Request) -> dict[str, Any]:
    request.needs_levels("synthesize")
    found = synthesize(
        request.application,
        request.options.get("source", "bounds"),
        None,
        executor=kind_name(request.executor),
        overheads=request.machine.overheads,
    )
    changes = [
        {"op": "set", "path": ["callbacks", item["id"], "priority"], "value": item["priority"]}
        for index, item in enumerate(found["callbacks"])
        if item["priority"] != request.application.effective_priority(index)
    ]
    bounds = found.get("bounds")
    notes = of_bounds(bounds) if bounds else [f"priorities from: {found['source']}"]
    reasons = {item["id"]: item["reason"] for item in found["callbacks"]}
    return {**_proposal(request, changes, notes), "reasons": reasons}


def _assign(request: Request) -> dict[str, Any]:
    request.needs_levels("assign")
    evaluations = usual_evaluations(request.application)
    told = 0.0

    def progress(state: AssignProgress) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= TOLD_EVERY_S:
            told = now
            open_chains = state.best.not_proved
            request.tell(
                state.evaluations / max(state.most_evaluations, 1),
                f"{state.evaluations} evaluations, {open_chains} not proved",
            )

    stated = {cpu for each in request.application.executors for cpu in each.cpus}
    wanted = request.options.get("cpus")
    cpus = sorted(wanted) if wanted else sorted(stated) or [0]
    result, text, _ = assign_application(
        request.application,
        kind_name(request.executor),
        request.machine,
        cpus,
        method="search",
        objective=request.options.get("objective", "max-slack"),
        evaluations=evaluations,
        unit=request.options.get("unit", "group"),
        on_progress=progress,
    )
    old, new = YamlText(request.text, request.name), YamlText(text, "the assignment")
    notes = [f"optimised: {result['optimised']}", f"{result['evaluations']} evaluations"]
    return _proposal(request, difference(old.get(()), new.get(())), notes)


def _sensitivity(request: Request) -> dict[str, Any]:
    reason = analysis().why_no_bounds(request.executor)
    if reason is not None:
        raise BadInput(f"sensitivity: executor '{request.executor}': {reason}")
    return {
        "margins": margins.of_chains(request.application, request.executor, request.machine),
    }


def _find_miss(request: Request) -> dict[str, Any]:
    result, found = sound(request.application, request.executor, request.machine, search=True)
    request.tell(0.5, "")
    shown: dict[str, Any] = {"analysis": result, "misses": []}
    for example in found:
        sampled = example.limit != "deadline"
        chains = request.application.cause_effect_chains if sampled else request.application.chains
        shown["misses"].append(
            {
                "chain": chains[example.chain].id,
                "limit": example.limit,
                "response_ms": example.response_ns / 1e6,
                "instance": example.instance,
            }
        )
    if found:
        text = analysis().counter_example_text(found[0], request.application)
        seconds = max(SHORTEST_S, (found[0].horizon_ns // 1_000_000 + 1) / 1e3)
        shown["simulation"] = _simulation(request, seconds, text)
    return shown


def _simulate(request: Request) -> dict[str, Any]:
    seconds = request.options.get("seconds")
    if seconds is None:
        whole = request.application.hyperperiod_ns() * HYPERPERIODS / 1e9
        seconds = min(max(whole, SHORTEST_S), 10.0)
    if not isinstance(seconds, int | float) or not SHORTEST_S <= seconds <= LONGEST_S:
        raise BadInput(f"simulate: expected {SHORTEST_S:g} to {LONGEST_S:g} seconds")
    return {"simulation": _simulation(request, float(seconds), None)}


def _simulation(request: Request, seconds: float, example: str | None) -> dict[str, Any]:
    """Returns what the timeline of a report shows, and the worst response of each chain."""
    with tempfile.TemporaryDirectory(prefix="rclrt-plan-") as directory:
        place = Path(directory)
        app = place / "app.yaml"
        app.write_text(request.text, encoding="utf-8")
        options: list[str] = []
        if example is not None:
            (place / "miss.yaml").write_text(example, encoding="utf-8")
            options = ["--replay", str(place / "miss.yaml")]
        with StopSignals() as stop, io.StringIO() as quiet:
            run = Measurement(
                app, False, [], stop, Progress(quiet, seconds), simulation_options=options
            )
            run.check_simulation(request.executor, seconds)
            out = place / "out"
            out.mkdir()
            run.write_application(out)
            made, _ = run.run(request.executor, seconds, out)
            if made is None or run.application is None:
                raise BadInput("the simulation was stopped")
            return _timeline(load_single_run(made), run, seconds)


def _timeline(comparison: Comparison, run: Measurement, seconds: float) -> dict[str, Any]:
    """Returns the timeline with the chains in the order of the file, as the page colours them."""
    results = comparison.executors[0]
    assert run.application is not None  # the caller has checked it
    data = gantt_data(comparison, run.application)
    ids = [chain.id for chain in results.chains]
    new = [ids.index(chain.id) for chain in in_report_order(comparison)]
    for choice in data["choices"]:
        for panel in choice["panels"]:
            panel["chain"] = None if panel["chain"] is None else new[panel["chain"]]
            # Equal windows share their rows.
            panel["responses"] = [[new[chain], *rest] for chain, *rest in panel["responses"]]
            for piece in panel["slices"]:
                piece["chain"] = None if piece["chain"] is None else new[piece["chain"]]
    return {
        "gantt": data,
        "seconds": seconds,
        "executors": [{"name": results.executor, "label": results.executor_label}],
        "chains": [
            {
                "id": chain.id,
                "deadline_ms": chain.deadline_ms,
                "released": chain.released,
                "missed": chain.missed,
                "worst_ms": chain.response.worst if chain.response else None,
                "p99_ms": chain.response.p99 if chain.response else None,
            }
            for chain in results.chains
        ],
        "note": f"{exact(seconds)} s simulated",
    }


JOBS: Mapping[str, Callable[[Request], dict[str, Any]]] = {
    "answer": _answer,
    "synthesize": _synthesize,
    "assign": _assign,
    "sensitivity": _sensitivity,
    "find_miss": _find_miss,
    "simulate": _simulate,
}

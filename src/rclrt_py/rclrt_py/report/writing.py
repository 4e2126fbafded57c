# SPDX-License-Identifier: Apache-2.0
"""Completes a directory of results: results.json, the trace and report.html."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rclrt_py.bounds.comparing import add_to_results_file
from rclrt_py.comparisons.comparison import (
    Comparison,
    load_comparison,
    load_single_run,
    merge_directory,
)
from rclrt_py.comparisons.measurement import Measurement
from rclrt_py.errors import BadInput
from rclrt_py.files.atomic import replacing, write_atomically
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import described_kind
from rclrt_py.report.page import make_report
from rclrt_py.runs.output_directory import REPORT, STAGING, Plan, move_up
from rclrt_py.runs.run_data import RESULTS, TRACE
from rclrt_py.runs.streamed import RUNNING

TRIES = 20
"""How often the results of a run that goes on are copied until none was replaced meanwhile."""


def finish_run(measurement: Measurement, made: Path, directory: Path) -> Comparison:
    """Moves a run into the directory of results and writes the report beside it."""
    move_up(made, directory)
    comparison = load_single_run(directory)
    if measurement.expected:
        add_to_results_file(directory, comparison.executors[0])
    write_report(comparison, directory)
    return comparison


def finish_comparison(directory: Path, plan: Plan) -> Comparison:
    """Merges the rounds that completed and writes results.json, the trace and the report."""
    comparison = merge_directory(directory, plan.executors, plan.rounds, plan.seconds)
    _join_traces(comparison, directory)
    write_report(comparison, directory)
    write_atomically(directory / RESULTS, json.dumps(comparison.to_json(), indent=1) + "\n")
    return comparison


def goes_on(directory: Path) -> bool:
    """Returns whether the directory has the results of a run that had not ended by then. If its
    program still runs, it replaces the whole directory every few seconds."""
    if not (directory / RESULTS).is_file():
        return False
    results = JsonValue.load(directory / RESULTS)
    return results.has("ended") and results.get("ended").text() == RUNNING


@contextlib.contextmanager
def settled(directory: Path) -> Iterator[Path]:
    """Yields a directory with the results in `directory` that does not change: `directory`, or a
    copy if the run goes on. The copy is removed afterwards. Errors of the block name `directory`.
    Throws BadInput if the files cannot be copied."""
    if not goes_on(directory):
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="rclrt-report-") as temporary:
        copy = _copied(directory, Path(temporary) / "results")
        try:
            yield copy
        except BadInput as error:
            raise BadInput(str(error).replace(str(copy), str(directory))) from error


def page_beside(directory: Path) -> Path:
    """Returns the place of the page about a run that goes on: it is not in its directory, because
    the next results replace that."""
    place = directory if directory.name not in ("", "..") else directory.resolve()
    return place.with_name(place.name + ".html")


def load_results(directory: Path, original: Path | None = None) -> Comparison:
    """Loads the comparison or the run in the directory. The command that made it may have been
    killed, or a long run may not have ended: then these are the results so far. `original`: the
    directory of which this one is a copy, see settled()."""
    if not directory.is_dir():
        what = "is not a directory" if directory.exists() else "no such directory"
        kind = described_kind(directory)
        what += f" but {kind}" if kind else ""
        raise BadInput(
            f"{directory}: {what}; expected one that rclrt run, simulate or compare wrote"
        )
    if (directory / RESULTS).exists():
        json_value = JsonValue.load(directory / RESULTS)
        single = json_value.has("rclrt_results")
        return load_single_run(directory, None, original) if single else load_comparison(directory)
    plan = Plan.load(directory)
    unfinished = directory / STAGING / "run"
    if plan is not None and plan.kind == "run" and (unfinished / RESULTS).is_file():
        return load_single_run(_copied(unfinished, unfinished.with_name("copy")), directory)
    if plan is None or plan.kind != "comparison":
        raise BadInput(
            f"{directory}: has no {RESULTS}; expected a directory of rclrt run, simulate or compare"
        )
    return finish_comparison(directory, plan)


def _copied(unfinished: Path, copy: Path) -> Path:
    """Copies the results so far of a run that was killed, or that goes on: then its program
    replaces all of them together about once a second. Returns the copy."""
    for _ in range(TRIES):
        with contextlib.suppress(OSError, shutil.Error):  # they were replaced meanwhile
            before = (unfinished / RESULTS).read_bytes()
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(unfinished, copy)
            after = (unfinished / RESULTS).read_bytes()
            if before == (copy / RESULTS).read_bytes() == after:
                return copy
    raise BadInput(
        f"{unfinished}: its files cannot be read, or are replaced all the time; try again"
    )


def write_report(comparison: Comparison, directory: Path, output: Path | None = None) -> Path:
    """Writes the report page about the results in `directory`. Returns its path: `output`, or
    `directory`/report.html if `output` is None."""
    path = output or directory / REPORT
    write_atomically(path, make_report(comparison, directory, path))
    return path


def _join_traces(comparison: Comparison, directory: Path) -> None:
    """Writes one trace file for the whole comparison, from the traces of the first round of every
    executor. Perfetto traces can be joined end to end, because a trace is a repeated protobuf
    field."""
    traces = [runs[0].directory / TRACE for runs in comparison.runs.values()]
    with replacing(directory / TRACE) as joined:
        for trace in traces:
            if trace.is_file():
                with trace.open("rb") as stream:
                    shutil.copyfileobj(stream, joined)

# SPDX-License-Identifier: Apache-2.0
"""Compares a run that was recorded elsewhere with the bounds of its application."""

from __future__ import annotations

from pathlib import Path

from rclrt_py.bounds.comparing import add_to_results_file
from rclrt_py.bounds.expected import Expected
from rclrt_py.bounds.machine import OverheadsFile
from rclrt_py.comparisons.comparison import load_single_run
from rclrt_py.errors import BadInput
from rclrt_py.files.atomic import write_atomically
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.native import analysis, load_application
from rclrt_py.runs.application import describe_app_file, interval_ns
from rclrt_py.runs.output_directory import APPLICATION, BOUNDS
from rclrt_py.runs.run_data import RESULTS, Run

UNKNOWN = "unknown"
"""The middleware in the results of a trace."""


def hold_against(directory: Path, app: Path, overheads: OverheadsFile | None) -> None:
    """Computes the bounds of the application `app` with the priorities that a recorded run in
    `directory` had, and adds them to the run's files, so that a report compares observations with
    bounds.

    Throws BadInput if `app` does not describe that run: it must have the chains that were measured,
    with the periods that they really had.
    """
    if not JsonValue.load(directory / RESULTS).has("rclrt_results"):
        raise BadInput(f"--application: {directory} is a comparison; expected a single run")
    run = Run.load(directory)
    if overheads is not None and run.results.context["rmw"] != UNKNOWN:
        overheads.require_middleware(
            run.results.context["rmw"], f"on which {directory} was recorded"
        )
    application = load_application(app, None)
    names = [callback.id for callback in application.callbacks]
    chains = {
        chain.id: tuple(names[index] for index in chain.callbacks) for chain in application.chains
    }
    for chain in run.results.chains:
        if chains.get(chain.id) != tuple(chain.callbacks):
            raise BadInput(
                f"{app}: has no chain '{chain.id}' of {', '.join(chain.callbacks)}, which "
                f"{directory} has; expected the file that it was recorded with"
            )
        first = application.callbacks[names.index(chain.callbacks[0])]
        period_ns = interval_ns(first) or 0
        recorded_ns = round(chain.period_ms * 1e6)
        # A recording has the shortest interval that it saw of an event with jitter.
        has_jitter = getattr(first.trigger, "jitter_ns", 0) > 0
        shortest_ns = getattr(first.trigger, "min_interval_ns", 0) if has_jitter else period_ns
        if not shortest_ns <= recorded_ns <= period_ns:
            raise BadInput(
                f"{app}: '{chain.callbacks[0]}' has a period of {period_ns / 1e6:g} ms, and "
                f"had {chain.period_ms:g} ms in {directory}, so its bounds do not apply to this "
                f"recording; expected period_ms: {chain.period_ms:g}"
            )
    recorded = {callback.id: callback.priority for callback in run.results.callbacks}
    priorities = [
        recorded.get(name, application.effective_priority(index))
        for index, name in enumerate(names)
    ]
    application = analysis().with_priorities(application, priorities)
    expected = Expected.of(application, (run.results.executor,), overheads)
    described = describe_app_file(app, None)
    if described:
        write_atomically(directory / APPLICATION, described.to_json())
    write_atomically(directory / BOUNDS, expected.predictions.to_json())
    expected.judge(run)
    add_to_results_file(directory, load_single_run(directory).executors[0])

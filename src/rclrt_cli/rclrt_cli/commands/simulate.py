# SPDX-License-Identifier: Apache-2.0
"""`rclrt simulate`: the results of `rclrt run`, computed by the simulator of the executors."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.analyses import task_replay
from rclrt_py.analyses.tasks import is_task_set
from rclrt_py.arguments import MIN_RUN_SECONDS, check_run_seconds, seconds_argument, set_usage
from rclrt_py.comparisons.measurement import Measurement, outcome
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, OPTIONS_HELP, check_executor
from rclrt_py.native import analysis, load_application, read_input
from rclrt_py.options import run as run_options
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.report.writing import finish_run
from rclrt_py.runs.output_directory import REPORT, Plan, claimed
from rclrt_py.runs.run_data import Run
from rclrt_py.terminal.progress import Progress
from rclrt_py.text import exact

from rclrt_cli.printing import exit_code, print_run

if TYPE_CHECKING:
    from rclrt_analysis import CounterExample

HELP = "simulate an application under one executor: no ROS, no waiting, repeatable"
PASSED_ON = (
    "seed",
    "execution_from",
    "dispatch_us",
    "scheduler_us",
    "polling_us",
    "timer_jitter_us",
    "hop_us",
    "cpus",
    "keep",
    "priorities",
    "replay",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    set_usage(
        parser,
        "APP --executor X --out DIR [options]",
        "APP --replay FILE --out DIR [options]",
        "TASKS --replay FILE [--fail-on-miss]",
    )
    run_options.add_application_argument(parser)
    parser.add_argument(
        "--executor",
        metavar="X",
        help=f"the executor: one of {', '.join(EXECUTORS)}; required without --replay; "
        f"{OPTIONS_HELP}",
    )
    parser.add_argument("--out", metavar="DIR", type=Path, help="directory for the results")
    parser.add_argument(
        "--seconds", metavar="S", type=seconds_argument, help="seconds to simulate; default 10"
    )
    parser.add_argument(
        "--replay",
        metavar="FILE",
        type=Path,
        help="simulate the schedule of a counter-example from rclrt analyze "
        "--counter-example: its executor, time, offsets, execution times and priorities",
    )
    parser.add_argument("--seed", metavar="N", help="seed of the random numbers; default 0")
    parser.add_argument(
        "--execution-from",
        metavar="SHARE",
        help="draw execution times uniformly between this share of the WCET (0 to 1) and the"
        " WCET; default 1: always the WCET",
    )
    parser.add_argument(
        "--dispatch-us", metavar="T", help="CPU time in µs to dispatch an instance; default 0"
    )
    parser.add_argument(
        "--scheduler-us",
        metavar="T",
        help="CPU time in µs of a scheduler thread per instance, if there is one; default 0",
    )
    parser.add_argument(
        "--polling-us", metavar="T", help="CPU time in µs of a wait set's polling point; default 0"
    )
    parser.add_argument(
        "--timer-jitter-us",
        metavar="T",
        help="delay timers with overrun: catch_up by at most T µs; default 0",
    )
    parser.add_argument(
        "--hop-us",
        metavar="T",
        help="longest time in µs that a message between executors takes; default 0",
    )
    parser.add_argument(
        "--cpus",
        metavar="N",
        help="number of CPUs of an executor if the application does not state them; default 1",
    )
    run_options.add_keep_argument(parser)
    run_options.add_fail_on_miss_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.replay is not None and is_task_set(read_input(arguments.app)):
        said, late = task_replay.run(arguments.app, arguments.replay)
        print(said)
        return EXIT_NO if late and arguments.fail_on_miss is not None else EXIT_OK
    example = _counter_example(arguments)
    executor, seconds = _executor_and_seconds(arguments, example)
    check_run_seconds(seconds)
    options: list[str] = []
    for name in PASSED_ON:
        value = getattr(arguments, name)
        if value is not None:
            options += [f"--{name.replace('_', '-')}", str(value)]
    progress = Progress(sys.stderr, seconds)
    with StopSignals() as stop:
        simulation = Measurement(
            arguments.app,
            False,
            [],
            stop,
            progress,
            arguments.priorities,
            simulation_options=options,
        )
        simulation.check_chain(arguments.fail_on_miss)
        simulation.check_simulation(executor, seconds)
        if arguments.out is None:
            raise BadInput("simulate: no --out; expected a directory for the results")
        inputs = [arguments.app, arguments.priorities, arguments.replay]
        with claimed(arguments.out, Plan("run", (executor,), 1, seconds), inputs) as directory:
            simulation.write_application(directory)
            made, _ = simulation.run(executor, seconds, directory)
            if made is None:
                progress.say("rclrt: stopped before the simulation ended; nothing was written")
                return stop.exit_code
            progress.say(f"{executor}  {outcome(Run.load(made))}")
            comparison = finish_run(simulation, made, directory)
        print_run(comparison, directory)
        if example is not None:
            print(_replayed(example, Run.load(directory)))
        print(f"\n{directory / REPORT}")
        return exit_code(comparison, arguments.fail_on_miss)


def _counter_example(arguments: argparse.Namespace) -> CounterExample | None:
    """Loads the counter-example of --replay. None: the option was not given."""
    if arguments.replay is None:
        return None
    module = analysis()
    application = load_application(arguments.app, arguments.priorities)
    try:
        example: CounterExample = module.load_counter_example(arguments.replay, application)
    except module.FileError as error:
        raise BadInput(str(error)) from error
    return example


def _executor_and_seconds(
    arguments: argparse.Namespace, example: CounterExample | None
) -> tuple[str, float]:
    """Returns the executor and the number of seconds to simulate: those on the command line,
    otherwise those of the counter-example `example`. Without either, simulates ten seconds. Throws
    BadInput if no executor is stated."""
    executor, seconds = arguments.executor, arguments.seconds
    if example is not None:
        executor = executor or example.executor
        whole_ms = example.horizon_ns // 1_000_000 + 1
        seconds = seconds or max(MIN_RUN_SECONDS, whole_ms / 1e3)
    if executor is None:
        raise BadInput(f"simulate: no --executor; expected one of {', '.join(EXECUTORS)}")
    return check_executor(executor), seconds or 10.0


def _replayed(example: CounterExample, run: Run) -> str:
    """Describes the result of the counter-example's instance."""
    text = analysis().duration_text
    stated = f"the counter-example states {text(example.response_ns)}"
    if example.begin_ns > 0:
        stated += (
            f", {analysis().clock_text(example.begin_ns + example.release_ns)} after the start"
        )
    if example.limit != "deadline":
        sampled = run.results.cause_effect_chains[example.chain]
        is_age = example.limit == "age"
        what = "age" if is_age else "reaction time"
        limit = sampled.max_age_ms if is_age else sampled.max_reaction_ms
        missed = sampled.missed_age if is_age else sampled.missed_reaction
        summary = sampled.age if is_age else sampled.reaction
        longest = "none" if summary is None else text(round(summary.worst * 1e6))
        return (
            f"\ncause-effect chain {sampled.id}: longest {what} {longest}, limit {exact(limit)} "
            f"ms, exceeded {missed} times; {stated}"
        )
    chain = run.results.chains[example.chain]
    if example.never_runs is not None:
        starved = run.results.callbacks[example.never_runs]
        found = f"ran {starved.completed} times" if starved.completed else "has not run"
        return (
            f"\nchain {chain.id}: {starved.id} {found}; the counter-example states that it has not "
            f"run {text(example.response_ns, 6)} after the chain's first release"
        )
    for row in run.chain_rows():
        if row.chain == chain.id and row.instance == example.instance:
            response = "none" if row.response is None else text(row.response)
            return (
                f"\nchain {chain.id}, instance {row.instance}: response {response}, deadline "
                f"{exact(chain.deadline_ms)} ms, {row.status}; {stated}"
            )
    return f"\nchain {chain.id}, instance {example.instance}: not released; {stated}"

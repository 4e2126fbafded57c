# SPDX-License-Identifier: Apache-2.0
"""`rclrt calibrate`: measures what dispatching, timers and messages cost on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rclrt_py.arguments import seconds_argument
from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, parse_executors
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.processes.runner import find_runner, run_child, runner_command
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.run_data import RESULTS, Run
from rclrt_py.terminal.progress import Progress
from rclrt_py.terminal.table import Columns

from rclrt_cli.calibrate import applications, bandwidth
from rclrt_cli.calibrate.samples import Found, Samples, Stalls, find, find_hops

HELP = "measure this machine's overheads, for rclrt analyze --overheads"
MIN_SECONDS = 1.0
MAX_MESSAGE_BYTES = 10_000_000
HOPS = ("intra_process", "same_host")
COLUMNS = ("n", "min", "p50", "p99", "max", "max_undisturbed", "disturbed")
WIDTHS = Columns(40, *[16] * len(COLUMNS))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write them there, as JSON"
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=10.0,
        help="of each executor, and of the messages between processes; default 10",
    )
    parser.add_argument(
        "--executors",
        metavar="A,B,...",
        default=",".join(EXECUTORS),
        help="default: all of them",
    )
    parser.add_argument("--cpu", metavar="N", type=int, help="default: the last one")
    parser.add_argument(
        "--message-bytes",
        metavar="N",
        type=int,
        default=1000,
        help="of the messages; publishing and taking them is part of the dispatch; default 1000",
    )


def run(arguments: argparse.Namespace) -> int:
    executors = parse_executors(arguments.executors)
    for name in executors:
        if name not in EXECUTORS:
            raise BadInput(f"calibrate: {name}: expected kinds of executors, without options")
    cpus = sorted(os.sched_getaffinity(0))
    cpu = cpus[-1] if arguments.cpu is None else arguments.cpu
    _check(arguments, cpu, cpus)
    program = find_runner(os.environ)
    seconds: float = arguments.seconds
    progress = Progress(sys.stderr, seconds * (len(executors) + 1))
    with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="rclrt-calibrate-") as name:
        calibration = Calibration(
            program, Path(name), seconds, cpu, cpus, arguments.message_bytes, stop, progress
        )
        for executor in executors:
            if not calibration.measure(executor):
                return _stopped(stop)
        if not calibration.measure_between_processes():
            return _stopped(stop)
        calibration.measure_bandwidth()
        if stop.requested:
            return _stopped(stop)
    overheads = calibration.to_json()
    for line in lines(overheads):
        print(line)
    if arguments.output:
        write_atomically(arguments.output, json.dumps(overheads, indent=1) + "\n")
        print(f"\n{arguments.output}")
    return EXIT_OK


def _check(arguments: argparse.Namespace, cpu: int, cpus: list[int]) -> None:
    """Rejects, before anything is measured, options that cannot be used."""
    if arguments.output:
        check_file("-o", arguments.output)
    if arguments.seconds < MIN_SECONDS:
        raise BadInput(f"--seconds {arguments.seconds:g}: expected at least {MIN_SECONDS:g}")
    if cpu not in cpus:
        raise BadInput(
            f"--cpu {cpu}: this process may not use it; expected one of "
            f"{', '.join(str(each) for each in cpus)}"
        )
    if not 0 <= arguments.message_bytes <= MAX_MESSAGE_BYTES:
        raise BadInput(f"--message-bytes: expected 0 to {MAX_MESSAGE_BYTES}")


def _stopped(stop: StopSignals) -> int:
    print("rclrt: stopped before the end; nothing was written", file=sys.stderr)
    return stop.exit_code


@dataclass
class Calibration:
    """The runs of one command line, and their samples so far."""

    program: Path
    directory: Path
    seconds: float
    cpu: int
    cpus: list[int]
    message_bytes: int
    stop: StopSignals
    progress: Progress
    found: dict[str, Found] = field(default_factory=dict)
    between: Samples = field(default_factory=Samples)
    contexts: list[dict[str, Any]] = field(default_factory=list)
    bandwidth: dict[str, float] | None = None
    started: str = ""

    def measure(self, executor: str) -> bool:
        """Runs one executor. Returns false if the user stopped it."""
        self.progress.step(executor, self.seconds)
        app = applications.one_cpu(self.cpu, self.message_bytes)
        run = self._run(executor, executor, app, self.seconds)
        if run is None:
            return False
        found = self.found[executor] = find(
            run.instance_rows(), Stalls(run.stalls(), self.cpu), executor
        )
        middle = (found.dispatch.to_json() or {}).get("p50", float("nan"))
        self.progress.finished(f"dispatch {middle:.1f} µs")
        return True

    def measure_between_processes(self) -> bool:
        """Measures on two CPUs if there are two. Returns false if the user stopped it."""
        name = "between processes"
        self.progress.step(name, self.seconds)
        other_cpu = self.cpus[-2] if len(self.cpus) > 1 and self.cpu == self.cpus[-1] else self.cpu
        app = applications.two_processes(self.cpu, other_cpu, self.message_bytes)
        run = self._run("processes", "preemptive", app, self.seconds)
        if run is None:
            return False
        self.between = find_hops(run.instance_rows(), Stalls(run.stalls(), self.cpu))
        middle = (self.between.to_json() or {}).get("p50", float("nan"))
        self.progress.finished(f"hop {middle:.1f} µs")
        return True

    def measure_bandwidth(self) -> None:
        """Measures the share of the CPU that real-time threads may use."""
        seconds = bandwidth.PERIODS * bandwidth.PERIOD_S
        self.progress.step("bandwidth", seconds)
        self.bandwidth = bandwidth.measure(self.cpu, seconds)
        share = "unknown" if self.bandwidth is None else f"{100 * self.bandwidth['share']:.1f} %"
        self.progress.finished(f"real-time threads get {share}")

    def _run(self, name: str, executor: str, app: dict[str, Any], seconds: float) -> Run | None:
        path, out = self.directory / f"{name}.yaml", self.directory / name
        path.write_text(json.dumps(app), encoding="utf-8")
        tick = self.progress.tick if self.progress.live else None
        command = runner_command(self.program, path, executor, seconds, out, False, [])
        ended = run_child(command, self.directory, seconds, self.stop, tick)
        for note in ended.notes:
            self.progress.say(note)
        if ended.interrupted or not (out / RESULTS).is_file():
            return None
        run = Run.load(out)
        self.contexts.append(run.results.context)
        self.started = self.started or run.results.started_utc
        return run

    def to_json(self) -> dict[str, Any]:
        """Returns the document of schemas/overheads.schema.json."""
        near, background = Samples(), Samples()
        for found in self.found.values():
            near.extend(found.hop)
            background.extend(found.background)
        hops = dict(zip(HOPS, (near.to_json(), self.between.to_json()), strict=True))
        last = self.contexts[-1]
        return {
            "rclrt": 1,
            "kind": "overheads",
            "executors": {name: found.to_json() for name, found in self.found.items()},
            "hop_us": {name: value for name, value in hops.items() if value is not None},
            "background_us": background.to_json(),
            **({} if self.bandwidth is None else {"rt_bandwidth": self.bandwidth}),
            "seconds": self.seconds * len(self.contexts),
            "steal_ms": round(sum(context["steal_ms"] for context in self.contexts), 6),
            "host_stalls": sum(context["host_stalls"]["count"] for context in self.contexts),
            "realtime": all(context["realtime"] for context in self.contexts),
            "machine": {
                "measured_utc": self.started,
                **{key: last[key] for key in ("kernel", "cpu_model", "cpus", "preempt_rt")},
                **{key: last[key] for key in ("ros_distro", "rmw", "versions")},
                "cpu": self.cpu,
                "message_bytes": self.message_bytes,
            },
        }


def lines(overheads: dict[str, Any]) -> Iterator[str]:
    """Yields a table of all values, in microseconds."""
    yield WIDTHS.line("µs", *COLUMNS)
    for executor, stated in overheads["executors"].items():
        for name, value in stated.items():
            yield _line(f"{executor} {_words(name)}", value)
    for name in HOPS:
        if name in overheads["hop_us"]:
            yield _line(f"hop {_words(name)}", overheads["hop_us"][name])
        else:
            yield f"hop {_words(name)}: no message came; try again with more --seconds"
    yield _line("background, each ms", overheads["background_us"])
    yield ""
    yield (
        f"{overheads['seconds']:g} s on CPU {overheads['machine']['cpu']}, messages of "
        f"{overheads['machine']['message_bytes']} bytes; stolen by the host: "
        f"{overheads['steal_ms']:g} ms, stalls of the host: {overheads['host_stalls']}"
    )
    if "rt_bandwidth" in overheads:
        given = overheads["rt_bandwidth"]
        yield (
            f"Real-time threads get {100 * given['share']:.1f} % of a CPU that they keep busy; the "
            f"longest wait was {given['longest_wait_us'] / 1e3:.1f} ms."
        )
    if not overheads["realtime"]:
        yield "Not real-time: nothing here says what SCHED_FIFO would give."


def _words(name: str) -> str:
    return name.removesuffix("_us").replace("_", " ")


def _line(name: str, value: dict[str, Any]) -> str:
    cells = ("-" if key not in value else f"{value[key]:g}" for key in COLUMNS)
    return WIDTHS.line(name, *cells)

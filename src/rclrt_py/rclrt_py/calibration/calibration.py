# SPDX-License-Identifier: Apache-2.0
"""Measures the overheads of a machine: runs each executor and collects its samples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rclrt_py.bounds.machine import HOPS
from rclrt_py.calibration import applications, bandwidth
from rclrt_py.calibration.samples import Found, Samples, Stalls, find, find_handovers, find_hops
from rclrt_py.processes.runner import KEEP_ALL, run_child, runner_command
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.runs.run_data import RESULTS, Run
from rclrt_py.terminal.progress import Progress

LEAST_SECONDS = 1.0
"""The shortest run that has enough samples after its warm-up."""


def seconds_on_two_cpus(seconds: float) -> float:
    """Returns how long the hand-over of an executor is measured that is measured for `seconds`."""
    return max(LEAST_SECONDS, seconds / 2)


def duration_s(executors: Sequence[str], seconds: float, cpus: Sequence[int]) -> float:
    """Returns how long Calibration.measure_all() takes, without the measured bandwidth."""
    on_two = [each for each in executors if len(cpus) > 1 and applications.on_two_cpus(each)]
    return seconds * (len(executors) + 1) + seconds_on_two_cpus(seconds) * len(on_two)


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
    measured_s: float = 0

    @property
    def other_cpu(self) -> int:
        """The CPU beside the one that is measured; the same one if the process has no other."""
        others = [cpu for cpu in self.cpus if cpu != self.cpu]
        return others[-1] if others else self.cpu

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
        return self._measure_handover(executor)

    def _measure_handover(self, executor: str) -> bool:
        """Measures on two CPUs, if there are two and the executor can use them. Returns false if
        the user stopped it."""
        name = applications.on_two_cpus(executor)
        if not name or self.other_cpu == self.cpu:
            return True
        cpus = (self.cpu, self.other_cpu)
        seconds = seconds_on_two_cpus(self.seconds)
        self.progress.step(f"{executor} on two CPUs", seconds)
        app = applications.two_cpus(cpus, self.message_bytes)
        run = self._run(f"{executor}2", name, app, seconds)
        if run is None:
            return False
        stalls = run.stalls()
        found = self.found[executor].handover = find_handovers(
            run.instance_rows(), [Stalls(stalls, cpu) for cpu in cpus]
        )
        middle = (found.to_json() or {}).get("p50", float("nan"))
        self.progress.finished(f"hand-over {middle:.1f} µs")
        return True

    def measure_between_processes(self) -> bool:
        """Measures on two CPUs if there are two. Returns false if the user stopped it."""
        name = "between processes"
        self.progress.step(name, self.seconds)
        app = applications.two_processes(self.cpu, self.other_cpu, self.message_bytes)
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
        command = runner_command(
            self.program, path, executor, seconds, out, False, [], keep=KEEP_ALL
        )
        ended = run_child(command, self.directory, seconds, self.stop, tick)
        for note in ended.notes:
            self.progress.say(note)
        if ended.interrupted or not (out / RESULTS).is_file():
            return None
        run = Run.load(out)
        self.contexts.append(run.results.context)
        self.measured_s += seconds
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
            "seconds": self.measured_s,
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

    def measure_all(self, executors: Sequence[str]) -> bool:
        """Measures everything. Returns false if the user stopped it."""
        if not all(self.measure(executor) for executor in executors):
            return False
        if not self.measure_between_processes():
            return False
        self.measure_bandwidth()
        return not self.stop.requested

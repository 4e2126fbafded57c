# SPDX-License-Identifier: Apache-2.0
"""Two hosts for a long time: the peer is killed and restarted every 20 s, and its clock is set.
Nothing hangs, nothing grows, and each gap and each step is reported.

    soak.py SECONDS CLOCK [HOSTS]

CLOCK is the program rclrt_clock. With HOSTS, the program rclrt_robot_hosts, the ages of data that
the peer stamps are judged as well, and compared with the truth.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rclrt_py.processes.parent_death import end_with_parent
from rclrt_py.testing.namespaces import HOSTS, TwoHosts

LEFT, RIGHT = HOSTS
CYCLE_S = 20.0
DEAD_S = 5.0
"""How long the peer is dead in each cycle: it is silent after three seconds."""
STEP_AT_S = 12.0
"""The clock of the peer is set so long after its start."""
STEPS_MS = (-3.0, 25.0, 0.2, -40.0)
OFFSET_MS = 40.0
BEGIN_S = 20.0
"""Memory and threads are compared with those after the first cycle."""
MOST_GROWTH_KIB = 4_096
PING = ("--period", "50", "--report", "100")
ROBOT = """\
rclrt: 1
callbacks:
  - {node: /node, subscription: /points, max_age_ms: 1000, stamped_by: right}
monitor: {}
"""


@dataclass
class Watched:
    """A process that runs all the time, and what it prints."""

    name: str
    process: subprocess.Popen[str]
    lines: list[dict[str, Any]] = field(default_factory=list)
    first: tuple[int, int, int] | None = None
    """Resident KiB, file descriptors and threads after the first cycle."""
    pid: int = 0

    def read(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            line = json.loads(text)
            line["at_s"] = time.monotonic()
            self.lines.append(line)

    def use(self) -> tuple[int, int, int]:
        status = dict(
            line.split(":", 1)
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        )
        files = len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))
        return int(status["VmRSS"].split()[0]), files, int(status["Threads"])


class Soak:
    def __init__(self, hosts: TwoHosts, clock: str, program: str | None, folder: Path) -> None:
        self._hosts = hosts
        self._clock = clock
        self._program = program
        self.watched: list[Watched] = []
        self.steps: list[float] = []
        """When the clock of the peer was set, by CLOCK_MONOTONIC."""
        self.deaths: list[float] = []
        self._watch("clock", [clock, *PING])
        if program is not None:
            robot = folder / "robot.yaml"
            robot.write_text(ROBOT)
            self._watch("judge", [program, "judge"])
            self._watch("monitor", [program, "monitor", str(robot)])

    def _start(self, host: str, command: Sequence[str], out: int, test: str = "") -> Any:
        variables = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
        if test:
            variables["RCLRT_TEST_CLOCK"] = test
        return subprocess.Popen(
            self._hosts.command(host, command),
            stdin=subprocess.DEVNULL,
            stdout=out,
            text=True,
            env=os.environ | variables,
            preexec_fn=end_with_parent(),
        )

    def _watch(self, name: str, command: Sequence[str]) -> None:
        watched = Watched(name, self._start(LEFT, command, subprocess.PIPE))
        threading.Thread(target=watched.read, daemon=True).start()
        self.watched.append(watched)

    def cycle(self, number: int) -> None:
        """The life of the peer once: started, its clock set, killed, and dead for a while."""
        begin_s = time.monotonic()
        step_s = begin_s + STEP_AT_S
        by_ms = STEPS_MS[number % len(STEPS_MS)]
        test = f"offset_ms={OFFSET_MS} step_ms={by_ms}@{step_s:.9f}"
        peers = [self._start(RIGHT, [self._clock, *PING], subprocess.DEVNULL, test)]
        if self._program is not None:
            data = [self._program, "publish", "10000"]
            peers.append(self._start(RIGHT, data, subprocess.DEVNULL, test))
        time.sleep(max(begin_s + CYCLE_S - DEAD_S - time.monotonic(), 0))
        for peer in peers:
            peer.send_signal(signal.SIGKILL)
            peer.wait()
        self.steps.append(step_s)
        self.deaths.append(time.monotonic())
        time.sleep(max(begin_s + CYCLE_S - time.monotonic(), 0))

    def check(self) -> list[str]:
        """Returns what is wrong up to now."""
        faults: list[str] = []
        for each in self.watched:
            if each.process.poll() is not None:
                faults.append(f"{each.name} ended with {each.process.returncode}")
                continue
            if not each.lines or time.monotonic() - each.lines[-1]["at_s"] > DEAD_S:
                faults.append(f"{each.name} hangs: it has printed nothing for {DEAD_S:g} s")
            use = each.use()
            if each.first is None:
                each.first = use
            elif use[0] > each.first[0] + MOST_GROWTH_KIB or use[1:] > each.first[1:]:
                faults.append(f"{each.name} grows: KiB, files and threads {each.first} -> {use}")
        return faults

    def gaps(self) -> list[str]:
        """Returns the deaths and steps that were not reported."""
        faults: list[str] = []
        clock = self.watched[0]
        events = [line for line in clock.lines if "event" in line]
        names = [(line["at_s"], line["event"]) for line in events]

        def is_told(kinds: Sequence[str], from_s: float, to_s: float) -> bool:
            return any(kind in kinds and from_s <= at_s <= to_s for at_s, kind in names)

        for number, (step_s, death_s) in enumerate(zip(self.steps, self.deaths, strict=True)):
            if not is_told(("peer_clock_set", "step"), step_s - 0.5, death_s):
                faults.append(f"cycle {number}: the step of the peer's clock was not reported")
            if not is_told(("silent",), death_s, death_s + DEAD_S):
                faults.append(f"cycle {number}: the death of the peer was not reported")
            last = number == len(self.deaths) - 1
            if not last and not is_told(("back", "restarted"), death_s, death_s + CYCLE_S):
                faults.append(f"cycle {number}: the return of the peer was not reported")
        for each in self.watched:
            if each.name == "judge" and each.lines:
                last_line = each.lines[-1]
                for key in ("outside", "wrong_verdicts", "met_on_a_guess"):
                    if last_line[key]:
                        faults.append(f"judge: {key} {last_line[key]}")
                if last_line["known"] < 100 * len(self.deaths):
                    faults.append(f"judge: only {last_line['known']} ages are known")
            if each.name == "monitor":
                faults += self._monitor_gaps(each)
        return faults

    def _monitor_gaps(self, monitor: Watched) -> list[str]:
        faults: list[str] = []
        for number, (step_s, death_s) in enumerate(zip(self.steps, self.deaths, strict=True)):
            told = [
                line["message"]
                for line in monitor.lines
                if step_s <= line["at_s"] <= death_s + DEAD_S
            ]
            if not any("the clock of right was set" in text for text in told):
                faults.append(f"cycle {number}: the monitor does not report the step")
            if not any("right is silent for" in text for text in told):
                faults.append(f"cycle {number}: the monitor does not report the silence")
        for line in monitor.lines:
            if any(float(line.get(key, 0)) < 0 for key in ("p50_low_ms", "max_low_ms")):
                faults.append(f"the monitor reports a negative age: {line}")
        return faults

    def end(self) -> list[str]:
        """Ends all processes. Returns those that do not end."""
        faults: list[str] = []
        for each in self.watched:
            if each.process.poll() is not None:
                continue  # reported already
            each.process.send_signal(signal.SIGINT)
            try:
                each.process.wait(30)
            except subprocess.TimeoutExpired:
                faults.append(f"{each.name} does not end")
                each.process.kill()
                each.process.wait()
        return faults

    def summary(self) -> str:
        parts = [f"{len(self.deaths)} deaths, {len(self.steps)} steps"]
        for each in self.watched:
            state = f"{each.name} {each.first}"
            if each.name == "judge" and each.lines:
                keys = ("judged", "known", "outside", "wrong_verdicts", "met_on_a_guess")
                state += " " + ", ".join(f"{key} {each.lines[-1][key]}" for key in keys)
            if each.process.poll() is None:
                state += f" -> {each.use()}"
            parts.append(state)
        return "; ".join(parts)


def main(arguments: Sequence[str]) -> int:
    seconds = float(arguments[0])
    # The directory of a process of another namespace is another one.
    clock = str(Path(arguments[1]).resolve())
    program = str(Path(arguments[2]).resolve()) if len(arguments) > 2 else None
    cycles = max(2, round(seconds / CYCLE_S))
    with TwoHosts() as hosts, tempfile.TemporaryDirectory() as folder:
        soak = Soak(hosts, clock, program, Path(folder))
        faults: list[str] = []
        for number in range(cycles):
            soak.cycle(number)
            faults = soak.check()
            print(f"soak: cycle {number + 1} of {cycles}: {soak.summary()}", flush=True)
            if faults:
                break
        faults += soak.gaps()
        faults += soak.end()
    for fault in faults:
        print(f"soak: {fault}", file=sys.stderr)
    print(f"soak: {'failed' if faults else 'passed'}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""The workloads that rclrt_workloads has, and the time of each on this machine."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rclrt_py.errors import EXIT_BAD_INPUT, BadInput, RunFailed

COLUMNS = ("n", "min", "p50", "p99", "max", "mean", "deviation")


@dataclass(frozen=True)
class Timed:
    """The CPU time of an iteration, in nanoseconds."""

    name: str
    times: dict[str, float]
    result: int

    @classmethod
    def read(cls, line: str) -> Timed:
        name, *numbers, result = line.split("\t")
        return cls(name, dict(zip(COLUMNS, map(float, numbers), strict=True)), int(result))

    def to_json(self) -> dict[str, Any]:
        times = {f"{key}_us": round(ns / 1e3, 4) for key, ns in self.times.items() if key != "n"}
        return {"name": self.name, "n": int(self.times["n"]), **times, "result": self.result}


def built_in(program: Path) -> dict[str, str]:
    """Returns the workloads of the program, each with its description."""
    rows = (line.split("\t") for line in _output([str(program), "list"]).splitlines())
    return {name: character for name, character, _ in rows}


def time_workloads(
    program: Path, iterations: int, names: Sequence[str], environment: dict[str, str]
) -> list[Timed]:
    """Times the workloads. Throws BadInput for an unknown name."""
    command = [str(program), "time", str(iterations), *names]
    return [Timed.read(line) for line in _output(command, environment).splitlines()]


def document_of(timed: Sequence[Timed]) -> dict[str, Any]:
    """Returns the document that `rclrt generate --workloads` reads."""
    return {
        "rclrt": 1,
        "kind": "workloads",
        "machine": {
            "measured_utc": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "kernel": platform.release(),
            "architecture": platform.machine(),
            "cpus": os.cpu_count(),
        },
        "workloads": [each.to_json() for each in timed],
    }


def _output(command: list[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    said = done.stderr.decode(errors="replace").strip()
    if done.returncode == EXIT_BAD_INPUT:
        raise BadInput(said)
    if done.returncode != 0:
        raise RunFailed(f"{Path(command[0]).name} ended with exit code {done.returncode}: {said}")
    if said:
        print(said, file=sys.stderr)
    return done.stdout.decode()

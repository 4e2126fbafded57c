# SPDX-License-Identifier: Apache-2.0
"""Common parts of the measurements of other people's robots: processes, CPU time, releases."""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import subprocess
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

STOLEN_MS = 10  # a run is repeated if the host took more of its time
TRIES = 4


def prefixes() -> list[Path]:
    return [Path(each) for each in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if each]


def find(relative: str) -> Path:
    for prefix in prefixes():
        if (prefix / relative).exists():
            return prefix / relative
    print(
        f"error: {relative} is in no folder of AMENT_PREFIX_PATH.\n"
        "fix: set UNDERLAY to a workspace that has it and build again; see bench/README.md",
        file=sys.stderr,
    )
    sys.exit(2)


def version(package: str) -> str:
    text = find(f"share/{package}/package.xml").read_text(encoding="utf-8")
    return text.split("<version>")[1].split("</version>")[0]


def head_of(packages: tuple[str, ...]) -> str:
    """Returns the versions of a measurement. Call it first, so that a missing one ends it early."""
    if "RCLRT_DISTRO" not in os.environ:
        sys.exit("error: RCLRT_DISTRO is not set\nfix: run this program by tools/env python3")
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"Measured {day}, {versions} ({os.environ['RCLRT_DISTRO']}), Linux {os.uname().release}, "
        f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} before."
    )


def arguments_of(given: list[str], rounds: int, seconds: int) -> tuple[bool, int, int]:
    """Returns whether the program only prints, the number of rounds, and the seconds of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", action="store_true", help="write no page")
    parser.add_argument("rounds", type=int, nargs="?", default=rounds)
    parser.add_argument("seconds", type=int, nargs="?", default=seconds)
    arguments = parser.parse_args(given)
    if arguments.rounds < 1 or arguments.seconds < 1:
        parser.error("ROUNDS and SECONDS: expected numbers from 1 on")
    return arguments.print, arguments.rounds, arguments.seconds


def cpu_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def stolen_ms() -> float:
    return int(Path("/proc/stat").read_text().split()[8]) * 1e3 / os.sysconf("SC_CLK_TCK")


def heed_ctrl_c() -> None:
    """Restores SIGINT, which a shell makes its background processes ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command while the block runs. At the end of the block sends it SIGINT, like Ctrl-C,
    and waits up to 30 s. Then kills those of its processes that still run. `log` gets its
    output."""
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=heed_ctrl_c,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(30)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


@contextmanager
def client_of(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Runs a command within a with statement, which reads its output."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def stop(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # running commands end first
    sys.exit(1)


def last_cpus(count: int) -> str:
    """Returns the last `count` CPUs that we may use, in the format of taskset."""
    return ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[-count:])


def first_release(times: list[int], period_ns: int, width: int) -> int:
    """Returns the phase of periodic releases, in ns after a multiple of the period. `times` are
    observations that are never earlier than their release. The result is the earliest phase of an
    observation within `width` of the phase that most observations have."""
    phases = sorted(time % period_ns for time in times)
    phases += [phase + period_ns for phase in phases]
    count = len(times)
    densest = max(range(count), key=lambda i: bisect_left(phases, phases[i] + width) - i)
    start = phases[densest] + period_ns  # so that earlier phases are in the list, too
    return phases[bisect_left(phases, start - width)] % period_ns


def run_undisturbed(run: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], int]:
    """Calls `run` until the host took at most STOLEN_MS of CPU time during a run, and repeats it at
    most TRIES times. Returns the result of the last run and the number of repetitions."""
    for repeated in itertools.count():
        result = run()
        if result["stolen_ms"] <= STOLEN_MS or repeated == TRIES:
            return result, repeated
    raise AssertionError


def in_turn(
    names: list[str], rounds: int, run: Callable[[str], dict[str, Any]]
) -> tuple[dict[str, list[dict[str, Any]]], int, int]:
    """Calls `run` for each of the names in every round. Returns the results by name, the number of
    repetitions because of the host, and the number of runs that were disturbed even at the last
    repetition. After this call, SIGTERM ends the running commands, too."""
    signal.signal(signal.SIGTERM, stop)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    repeated = disturbed = 0
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            result, again = run_undisturbed(partial(run, name))
            runs[name].append(result)
            print(
                f"round {number + 1} of {rounds}: {name}, repeated {again} times", file=sys.stderr
            )
            repeated += again
            disturbed += result["stolen_ms"] > STOLEN_MS
    return runs, repeated, disturbed


def repeats(repeated: int, disturbed: int) -> str:
    kept = f", {disturbed} of them to the last" if disturbed else ""
    return f"{repeated} were made again because the host took more than {STOLEN_MS} ms{kept}"


def share_of(values: list[int], share: float) -> float:
    return values[int(share * (len(values) - 1))] / 1e3

# SPDX-License-Identifier: Apache-2.0
"""What the measurements of other people's robots share: processes, CPU time, releases."""

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

STOLEN_MS = 10  # a run of whose time the host took more is made again
TRIES = 4


def prefixes() -> list[Path]:
    return [Path(each) for each in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if each]


def find(relative: str) -> Path:
    for prefix in prefixes():
        if (prefix / relative).exists():
            return prefix / relative
    print(
        f"error: {relative} is in no folder of AMENT_PREFIX_PATH.\n"
        "fix: build on a workspace that has it (UNDERLAY), see bench/README.md",
        file=sys.stderr,
    )
    sys.exit(2)


def version(package: str) -> str:
    text = find(f"share/{package}/package.xml").read_text(encoding="utf-8")
    return text.split("<version>")[1].split("</version>")[0]


def head_of(packages: tuple[str, ...]) -> str:
    """What a measurement was made with; before it, so that nothing is missing at its end."""
    if "RCLRT_DISTRO" not in os.environ:
        sys.exit("error: RCLRT_DISTRO is not set\nfix: call this by tools/env python3")
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    return (
        f"Measured {day}, {versions} ({os.environ['RCLRT_DISTRO']}), Linux {os.uname().release}, "
        f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} before."
    )


def arguments_of(given: list[str], rounds: int, seconds: int) -> tuple[bool, int, int]:
    """Whether it only prints, how many rounds, and of how many seconds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", action="store_true", help="write nothing into bench/README.md")
    parser.add_argument("rounds", type=int, nargs="?", default=rounds)
    parser.add_argument("seconds", type=int, nargs="?", default=seconds)
    arguments = parser.parse_args(given)
    if arguments.rounds < 1 or arguments.seconds < 1:
        parser.error("expected at least one round and one second")
    return arguments.print, arguments.rounds, arguments.seconds


def cpu_ms(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def stolen_ms() -> float:
    return int(Path("/proc/stat").read_text().split()[8]) * 1e3 / os.sysconf("SC_CLK_TCK")


def heed_ctrl_c() -> None:
    """A shell lets what it starts in the background ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a command within a with statement; ends it as Ctrl-C does, and then, or after 30 s, what
    it has started and left."""
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
    """Runs a command whose output is read within a with statement, and not beyond it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def stop(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # what is running ends first
    sys.exit(1)


def last_cpus(count: int) -> str:
    """The last `count` CPUs that we may use, as taskset takes them."""
    return ",".join(str(cpu) for cpu in sorted(os.sched_getaffinity(0))[-count:])


def first_release(times: list[int], period_ns: int, width: int) -> int:
    """When in its period a release is, by what follows it alone, which is never early: the earliest
    that is within `width` of where most of the times are."""
    phases = sorted(time % period_ns for time in times)
    phases += [phase + period_ns for phase in phases]
    count = len(times)
    densest = max(range(count), key=lambda i: bisect_left(phases, phases[i] + width) - i)
    start = phases[densest] + period_ns  # so that what is before it is in the list, too
    return phases[bisect_left(phases, start - width)] % period_ns


def run_undisturbed(run: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], int]:
    """Runs until the host has taken no more than STOLEN_MS of the run's time, TRIES times at most
    beyond the first; and how often it was made again."""
    for repeated in itertools.count():
        result = run()
        if result["stolen_ms"] <= STOLEN_MS or repeated == TRIES:
            return result, repeated
    raise AssertionError


def in_turn(
    names: list[str], rounds: int, run: Callable[[str], dict[str, Any]]
) -> tuple[dict[str, list[dict[str, Any]]], int, int]:
    """Runs each of the names in every round; how often one was made again, and how many were
    disturbed to the last. SIGTERM ends what is running, too."""
    signal.signal(signal.SIGTERM, stop)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    repeated = disturbed = 0
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            result, again = run_undisturbed(partial(run, name))
            runs[name].append(result)
            print(
                f"round {number + 1} of {rounds}: {name}, made again {again} times", file=sys.stderr
            )
            repeated += again
            disturbed += result["stolen_ms"] > STOLEN_MS
    return runs, repeated, disturbed


def repeats(repeated: int, disturbed: int) -> str:
    kept = f", {disturbed} of them to the last" if disturbed else ""
    return f"{repeated} were made again because the host took more than {STOLEN_MS} ms{kept}"


def share_of(values: list[int], share: float) -> float:
    return values[int(share * (len(values) - 1))] / 1e3

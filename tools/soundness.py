# SPDX-License-Identifier: Apache-2.0
"""Runs every test that attacks bounds and verdicts with random applications, with many seeds.

Each test is divided into slices of consecutive seeds, which run on all CPUs. The results of slices
are kept in log/soundness. After an interruption, the same command goes on from there, unless the
programs have been built anew meanwhile.

Settings: TRIALS=N (10000) of each test, FIRST=N (1), the seed of the first trial, TESTS=FILTER, as
GoogleTest's --gtest_filter, JOBS=N (one for each CPU), and those of tools/env. With --check, it
only checks TRIALS, FIRST and JOBS, as before a build.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SLICE = 500  # trials: some seconds to a minute
PROGRAMS = {  # tests that read RCLRT_SOUNDNESS_TRIALS, by the program of rclrt_analysis
    "soundness_tests": "*",
    "hosts_tests": "*SoundnessOverHosts*",
    "chain_bounds_tests": "*SeveralCpusOrder*",
    "executor_bounds_tests": "*ChainsBackAndForth*:Monotone.*:PicasBounds.NoSimulated*:"
    "Picas.IsFixedPriorityWithoutPreemption*",
    # Without the searches that compare many bounds in each trial: they check no bound, and take
    # seconds for one.
    "design_tests": "BoundPriorities.Finds*Whenever*:BoundPriorities.Prove*OneCpu:"
    "BoundPriorities.Prove*SharedCallbacks",
}


class SettingsError(Exception):
    """An error of the settings or the build; the message says how to fix it."""


@dataclass(frozen=True)
class Slice:
    """Consecutive trials of one test."""

    program: str
    test: str
    first: int
    trials: int


@dataclass(frozen=True)
class Result:
    """The result of a slice."""

    passed: bool
    cpu_s: float


def whole_number(name: str, otherwise: int) -> int:
    """Returns the value of a setting. Throws SettingsError if it is no number from 1."""
    text = os.environ.get(name, "") or str(otherwise)
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise SettingsError(f"{name}={text}, expected a number from 1.")
    return int(text)


def tests_of(program: Path, own: str, wanted: str) -> Iterator[str]:
    """Yields the names of the program's tests that match both filters."""
    if not program.exists():
        raise SettingsError(f"{program} is not built.\nfix: make build")
    names = _matching(program, own)
    if wanted:
        asked = set(_matching(program, wanted))
        names = [name for name in names if name in asked]
    yield from names


def _matching(program: Path, pattern: str) -> list[str]:
    listed = subprocess.run(
        [program, "--gtest_list_tests", f"--gtest_filter={pattern}"],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout  # fmt: skip
    names, suite = [], ""
    for line in listed.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            names.append(suite + name)
        elif name.endswith("."):
            suite = name
    return names


def slices_of(program: str, test: str, first: int, trials: int) -> Iterator[Slice]:
    """Yields the slices of a test."""
    for done in range(0, trials, SLICE):
        yield Slice(program, test, first + done, min(SLICE, trials - done))


def build_of(programs: Iterable[Path]) -> str:
    """Returns a hash of the programs and of our libraries that they load."""
    digest = hashlib.sha256()
    for program in programs:
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        libraries = re.findall(r"librclrt\S* => (\S+)", loaded.stdout)
        for path in [str(program), *libraries]:
            digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def _first_line(build: str) -> str:
    return json.dumps({"build": build}) + "\n"


def _result_of(line: str) -> tuple[Slice, Result]:
    """Returns the slice and the result of a line. Throws ValueError if the line has none."""
    document = json.loads(line)
    try:
        stated, found = document["slice"], document["result"]
        one = Slice(stated["program"], stated["test"], stated["first"], stated["trials"])
        result = Result(found["passed"], found["cpu_s"])
    except (KeyError, TypeError) as error:
        raise ValueError("a value is missing") from error
    kinds = [(one.program, str), (one.test, str), (one.first, int), (one.trials, int)]
    kinds += [(result.passed, bool), (result.cpu_s, float)]
    if not all(isinstance(value, kind) for value, kind in kinds):
        raise ValueError("a value has the wrong type")
    return one, result


class Kept:
    """The results of slices so far, in a file with one line for each. Lines that cannot be read
    are removed, and their slices run again. Files that are not of this program stay."""

    def __init__(self, directory: Path, build: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self._path = directory / "results.jsonl"
        self._results: dict[Slice, Result] = {}
        if not self._read(build):
            for old in directory.glob("*.txt"):
                if old.is_file():
                    old.unlink()
            self._path.write_text(_first_line(build), encoding="utf-8")

    def _read(self, build: str) -> bool:
        """Reads the file. Returns whether it is of this build."""
        if not self._path.exists():
            return False
        text = self._path.read_text(encoding="utf-8", errors="replace")
        first, *lines = text.split("\n")
        if first + "\n" != _first_line(build):
            return False
        usable = [first]
        for line in lines[:-1]:  # the last line is empty, or was cut off
            try:
                one, result = _result_of(line)
            except ValueError:
                continue
            self._results[one] = result
            usable.append(line)
        damaged = len(lines) - len(usable)
        if damaged:
            print(f"{self._path}: damaged lines removed: {damaged}; their slices run again")
        self._path.write_text("\n".join(usable) + "\n", encoding="utf-8")
        return True

    def __getitem__(self, one: Slice) -> Result:
        return self._results[one]

    def has(self, one: Slice) -> bool:
        """Returns whether the slice has passed. A failed slice runs again."""
        return one in self._results and self._results[one].passed

    def add(self, one: Slice, result: Result) -> None:
        self._results[one] = result
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"slice": asdict(one), "result": asdict(result)}) + "\n")


class Runner:
    """Runs slices in processes. stop() may be called from any thread."""

    def __init__(self, programs: Mapping[str, Path], directory: Path) -> None:
        self._programs = programs
        self._directory = directory
        # A handler of a signal may interrupt the thread that has the lock.
        self._lock = threading.RLock()
        self._running: set[int] = set()
        self._stopped = False

    def stop(self) -> None:
        """Ends the processes; slices that have not begun do not begin."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                os.kill(process, signal.SIGTERM)

    def run(self, one: Slice) -> Result | None:
        """Runs a slice. Returns None if it was stopped. Keeps the output if it failed."""
        settings = {"RCLRT_SOUNDNESS_TRIALS": one.trials, "RCLRT_SOUNDNESS_FIRST": one.first}
        output = self._directory / f"{one.test.replace('/', '_')}.{one.first}.txt"
        with output.open("wb") as file, self._lock:
            if self._stopped:
                return None
            process = os.posix_spawn(
                self._programs[one.program],
                [str(self._programs[one.program]), f"--gtest_filter={one.test}"],
                os.environ | {name: str(value) for name, value in settings.items()},
                file_actions=[(os.POSIX_SPAWN_DUP2, file.fileno(), 1),
                              (os.POSIX_SPAWN_DUP2, file.fileno(), 2)],
                setpgroup=0,  # Ctrl-C in a terminal reaches this process only
            )  # fmt: skip
            self._running.add(process)
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        with self._lock:  # until here the process keeps its number, so stop() ends no other one
            _, status, used = os.wait4(process, 0)
            self._running.discard(process)
            if self._stopped:
                return None
        text = output.read_bytes()
        passed = status == 0 and b"[  PASSED  ] 1 test" in text
        if passed:
            output.unlink()
        return Result(passed, used.ru_utime + used.ru_stime)


class Report:
    """Prints a line for each test when its last slice has ended."""

    def __init__(self, slices: Sequence[Slice], kept: Kept) -> None:
        self._kept = kept
        self._open: dict[str, list[Slice]] = {}
        self._left: dict[str, int] = {}
        self.counts = {True: 0, False: 0}
        self._width = max(len(one.test) for one in slices)
        for one in slices:
            self._open.setdefault(one.test, []).append(one)
            self._left[one.test] = self._left.get(one.test, 0) + 1
        print(f"{'test':<{self._width}}  {'trials':>7}  {'CPU s':>8}  {'ms each':>8}  result")

    def ended(self, one: Slice) -> None:
        self._left[one.test] -= 1
        if self._left[one.test] > 0:
            return
        slices = self._open[one.test]
        failed = [each for each in slices if not self._kept[each].passed]
        trials = sum(each.trials for each in slices)
        cpu_s = sum(self._kept[each].cpu_s for each in slices)
        self.counts[not failed] += 1
        print(
            f"{one.test:<{self._width}}  {trials:>7}  {cpu_s:>8.1f}  {1e3 * cpu_s / trials:>8.2f}  "
            f"{'FAILED' if failed else 'passed'}",
            flush=True,
        )
        for each in failed:
            name = f"{each.test.replace('/', '_')}.{each.first}.txt"
            print(f"  seeds from {each.first}: see {self._kept.directory / name}", flush=True)


def run(
    programs: Mapping[str, Path], slices: Sequence[Slice], kept: Kept, jobs: int
) -> bool | None:
    """Runs the slices without a result. Returns whether all tests passed; None: it was stopped."""
    started = time.monotonic()
    report = Report(slices, kept)
    rest = []
    for one in slices:
        if kept.has(one):
            report.ended(one)
        else:
            rest.append(one)
    runner = Runner(programs, kept.directory)
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True
        runner.stop()

    old = [signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)]
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(runner.run, one): one for one in rest}
        try:
            for future in as_completed(waiting):
                result = future.result()
                if result is not None:
                    kept.add(waiting[future], result)
                    report.ended(waiting[future])
        except OSError:  # a file cannot be written
            runner.stop()
            raise
    for number, handler in zip((signal.SIGINT, signal.SIGTERM), old, strict=True):
        signal.signal(number, handler)
    if stopped:
        done = sum(kept.has(one) for one in slices)
        print(f"stopped after {done} of {len(slices)} slices; the same command runs the others")
        return None
    cpu_s = sum(kept[one].cpu_s for one in slices)
    print(f"{cpu_s:.0f} s of CPU time, {time.monotonic() - started:.0f} s of this run")
    print(f"{report.counts[True]} passed, {report.counts[False]} failed")
    return report.counts[False] == 0


def numbers() -> tuple[int, int, int]:
    """Returns TRIALS, FIRST and JOBS. Throws SettingsError if one is no number from 1."""
    return (
        whole_number("TRIALS", 10_000),
        whole_number("FIRST", 1),
        whole_number("JOBS", len(os.sched_getaffinity(0))),
    )


def main(arguments: Sequence[str] = ()) -> int:
    trials, first, jobs = numbers()
    if "--check" in arguments:  # before a build
        return 0
    wanted = os.environ.get("TESTS", "")
    name = f"{os.environ['RCLRT_DISTRO']}-{os.environ['RCLRT_PRESET']}"
    build = ROOT / "build" / name / "rclrt_analysis/test"
    programs = {program: build / program for program in PROGRAMS}
    slices = [
        one
        for program, own in PROGRAMS.items()
        for test in tests_of(programs[program], own, wanted)
        for one in slices_of(program, test, first, trials)
    ]
    if not slices:
        raise SettingsError(f"TESTS={wanted}, expected a filter that matches a test.")
    kept = Kept(ROOT / "log/soundness" / name, build_of(programs.values()))
    passed = run(programs, slices, kept, jobs)
    return 130 if passed is None else 0 if passed else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except SettingsError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)
    except OSError as problem:
        print(f"error: {problem.filename}: {problem.strerror}", file=sys.stderr)
        sys.exit(2)

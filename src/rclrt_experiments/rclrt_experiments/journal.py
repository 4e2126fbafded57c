# SPDX-License-Identifier: Apache-2.0
"""The output directory of experiments: a plan, a journal of completed units, and the results.

A unit is one trial of one executor at one point. Each completed unit is one line of the journal; a
line without its end (after a kill) does not count. The result rows are made from the journal in the
order of the units, so they depend neither on which unit ended first nor on how often the command
was started.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rclrt_py.bounds.machine import OverheadsFile
from rclrt_py.errors import BadInput
from rclrt_py.files.atomic import write_atomically
from rclrt_py.files.json_reader import JsonValue
from rclrt_py.files.lock import locked, open_to_append

from rclrt_experiments.experiment import Experiment
from rclrt_experiments.rows import OutputRow, OverheadRow, Row, run_of, runs_csv, to_csv
from rclrt_experiments.unit import Done, Unit

PLAN, JOURNAL = "experiment.json", "done.jsonl"
ROWS, OVERHEADS, OUTPUTS, RUNS = "rows.csv", "overheads.csv", "outputs.csv", "runs.csv"
VERSION = 2


def plan_of(
    experiments: Sequence[Experiment],
    trials: Mapping[str, int],
    seconds: Mapping[str, float],
    executors: Mapping[str, Sequence[str]],
    simulated: bool,
    overheads: Mapping[str, str],
    tries: int,
    version: str,
) -> dict[str, Any]:
    """Returns the plan of a run of experiments: all that determines its results, including the
    version of rclrt. A run can be continued only with the same plan. `overheads`: the result of
    overheads_of()."""
    return {
        "rclrt_experiment": VERSION,
        "rclrt": version,
        "simulated": simulated,
        "overheads": dict(overheads),
        "tries": tries,
        "experiments": [
            {
                "name": each.name,
                "sha256": each.digest,
                "trials": trials[each.name],
                "seconds": seconds[each.name],
                "executors": list(executors[each.name]),
            }
            for each in experiments
        ],
    }


def overheads_of(file: OverheadsFile | None) -> dict[str, str]:
    """Returns the origin of the bounds' overheads: the file's name, its hash and the statistic."""
    if file is None:
        return {}
    return {
        "file": file.path.name,
        "sha256": hashlib.sha256(file.path.read_bytes()).hexdigest(),
        "statistic": file.statistic,
    }


@dataclass
class Journal:
    """A journal, locked against other commands while it is open."""

    directory: Path
    plan: dict[str, Any]
    done: dict[str, Done] = field(default_factory=dict)
    """Completed units by their key."""
    stream: IO[str] | None = None

    def add(self, unit: Unit, result: Done) -> bool:
        """Writes the result of a unit. Returns False if the journal has one already."""
        if unit.key() in self.done:
            return False
        assert self.stream is not None
        line = json.dumps({"unit": unit.key(), **result.to_json()}, separators=(",", ":"))
        self.stream.write(line + "\n")
        self.stream.flush()
        self.done[unit.key()] = result
        return True

    def in_order(self, units: Sequence[Unit]) -> list[Done]:
        """Returns the results of the completed units, in the order of the units."""
        return [self.done[unit.key()] for unit in units if unit.key() in self.done]

    def write_rows(self, units: Sequence[Unit]) -> None:
        """Writes rows.csv, overheads.csv and, if chains have limits, outputs.csv completely."""
        done = self.in_order(units)
        rows = [row for each in done for row in each.rows]
        overheads = [row for each in done for row in each.overheads]
        if outputs := [row for each in done for row in each.outputs]:
            write_atomically(self.directory / OUTPUTS, to_csv(outputs, OutputRow))
        if runs := runs_of(done):
            write_atomically(self.directory / RUNS, runs_csv(runs))
        write_atomically(self.directory / OVERHEADS, to_csv(overheads, OverheadRow))
        write_atomically(self.directory / ROWS, to_csv(rows, Row))


def runs_of(done: Iterable[Done]) -> list[dict[str, str]]:
    """Returns the runs of units on ROS 2."""
    return [run_of(each.rows[0], each.run) for each in done if each.rows and each.run]


@contextlib.contextmanager
def opened(path: Path, plan: dict[str, Any], resume: bool) -> Iterator[Journal]:
    """Opens the output directory of experiments and locks it while the block runs. The directory
    must be new or empty or, with `resume`, must have the same plan; otherwise throws BadInput. If
    no unit is completed by the end of the block, the directory is removed."""
    _check(path, plan, resume)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(
            f"--out {path}: cannot be written: {error.strerror}; choose a directory you may write"
        ) from error
    with locked(path, PLAN) as lock:
        new = _check(path, plan, resume)  # again, because another command may have been faster
        if new:
            lock.truncate(0)
            lock.write(json.dumps(plan, indent=1) + "\n")
            lock.flush()
        done, whole = _read(path / JOURNAL)
        journal = Journal(path, plan, done)
        try:
            with open_to_append(path, JOURNAL) as stream:
                if os.fstat(stream.fileno()).st_size > whole:
                    stream.truncate(whole)
                journal.stream = stream
                yield journal
        finally:
            journal.stream = None
            if not journal.done and {each.name for each in path.iterdir()} <= {PLAN, JOURNAL}:
                for name in (JOURNAL, PLAN):
                    (path / name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    path.rmdir()


def load_plan(directory: Path) -> dict[str, Any]:
    """Returns the plan of a directory. Throws BadInput if there is none."""
    plan = JsonValue.load(directory / PLAN)
    if plan.get("rclrt_experiment").integer() != VERSION:
        plan.get("rclrt_experiment").fail(f"format version {VERSION}")
    return plan.object()


def _check(path: Path, plan: dict[str, Any], resume: bool) -> bool:
    """Returns whether the directory is new. Throws BadInput."""
    ours = (path / PLAN).is_file() and (path / PLAN).stat().st_size > 0
    if path.exists() and not path.is_dir():
        raise BadInput(f"--out {path}: is a file; expected a directory")
    # A kill before the first byte leaves an empty plan.
    if not ours and path.is_dir() and any(each.name != PLAN for each in path.iterdir()):
        raise BadInput(
            f"--out {path}: is not empty and was not written by rclrt experiment; name a new "
            "directory"
        )
    if ours and not resume:
        raise BadInput(
            f"--out {path}: has an experiment already; continue it with --resume, or name a new "
            "directory"
        )
    if not ours:
        return True
    stored = load_plan(path)
    for key, value in plan.items():
        if stored.get(key) != value:
            raise BadInput(
                f"--resume: the experiment in {path / PLAN} was begun with another {key}: "
                f"{json.dumps(stored.get(key))[:200]}\n  now it is {json.dumps(value)[:200]}; give "
                "the options that it was begun with, or name a new directory"
            )
    return False


def read_journal(path: Path) -> dict[str, Done]:
    """Returns the completed units, without an incomplete last line. Does not change the file."""
    return _read(path)[0]


def _read(path: Path) -> tuple[dict[str, Done], int]:
    """Returns the completed units and the length of their lines in bytes."""
    if not path.is_file():
        return {}, 0
    whole = 0
    done: dict[str, Done] = {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                value = json.loads(line)
                done.setdefault(value["unit"], Done.from_json(value))
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(
                    f"{path}:{number}: this line was not written by rclrt experiment ({error}); "
                    "name a new directory"
                ) from error
            whole += len(line)
    return done, whole

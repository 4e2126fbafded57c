# SPDX-License-Identifier: Apache-2.0
"""A small experiment, and readers of its output."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from rclrt_experiments.rows import OutputRow, OverheadRow, Row
from rclrt_py.testing.command import command

SMALL = """\
rclrt: 1
kind: experiment
name: small
title: A small one
varied: utilisation
trials: 4
seconds: 2
executors: [wait_set, preemptive, thread_dispatch+synthesis]
rules: {chain_count: 3, chain_avg_len: 2, chain_sync_p: 0.3, cpus: [1], scheduler_cpus: [0]}
points:
  - {label: "20 %", rules: {util_total: 0.2}}
  - {label: "80 %", rules: {util_total: 0.8}}
simulation:
  {dispatch_us: 30, scheduler_us: 15, polling_us: 20, lowest_execution: 0.5, phases: random}
"""


def command_line(*arguments: str | Path | int) -> list[str]:
    return command("experiment", *arguments)


OfCsv = TypeVar("OfCsv", Row, OverheadRow, OutputRow)
READERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "float | None": lambda cell: float(cell) if cell else None,
}


def read_runs(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def read_csv(path: Path, kind: type[OfCsv]) -> list[OfCsv]:
    """Returns the rows of a file that has exactly the columns of `kind`."""
    found = read_runs(path)
    types = {field.name: READERS[str(field.type)] for field in fields(kind)}
    assert all(list(row) == list(types) for row in found)
    return [kind(**{name: types[name](cell) for name, cell in row.items()}) for row in found]


def read_rows(path: Path) -> list[Row]:
    return read_csv(path, Row)


def read_overheads(path: Path) -> list[OverheadRow]:
    return read_csv(path, OverheadRow)

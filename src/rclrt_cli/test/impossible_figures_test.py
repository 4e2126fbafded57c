# SPDX-License-Identifier: Apache-2.0
"""`rclrt report` refuses figures that no run has: it names their place, exits with 2 and writes
nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rclrt_cli.main import main
from rclrt_py.testing.synthetic_run import write_run

Edit = Callable[[Any], object]


def one_miss(**changes: object) -> dict[str, Any]:
    """Returns the explanation of a miss of `obstacle`, with a deadline of 30 ms."""
    return {
        "chain": "obstacle",
        "instance": 3,
        "release_ms": 150,
        "status": "late",
        "response_ms": 31.5,
        "execution_ms": 14,
        "delayed_ms": 15.5,
        "transit_ms": 1.25,
        "unexplained_ms": 0.75,
        "host_stall_ms": 0,
        "culprits": [],
        "text": "obstacle #3 was late",
        **changes,
    }


def one_path(**changes: object) -> dict[str, Any]:
    """Returns the results of a cause-effect chain without outputs."""
    return {
        "id": "path",
        "segments": ["obstacle"],
        "max_reaction_ms": None,
        "max_age_ms": None,
        "inputs": 0,
        "distinct": 0,
        "outputs": 0,
        "initial": 0,
        "missed_reaction": 0,
        "missed_age": 0,
        "reaction_ms": None,
        "age_ms": None,
        **changes,
    }


def bounds(**changes: object) -> dict[str, Any]:
    """Returns the bound of a chain, and how many of its instances are above it."""
    return {
        "bound_ms": 25,
        "verdict": "proved",
        "assumptions": [],
        "exceeded": 2,
        "exceeded_host": 1,
        "exceeded_broken": 1,
        "exceeded_why": [],
        "steps": [],
        **changes,
    }


def chain(**changes: object) -> Edit:
    return lambda document: document["chains"][0].update(changes)


def times(owner: str, key: str, **changes: object) -> Edit:
    return lambda document: document[owner][0][key].update(changes)


def context(key: str, **changes: object) -> Edit:
    return lambda document: document["context"].setdefault(key, {}).update(changes)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (times("chains", "response_ms", best=-1), "chains[0].response_ms.best is -1; expected a"),
        (times("chains", "response_ms", best=99), "response_ms.p50 is "),
        (times("chains", "response_ms", worst=0), "worst is 0; expected no less than p99, "),
        (times("chains", "response_ms", mean=1e9), "worst is "),
        (times("callbacks", "execution_ms", best=-0.1), "callbacks[0].execution_ms.best is -0.1"),
        (times("callbacks", "dispatch_ms", best=-0.1), "callbacks[0].dispatch_ms.best is -0.1"),
        (chain(released=13), "released is 13; expected completed + dropped + pending + unmatched"),
        (chain(missed=500), "missed is 500; expected at most completed + dropped + pending, 14"),
        (chain(missed=0, missed_host=1), "missed_host is 1; expected at most missed, 0"),
        (chain(response_ms=None), "response_ms is null; expected times, because instances"),
        (chain(period_ms=-50), "chains[0].period_ms is -50; expected a time, 0 or more"),
        (chain(error_ms=-1, unknown=0), "chains[0].error_ms is -1; expected a time, 0 or more"),
        (chain(released=10**30), "expected a whole number of at most"),
        (chain(**bounds(bound_ms=-1)), "chains[0].bound_ms is -1; expected a time, 0 or more"),
        (chain(**bounds(exceeded=15)), "exceeded is 15; expected at most released, 14"),
        (chain(**bounds(exceeded_host=3)), "exceeded_host is 3; expected at most exceeded, 2"),
        (chain(**bounds(exceeded_broken=2)), "expected at most exceeded - exceeded_host, 1"),
        (
            lambda d: d["callbacks"][0].update(completed=99),
            "callbacks[0].completed is 99; expected at most released, ",
        ),
        (
            lambda d: d["callbacks"][0].update(dropped=99),
            "callbacks[0].dropped is 99; expected at most released - completed, ",
        ),
        (lambda d: d.update(duration_s=-1), "duration_s is -1; expected a time, 0 or more"),
        (context("host_stalls", worst_ms=9), "host_stalls.worst_ms is 9; expected no more than"),
        (
            context("host_stalls", total_ms=-1),
            "context.host_stalls.total_ms is -1; expected a time",
        ),
        (lambda d: d["context"].update(steal_ms=-1), "context.steal_ms is -1; expected a time"),
        (lambda d: d.update(misses=[one_miss(delayed_ms=-1)]), "misses[0].delayed_ms is -1"),
        (lambda d: d.update(misses=[one_miss(chain="ghost")]), "expected a chain of these results"),
        (
            lambda d: d.update(cause_effect_chains=[one_path(outputs=1)]),
            "cause_effect_chains[0].age_ms is null; expected times",
        ),
        (
            lambda d: d.update(simulated={"seed": 1, "lowest_execution": 2}),
            "simulated.lowest_execution is 2; expected a share from 0 to 1",
        ),
        (lambda d: d.update(duration_s=float("nan")), "NaN is not a number of JSON"),
        (lambda d: d.update(duration_s=float("inf")), "Infinity is not a number of JSON"),
    ],
)
def test_an_impossible_figure_in_results_json_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], edit: Edit, message: str
) -> None:
    directory = write_run(tmp_path / "run", seconds=0.7)
    path = directory / "results.json"
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
    check_refused(directory, f"{path}: ", message, capsys)


@pytest.mark.parametrize(
    ("name", "cells", "message"),
    [
        ("chains.csv", {3: "1", 4: "-49999999"}, "completion_ns is 1; expected no less than rel"),
        ("chains.csv", {6: "-1"}, "chains.csv:3: host_stall_ns is -1; expected 0 or more"),
        ("instances.csv", {7: "1"}, "instances.csv:3: end_ns is 1; expected no less than start_ns"),
        ("instances.csv", {6: "-1"}, "start_ns is -1; expected no less than ready_ns"),
        ("instances.csv", {8: "-1"}, "instances.csv:3: cpu_ns is -1; expected 0 or more"),
    ],
)
def test_an_end_before_a_begin_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    cells: dict[int, str],
    message: str,
) -> None:
    directory = write_run(tmp_path / "run", seconds=0.7)
    lines = (directory / name).read_text().splitlines()
    changed = lines[2].split(",")
    for column, text in cells.items():
        changed[column] = text
    lines[2] = ",".join(changed)
    (directory / name).write_text("\n".join(lines) + "\n")
    check_refused(directory, f"{directory / name}:3: ", message, capsys)


def check_refused(
    directory: Path, place: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in directory.parent.rglob("*") if path.is_file()}
    assert main(["report", str(directory)]) == 2
    error = capsys.readouterr().err
    assert place in error
    assert message in error
    after = {path: path.read_bytes() for path in directory.parent.rglob("*") if path.is_file()}
    assert after == before


def test_a_time_between_hosts_may_be_below_zero_by_their_error(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", seconds=0.7)
    path = directory / "results.json"
    document = json.loads(path.read_text())
    document["chains"][0].update(error_ms=2, unknown=0)
    document["chains"][0]["response_ms"].update(best=-1.5)
    path.write_text(json.dumps(document))
    assert main(["report", str(directory)]) == 0


def test_the_largest_seed_is_legal(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", seconds=0.7)
    path = directory / "results.json"
    document = json.loads(path.read_text())
    document["simulated"] = {"seed": 2**64 - 1, "lowest_execution": 1}
    path.write_text(json.dumps(document))
    assert main(["report", str(directory)]) == 0

# SPDX-License-Identifier: Apache-2.0
"""Checks that the benchmark runs and that its rows are complete. Speed is not tested."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

PROGRAM = os.environ["RCLRT_BENCH_EXECUTORS"]
SCHEMA = Path(__file__).resolve().parents[3] / "schemas" / "bench.schema.json"
FEW = ("--rounds", "1", "--samples", "20")
Row = dict[str, Any]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def measure(*arguments: str) -> dict[str, Any]:
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    cases = "dispatch,timer,publish,publish_in_callback,intra_process,burner,saturated,levels"
    return measure(*FEW, "--cases", cases)


def select(document: dict[str, Any], **wanted: object) -> list[Row]:
    return [
        row for row in document["rows"] if all(row[key] == value for key, value in wanted.items())
    ]


def test_every_executor_and_the_hand_split_pair_stand_in_every_case(
    document: dict[str, Any],
) -> None:
    error = run("--executors", "none").stderr
    known = set(re.split(", | or ", error.rsplit("expected ", 1)[1].strip()))
    assert {"wait_set", "split", "producer_consumer", "thread_dispatch", "preemptive"} <= known
    for case, entity in (
        ("dispatch", "guard_condition"),
        ("dispatch", "subscription"),
        ("dispatch", "service"),
        ("dispatch", "client"),
        ("timer", "timer"),
        ("publish", "subscription"),
        ("publish_in_callback", "subscription"),
        ("intra_process", "subscription"),
        ("burner", "timer"),
        ("saturated", "subscription"),
        ("levels", "timer"),
    ):
        rows = select(document, case=case, entity=entity)
        rows = [row for row in rows if row["executor"] != "bare"]
        on_one = {row["executor"] for row in rows if row["cpus"] == 1}
        assert on_one == known - {"wait_set_threads"}, case  # a thread for each CPU
        if len(document["cpus"]) == 2:
            on_two = {row["executor"] for row in rows if row["cpus"] == 2}
            assert on_two == known - {"edf"}, case  # edf runs on one CPU


def test_the_document_is_what_its_schema_says(document: dict[str, Any]) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)


def test_percentiles_are_in_order_and_have_their_sample_count(document: dict[str, Any]) -> None:
    for row in document["rows"]:
        if row["n"] == 0:
            assert row["p50_us"] is row["p99_us"] is row["p999_us"] is row["max_us"] is None
        else:
            quantiles = [row[f"{name}_us"] for name in ("p50", "p99", "p999", "max")]
            assert [0, *quantiles] == sorted([0, *quantiles]), row
        if row["case"] not in ("burner", "saturated") and row["lost"] == 0:
            # 1 round of 20; a floor may take part in several comparisons of a case.
            assert row["n"] == 20 or row["executor"] == "bare", row


@pytest.mark.parametrize(
    ("case", "entity", "floors"),
    [
        ("dispatch", "guard_condition", ["futex_wake"]),
        ("dispatch", "subscription", ["futex_wake", "take"]),
        ("dispatch", "service", ["futex_wake", "take_request"]),
        ("dispatch", "client", ["futex_wake", "take_response"]),
        ("timer", "timer", ["nanosleep"]),
        ("burner", "timer", ["nanosleep"]),
        ("levels", "timer", ["nanosleep"]),
        ("publish", "subscription", ["futex_wake", "inline"]),
        ("publish_in_callback", "subscription", ["futex_wake", "inline"]),
        ("intra_process", "subscription", ["futex_wake"]),
    ],
)
def test_floors_are_the_bare_rows_of_the_same_case(
    document: dict[str, Any], case: str, entity: str, floors: list[str]
) -> None:
    rows = select(document, case=case, entity=entity)
    assert rows
    for row in rows:
        same = {key: row[key] for key in ("case", "cpus", "entities", "levels")}
        bare = [
            found
            for floor in floors
            for found in select(document, executor="bare", entity=floor, **same)
        ]
        assert len(bare) == len(floors)
        assert row["floor_us"] == pytest.approx(sum(found["p50_us"] for found in bare))


def test_costs_are_counted_per_dispatch(document: dict[str, Any]) -> None:
    # A bare sleep is one system call per dispatch and allocates nothing; rmw_fastrtps allocates.
    (sleep,) = select(document, case="timer", entity="nanosleep", cpus=1)
    assert sleep["allocations"] == 0
    if not document["system_calls_reason"]:
        assert 1 <= sleep["system_calls"] < 3
    (inline,) = select(document, case="publish", entity="inline", cpus=1)
    assert inline["allocations"] >= 1
    (saturated,) = select(document, case="saturated", executor="preemptive", cpus=1)
    assert saturated["per_second"] > 0
    assert saturated["cpu_us"] > 0


def test_without_permission_it_runs_and_says_so() -> None:
    no_fifo: tuple[str, ...] = ("prlimit", "--rtprio=0:0")
    if os.geteuid() == 0:
        no_fifo += ("setpriv", "--inh-caps=-sys_nice", "--bounding-set=-sys_nice")
    done = subprocess.run(
        [*no_fifo, PROGRAM, *FEW, "--cases", "timer", "--executors", "preemptive,split"],
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["realtime"] is False
    assert "SCHED_FIFO" in document["realtime_reason"]
    assert len(select(document, case="timer", entity="timer")) == 2 * len(document["cpus"])


def test_growth_has_a_row_for_each_size() -> None:
    document = measure(*FEW, "--cases", "entities", "--executors", "preemptive")
    for entity in ("timer", "guard_condition"):
        rows = select(document, case="entities", entity=entity, cpus=1)
        assert [row["entities"] for row in rows] == [10, 100, 1000, 10000]
        assert all(row["n"] == 20 for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rounds", "0"], "--rounds 0: expected a whole number from 1 to 1000"),
        (["--samples", "x"], "--samples x: expected a whole number from 2 to 100000"),
        (["--seconds", "-1"], "--seconds -1: expected a whole number from 1 to 86400"),
        (["--cases", "timers"], "--cases: 'timers' is not known; did you mean timer?"),
        (["--cases", ""], "--cases: expected a value after it, dispatch, timer, "),
        (["--cases", "timer,timer"], "--cases: 'timer' is listed more than once; list each once"),
        (
            ["--executors", "rclcpp"],
            "--executors: 'rclcpp' is not known; expected wait_set, wait_set_threads, split, ",
        ),
        (["--cpus", "8000"], "--cpus: CPU 8000 cannot be used by this process"),
        (["--cpus", "0,0"], "--cpus: '0' is listed more than once; list each once"),
        (["--cpus", "0,1,2"], "--cpus: expected the number of one CPU, or of two"),
        (["--samples"], "--samples: expected a value after it"),
        (["--rounds", "1", "--rounds=2"], "--rounds is given twice; expected it once"),
        (["--fast"], "unknown option --fast; see --help"),
        (["--quit"], "unknown option --quit; did you mean --quiet?"),
    ],
)
def test_wrong_input_is_exit_code_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""

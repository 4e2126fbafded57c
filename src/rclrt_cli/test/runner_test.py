# SPDX-License-Identifier: Apache-2.0
"""The command with the real rclrt_runner on real ROS 2."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_py.comparisons.comparison import load_single_run
from rclrt_py.executors import EXECUTORS
from rclrt_py.runs.merge import merge_runs
from rclrt_py.runs.run_data import Run
from rclrt_py.testing.command import command, environment, finished
from rclrt_py.testing.waiting import GENEROUS_S, wait_for
from sources import SCHEMA

APP = """
rclrt: 1
name: small
nodes: [{name: sensor}, {name: control}]
callbacks:
  - {id: sense, node: sensor, timer: {period_ms: 20}, wcet_ms: 0.5, publishes: [points]}
  - {id: look, node: sensor, timer: {period_ms: 20}, wcet_ms: 0.5, publishes: [images]}
  - {id: fuse, node: control, sync: {topics: [points, images]}, wcet_ms: 0.5, publishes: [fused]}
  - {id: act, node: control, subscription: {topic: fused}, wcet_ms: 0.5}
chains:
  - {id: hard, callbacks: [sense, fuse, act], priority: 2}
  - {id: soft, callbacks: [look, fuse, act], priority: 1}
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("app") / "app.yaml"
    path.write_text(APP)
    return path


@pytest.fixture(scope="module", params=EXECUTORS)
def measured(
    request: pytest.FixtureRequest, app: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run of one second under each executor."""
    out = tmp_path_factory.mktemp("run") / "out"
    done = subprocess.run(
        command("run", str(app), "--executor", request.param, "--seconds", "1", "--out", str(out)),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=GENEROUS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out


def document(directory: Path) -> Any:
    return json.loads((directory / "results.json").read_text())


def test_the_runners_results_obey_the_schema(measured: Path) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document(measured))


def test_statistics_of_a_single_run_equal_the_runners_own_exactly(measured: Path) -> None:
    merged = merge_runs([Run.load(measured)]).to_json()
    stated = document(measured)
    stated.pop("misses", None)  # only single runs have them
    assert stated["chains"][0]["completed"] > 0
    assert merged["chains"] == stated["chains"]
    assert merged["callbacks"] == stated["callbacks"]
    assert merged == stated


def test_the_report_shows_what_ran(measured: Path) -> None:
    page = (measured / "report.html").read_text(encoding="utf-8")
    assert "chain hard missed" in page
    assert load_single_run(measured).executors[0].application["name"] == "small"


# When `first` ends, it publishes to b, c and d, in this order. `t` is already due then.
ORDER = """
rclrt: 1
name: order
executors: [{{name: main, cpus: [{cpu}]}}]
nodes: [{{name: node}}]
callbacks:
  - {{id: first, node: node, timer: {{period_ms: 3600000}}, wcet_ms: 2, priority: 9,
     publishes: [tb, tc, td]}}
  - {{id: d, node: node, subscription: {{topic: td}}, wcet_ms: 1, priority: 2}}
  - {{id: b, node: node, subscription: {{topic: tb}}, wcet_ms: 1, priority: 1}}
  - {{id: c, node: node, subscription: {{topic: tc}}, wcet_ms: 1, priority: 3}}
  - {{id: t, node: node, timer: {{period_ms: 3600000, offset_ms: 1}}, wcet_ms: 1, priority: 0}}
chains:
  - {{id: all, callbacks: [first], priority: 1}}
"""
BY_PRIORITY = ("first", "c", "d", "b", "t")
BY_RELEASE = ("first", "t", "b", "c", "d")
AS_REGISTERED = ("first", "t", "d", "b", "c")


def arbitrary(seed: int) -> tuple[str, ...]:
    """Returns the order by splitmix64 of the seed and of each number in the order of
    registration."""

    def spread(value: int) -> int:
        value = (value + 0x9E3779B97F4A7C15) % 2**64
        value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
        return value ^ value >> 31

    place = {name: spread((seed + spread(number)) % 2**64) for number, name in enumerate("_dbct")}
    return ("first", "t", *sorted("dbc", key=place.__getitem__))


ORDERS = {
    **dict.fromkeys(EXECUTORS, BY_PRIORITY),
    "wait_set": AS_REGISTERED,
    "edf": BY_RELEASE,
    "events": BY_RELEASE,
    "wait_set:static": ("first", "d", "b", "c", "t"),
    "wait_set:order=arbitrary:seed=1": arbitrary(1),
    "wait_set:order=arbitrary:seed=2": arbitrary(2),
    "wait_set:threads=2": AS_REGISTERED,
    "events:timers_thread": BY_RELEASE,
    "static_order": BY_PRIORITY,
    "static_order:let": BY_PRIORITY,
}
BY_THE_KERNEL = ("per_group", "wait_set:threads=2", "events:timers_thread")
"""Executors under which several threads share the CPU. Only SCHED_FIFO defines their order."""


def test_the_seeds_give_orders_of_their_own() -> None:
    assert len({AS_REGISTERED, arbitrary(1), arbitrary(2)}) == 3


@pytest.mark.parametrize("executor", ORDERS)
def test_a_run_and_its_simulation_have_the_order_of_the_executor(
    executor: str, tmp_path: Path
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(ORDER.format(cpu=min(os.sched_getaffinity(0))))
    expected = ORDERS[executor]
    for verb in ("run", "simulate"):
        order: tuple[str, ...] = ()
        attempts = 1 if verb == "simulate" else 100
        while len(order) < len(expected):  # again if the machine was too late
            assert attempts > 0, order
            attempts -= 1
            out = tmp_path / verb
            shutil.rmtree(out, ignore_errors=True)
            done = finished(
                verb, str(app), "--executor", executor, "--seconds", "0.5", "--out", str(out)
            )
            assert done.returncode == 0, done.stderr
            results = Run.load(out).results
            assert results.executor == executor
            if verb == "run" and not results.context["realtime"] and executor in BY_THE_KERNEL:
                break
            with (out / "instances.csv").open(encoding="utf-8") as file:
                rows = sorted(csv.DictReader(file), key=lambda row: int(row["start_ns"]))
            if not rows or int(rows[0]["start_ns"]) >= 1_000_000:
                continue  # t was due when `first` started
            order = tuple(row["callback"] for row in rows)
            assert order == expected[: len(order)], verb


def test_ctrl_c_ends_the_runner_and_keeps_the_complete_rounds(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    child = subprocess.Popen(
        command(
            *("compare", str(app), "--executors", "wait_set,preemptive", "--rounds", "40"),
            *("--seconds", "40", "--out", str(out)),
        ),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: (out / "preemptive/round-1").is_dir())
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=GENEROUS_S)
    assert child.returncode == 130, errors
    results = document(out)
    assert {item["executor"] for item in results["executors"]} == {"wait_set", "preemptive"}
    assert {"executor": "preemptive", "round": 40} in results["missing"]
    assert (out / "report.html").exists()
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(results)

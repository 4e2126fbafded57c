# SPDX-License-Identifier: Apache-2.0
"""`rclrt assign`: an analysis confirms its answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.testing.command import Rclrt

APPLICATION = """
rclrt: 1
name: three
nodes: [{name: na}, {name: nb}, {name: nc}]
callbacks:
  - {id: a, node: na, timer: {period_ms: 10}, wcet_ms: 4}
  - {id: b, node: nb, timer: {period_ms: 20}, wcet_ms: 8}
  - {id: c, node: nc, timer: {period_ms: 40}, wcet_ms: 16}
chains:
  - {id: first, callbacks: [a], priority: 1}
  - {id: second, callbacks: [b], priority: 2}
  - {id: third, callbacks: [c], priority: 3}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(APPLICATION)
    return path


def assigned(rclrt: Rclrt, *arguments: object) -> tuple[int, Any]:
    answer = rclrt("assign", *arguments, "--json")
    return answer.code, answer.json


def test_two_cores_hold_what_one_cannot(app: Path, tmp_path: Path, rclrt: Rclrt) -> None:
    code, result = assigned(rclrt, app, "--cores", "1")
    assert code == 1  # U = 1.2
    assert result["feasible"] is False

    out = tmp_path / "new.yaml"
    code, result = assigned(rclrt, app, "--cores", "2", "-o", out)
    assert code == 0
    assert result["before"]["not_proved"] > result["after"]["not_proved"] == 0
    assert {tuple(executor["cpus"]) for executor in result["executors"]} == {(0,), (1,)}
    answer = rclrt("analyze", out, "--json")
    assert answer.code == 0
    analysed = answer.json
    assert [chain["verdict"] for chain in analysed["chains"]] == ["conditional"] * 3
    assert [chain["bound_ms"] for chain in analysed["chains"]] == [
        chain["bound_ms"] for chain in result["chains"]
    ]
    assert analysed["callbacks"] == result["callbacks"]


OVERHEADS = {
    "rclrt": 1,
    "kind": "overheads",
    "executors": {
        "preemptive": {
            "dispatch_us": {"n": 9, "p50": 50, "p99": 100, "max": 900},
            "timer_lateness_us": {"n": 9, "p50": 100, "p99": 200, "max": 1500},
        },
        "thread_dispatch": {"dispatch_us": 50, "timer_lateness_us": 50, "scheduler_us": 20},
    },
    "hop_us": {"intra_process": {"min": 4, "max": 90}, "same_host": {"min": 20, "max": 5000}},
    "background_us": 1,
}
JOINED = """
rclrt: 1
name: joined
nodes: [{name: na}, {name: nb}]
callbacks:
  - {id: a, node: na, timer: {period_ms: 20}, wcet_ms: 7, publishes: [t]}
  - {id: b, node: nb, subscription: {topic: t}, wcet_ms: 6}
  - {id: c, node: nb, timer: {period_ms: 20}, wcet_ms: 8}
chains:
  - {id: first, callbacks: [a, b], priority: 1, deadline_ms: 24}
  - {id: second, callbacks: [c], priority: 2, deadline_ms: 19}
"""


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--overhead-percentile", "p99"),
        ("--executor", "thread_dispatch"),
        ("--executor", "producer_consumer"),  # not in the file
        ("--hops", "same_host"),
        ("--hop-us", "30000"),
        ("--dispatch-us", "0", "--timer-jitter-us", "2000"),
        ("--dispatch-us", "4000"),
    ],
)
@pytest.mark.parametrize("text", [APPLICATION, JOINED])
def test_the_verdicts_are_those_of_an_analysis_of_what_was_written(
    text: str, options: tuple[str, ...], tmp_path: Path, rclrt: Rclrt
) -> None:
    app, machine, out = (tmp_path / name for name in ("app.yaml", "machine.json", "new.yaml"))
    app.write_text(text)
    machine.write_text(json.dumps(OVERHEADS))
    given = ("--overheads", machine, *options)
    code, result = assigned(rclrt, app, "--cores", "2", "-o", out, *given)
    answer = rclrt("analyze", out, "--json", *given)
    assert answer.code == code
    analysed = answer.json
    for key in ("verdict", "bound_ms", "assumptions"):
        assert [chain[key] for chain in result["chains"]] == [
            chain[key] for chain in analysed["chains"]
        ]
    for key in ("feasible", "overheads", "assumptions"):
        assert result[key] == analysed[key]
    assert result["after"]["not_proved"] == sum(
        chain["verdict"] not in ("proved", "conditional") for chain in analysed["chains"]
    )


def test_messages_between_cores_take_their_hop(tmp_path: Path, rclrt: Rclrt) -> None:
    app = tmp_path / "app.yaml"
    app.write_text("""
rclrt: 1
name: apart
nodes: [{name: na}, {name: nb}]
callbacks:
  - {id: a, node: na, timer: {period_ms: 20}, wcet_ms: 12, publishes: [t]}
  - {id: b, node: nb, subscription: {topic: t}, wcet_ms: 12}
chains: [{id: both, callbacks: [a, b], priority: 1, deadline_ms: 60}]
""")
    code, result = assigned(rclrt, app, "--cores", "2", "--layout", "partitioned")
    assert (code, result["chains"][0]["bound_ms"]) == (0, 28)
    # a ends up to 12 after its release, so two of b may come 8 apart: 12 + 12 + 4. With a hop of 2,
    # they may come 6 apart.
    apart = ("--cores", "2", "--layout", "partitioned")
    code, result = assigned(rclrt, app, *apart, "--hop-us", "2000")
    assert (code, result["chains"][0]["bound_ms"]) == (0, 12 + 2 + 18)
    code, result = assigned(rclrt, app, *apart, "--hop-us", "60000")
    assert code == 1
    assert result["chains"][0]["verdict"] == "refuted"


def test_one_executor_on_both_cpus_sends_no_message_to_another_one(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text("""
rclrt: 1
name: fork
nodes: [{name: n}]
callbacks:
  - {id: a, node: n, timer: {period_ms: 20}, wcet_ms: 2, publishes: [t]}
  - {id: b, node: n, subscription: {topic: t}, wcet_ms: 9}
  - {id: c, node: n, subscription: {topic: t}, wcet_ms: 9}
chains:
  - {id: left, callbacks: [a, b], priority: 1, deadline_ms: 12}
  - {id: right, callbacks: [a, c], priority: 1, deadline_ms: 12}
""")
    options = ("--cores", "2", "--hop-us", "10000")
    code, result = assigned(rclrt, app, *options)
    assert code == 0
    assert [layout["layout"] for layout in result["layouts"] if layout["chosen"]] == ["global"]
    code, result = assigned(rclrt, app, *options, "--layout", "partitioned")
    assert code == 1


def test_the_objective_decides_what_is_the_best(tmp_path: Path, rclrt: Rclrt) -> None:
    app = tmp_path / "app.yaml"
    app.write_text("""
rclrt: 1
name: two
nodes: [{name: n}]
callbacks:
  - {id: long, node: n, timer: {period_ms: 20}, wcet_ms: 6}
  - {id: short, node: n, timer: {period_ms: 20}, wcet_ms: 1}
chains:
  - {id: long, callbacks: [long], priority: 1, deadline_ms: 8}
  - {id: short, callbacks: [short], priority: 2}
""")
    _, result = assigned(rclrt, app)
    assert (result["objective"], result["after"]["worst_bound_by_deadline"]) == ("max-slack", 0.75)
    _, result = assigned(rclrt, app, "--objective", "min-response")
    assert result["after"]["mean_bound_ms"] == 4
    _, result = assigned(rclrt, app, "--objective", "feasible")
    assert (result["evaluations"], result["start"]) == (2, "given")
    answer = rclrt("assign", app, "--objective", "min-response")
    assert "then the least mean of the bounds: 0 and 4 ms before" in answer.out


def test_the_table_says_what_was_optimised_and_reached(app: Path, rclrt: Rclrt) -> None:
    answer = rclrt("assign", app, "--cpus", "5,7,9")
    assert answer.code == 0
    said = answer.out
    assert "core_5 on CPU 5: " in said
    assert "Optimised: the fewest chains without a proof" in said
    assert "0 and 0.4 after" in said


def test_picas_is_written_as_it_is(app: Path, tmp_path: Path, rclrt: Rclrt) -> None:
    out = tmp_path / "new.yaml"
    options = ("--cores", "2", "--executor", "picas", "--method", "picas")
    code, result = assigned(rclrt, app, *options, "-o", out)
    assert (result["method"], result["start"], result["evaluations"]) == ("picas", "picas", 2)
    assert result["optimised"] == "nothing: as PiCAS has it"
    assert {tuple(executor["cpus"]) for executor in result["executors"]} == {(0,), (1,)}
    answer = rclrt("analyze", out, "--executor", "picas", "--json")
    assert answer.code == code
    assert [chain["bound_ms"] for chain in answer.json["chains"]] == [
        chain["bound_ms"] for chain in result["chains"]
    ]
    searched = assigned(rclrt, app, *options[:4])[1]
    assert searched["evaluations"] > 2
    answer = rclrt("assign", app, "--method", "picas", "--objective", "feasible")
    assert (answer.code, "--objective: --method picas does not search" in answer.err) == (2, True)


ROBOT = """
rclrt: 1
name: robot
executors: [{name: main, cpus: [0]}]
nodes: [{name: sensors}, {name: perception}, {name: control}]
callbacks:
  - {id: image, node: sensors, timer: {period_ms: 40}, wcet_ms: 8, publishes: [images]}
  - {id: scan, node: sensors, timer: {period_ms: 50}, wcet_ms: 10, publishes: [scans]}
  - {id: detect, node: perception, subscription: {topic: images}, wcet_ms: 20, publishes: [seen]}
  - {id: segment, node: perception, subscription: {topic: scans}, wcet_ms: 30, group: clouds}
  - {id: map, node: perception, timer: {period_ms: 200}, wcet_ms: 100, group: maps}
  - {id: plan, node: control, subscription: {topic: seen}, wcet_ms: 8}
  - {id: loop, node: control, timer: {period_ms: 10}, wcet_ms: 2}
chains:
  - {id: camera, callbacks: [image, detect, plan], priority: 1}
  - {id: lidar, callbacks: [scan, segment], priority: 2}
  - {id: mapping, callbacks: [map], priority: 3}
  - {id: motion, callbacks: [loop], priority: 4}
"""
"""Three nodes, four chains, a load of 2.4. `perception` has more work than a CPU has time for."""


@pytest.mark.parametrize("layout", ["any", "partitioned", "clusters", "global"])
def test_the_chains_of_a_robot_on_four_cpus_are_proved(
    layout: str, tmp_path: Path, rclrt: Rclrt
) -> None:
    app, out = tmp_path / "app.yaml", tmp_path / "new.yaml"
    app.write_text(ROBOT)
    options = ("--cores", "4", "--layout", layout, "--dispatch-us", "0", "--evaluations", "300")
    code, result = assigned(rclrt, app, *options, "-o", out)
    assert code == 0
    assert [chain["verdict"] for chain in result["chains"]] == ["proved"] * 4
    analysed = rclrt("analyze", out, "--dispatch-us", "0", "--json").json
    assert [chain["verdict"] for chain in analysed["chains"]] == ["proved"] * 4
    assert [chain["bound_ms"] for chain in analysed["chains"]] == [
        chain["bound_ms"] for chain in result["chains"]
    ]
    # Whole nodes on one CPU each are not enough.
    code, result = assigned(rclrt, app, "--cores", "4", "--method", "picas", "--dispatch-us", "0")
    assert code == 1


def test_the_table_says_why_a_layout_was_chosen_and_what_runs_where(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(ROBOT)
    options = ("--cores", "4", "--dispatch-us", "0", "--evaluations", "300")
    said = rclrt("assign", app, *options).out.splitlines()
    start = next(i for i, line in enumerate(said) if line.startswith("layout"))
    rows = said[start + 1 : start + 5]
    assert [row.split("  ")[0] for row in rows] == [
        "as the file states",
        "one CPU for each executor",
        "up to 2 CPUs each",
        "all CPUs for each process",
    ]
    assert sum(row.endswith("chosen") for row in rows) == 1
    said = rclrt("assign", app, *options, "--layout", "partitioned").out.splitlines()
    assert not any(line.startswith("layout") for line in said)
    assert any(" on CPU " in line and "of perception: " in line for line in said)


def test_cpus_that_no_option_states_are_those_of_the_file(tmp_path: Path, rclrt: Rclrt) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.replace("nodes:", "executors: [{name: main, cpus: [5]}]\nnodes:"))
    _, result = assigned(rclrt, app, "--evaluations", "20")
    assert [executor["cpus"] for executor in result["executors"]] == [[5]]


def test_a_seed_repeats_a_search(tmp_path: Path, rclrt: Rclrt) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(ROBOT)
    options = ("--cores", "4", "--evaluations", "200", "--seed", "3")
    assert assigned(rclrt, app, *options) == assigned(rclrt, app, *options)


def test_a_large_application_gets_fewer_evaluations(tmp_path: Path, rclrt: Rclrt) -> None:
    timers = range(300)
    document = {
        "rclrt": 1,
        "name": "large",
        "nodes": [{"name": "node"}],
        "callbacks": [
            {"id": f"c{i}", "node": "node", "timer": {"period_ms": 100 + i}, "wcet_ms": 0.1}
            for i in timers
        ],
        "chains": [{"id": f"chain{i}", "callbacks": [f"c{i}"], "priority": 1} for i in timers],
    }
    app = tmp_path / "app.yaml"
    app.write_text(json.dumps(document))
    options = ("--cores", "1", "--layout", "global")
    _, result = assigned(rclrt, app, *options)
    assert 100 < result["evaluations"] <= 200  # 60 000 / 300


def test_kinds_with_a_single_thread_get_one_cpu_for_each_executor(app: Path, rclrt: Rclrt) -> None:
    options = ("--cores", "3", "--executor", "picas")
    code, result = assigned(rclrt, app, *options)
    assert code == 0
    assert {layout["layout"] for layout in result["layouts"]} == {"partitioned"}
    said = rclrt("assign", app, *options).out
    assert "No other layout: an executor of the kind picas uses one CPU" in said
    answer = rclrt("assign", app, *options, "--layout", "global")
    assert answer.code == 2
    assert "this layout is not possible: an executor of the kind picas uses one CPU" in answer.err


def test_a_task_set_gets_audsleys_order(tmp_path: Path, rclrt: Rclrt) -> None:
    tasks, out = tmp_path / "tasks.yaml", tmp_path / "new.yaml"
    tasks.write_text("""
rclrt: 1
tasks:
  - {id: "a \\u2028", c: 3, t: 20}
  - {id: b, c: 5, t: 20, d: 12, j: 6}
  - {id: c, c: 4, t: 40, d: 9}
""")
    assert rclrt("analyze", tasks).code == 1
    code, result = assigned(rclrt, tasks, "-o", out)
    assert code == 0
    assert result["optimal"] is True
    assert [task["priority"] for task in result["tasks"]] == [1, 3, 2]
    assert rclrt("analyze", out).code == 0
    answer = rclrt("assign", tasks)
    assert answer.code == 0
    assert "proved, by Audsley's algorithm" in answer.out


def test_an_impossible_task_set_is_said_to_be_so(tmp_path: Path, rclrt: Rclrt) -> None:
    tasks = tmp_path / "tasks.yaml"
    tasks.write_text("rclrt: 1\ntasks: [{id: a, c: 3, t: 5}, {id: b, c: 3, t: 5}]\n")
    answer = rclrt("assign", tasks)
    assert answer.code == 1
    assert "nor with any other priorities" in answer.out
    answer = rclrt("assign", tasks, "--dispatch-us", "1")
    assert answer.code == 2
    assert "--dispatch-us: has no meaning for a task set" in answer.err
    tasks.write_text("rclrt: 1\npolicy: edf\ntasks: [{id: a, c: 3, t: 5}]\n")
    answer = rclrt("assign", tasks)
    assert answer.code == 2
    assert "there are no priorities to assign" in answer.err


@pytest.mark.parametrize(
    "options",
    [
        ("--cores", "0"),
        ("--cores", "65"),
        ("--cores", "x"),
        ("--cpus", "1,1"),
        ("--cpus", ""),
        ("--cpus", "1;2"),
        ("--cpus", "99999"),
        ("--cores", "2", "--cpus", "1"),
        ("-o", "-", "--json"),
        ("--hops", "same_host"),
        ("--dispatch-us", "-1"),
        ("--layout", "row"),
        ("--layout", "clusters", "--cores", "2"),
        ("--layout", "global", "--method", "picas"),
        ("--layout", "stated"),
        ("--seed", "x"),
    ],
)
def test_wrong_options_are_explained(app: Path, rclrt: Rclrt, options: tuple[str, ...]) -> None:
    answer = rclrt("assign", app, *options)
    assert answer.code == 2
    words = ("expected", "leave out", "add --", "invalid choice", "not possible")
    assert any(word in answer.err for word in words)

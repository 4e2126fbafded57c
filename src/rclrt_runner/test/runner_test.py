# SPDX-License-Identifier: Apache-2.0
"""The program as a user calls it, on real ROS 2."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.executors import EXECUTORS
from running import APPLICATION, GENEROUS_S, RUNNER, rows, run


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(APPLICATION)
    return path


@pytest.mark.parametrize("executor", EXECUTORS)
def test_every_chain_instance_is_accounted_for(app: Path, tmp_path: Path, executor: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "observed.yaml").write_text("of an earlier run")
    done = run(app, out, executor)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((out / "results.json").read_text())
    assert results["executor"] == executor
    chains = {chain["id"]: chain for chain in results["chains"]}
    assert chains["obstacle"]["released"] == 30  # 0.6 s / 20 ms
    assert chains["logging"]["released"] == 12  # 0.6 s / 50 ms
    for chain in chains.values():
        assert chain["released"] == chain["completed"] + chain["dropped"] + chain["pending"]
        assert chain["completed"] > 0
        assert chain["response_ms"]["best"] <= chain["response_ms"]["p50"]
    # Two callbacks of 0.5 ms and one of 0.2 ms, and scan and look share a period 3 ms apart:
    # no instance can be quicker than the work on its path after the later input's release.
    assert chains["obstacle"]["response_ms"]["best"] >= 3 + 0.5 + 0.5 + 0.2
    instances = rows(out / "instances.csv")
    by_callback = {c["id"]: c for c in results["callbacks"]}
    for row in instances:
        assert int(row["ready_ns"]) <= int(row["start_ns"]) <= int(row["end_ns"])
        if row["outcome"] == "ran":
            stated = {"scan": 0.5, "look": 0.5, "fuse": 0.5, "brake": 0.2, "log": 4.0}
            assert int(row["cpu_ns"]) >= stated[row["callback"]] * 1e6
    assert by_callback["fuse"]["released"] >= 2 * chains["obstacle"]["completed"]
    assert by_callback["brake"]["priority"] == 2
    assert (out / "trace.pftrace").stat().st_size > 1000
    middleware = os.environ.get("RMW_IMPLEMENTATION") or "rmw_fastrtps_cpp"
    assert results["context"]["rmw"] == middleware
    assert results["context"]["records_dropped"] == 0


def test_a_callback_waits_without_using_the_cpu(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.replace("wcet_ms: 4, group: act", "wcet_ms: 2, waits_ms: 6"))
    done = run(app, tmp_path / "out", "preemptive")
    assert done.returncode == 0, done.stderr
    instances = rows(tmp_path / "out" / "instances.csv")
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    waited = [
        row
        for row in instances
        if row["callback"] == "log"
        and row["outcome"] == "ran"
        and int(row["end_ns"]) <= results["duration_s"] * 1e9  # the end of the run ends a wait
    ]
    assert waited
    for row in waited:
        assert int(row["end_ns"]) - int(row["start_ns"]) >= 8e6
        assert int(row["cpu_ns"]) >= 2e6
    assert min(int(row["cpu_ns"]) for row in waited) < 7e6  # it does not wait in a busy loop


def test_the_end_of_a_run_ends_a_wait_and_the_instance_counts_for_no_chain(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.replace("wcet_ms: 4, group: act", "wcet_ms: 2, waits_ms: 3600000"))
    done = run(app, tmp_path / "out", "preemptive")
    assert done.returncode == 0, done.stderr
    assert "did not end" not in done.stderr
    results: dict[str, Any] = json.loads((tmp_path / "out" / "results.json").read_text())
    logging = next(chain for chain in results["chains"] if chain["id"] == "logging")
    assert logging["completed"] == 0
    assert logging["pending"] > 0


@pytest.mark.parametrize("executor", EXECUTORS)
def test_messages_handed_over_within_the_process_carry_their_chains(
    app: Path, tmp_path: Path, executor: str
) -> None:
    text = app.read_text()
    assert "{topic: fused}" in text
    app.write_text(text.replace("{topic: fused}", "{topic: fused, intra_process: true}"))
    done = run(app, tmp_path / "out", executor)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((tmp_path / "out" / "results.json").read_text())
    obstacle = next(chain for chain in results["chains"] if chain["id"] == "obstacle")
    # A late machine loses releases (wait_set skips them). Every release is accounted for, and each
    # message that was handed over carries its instance.
    accounted = obstacle["completed"] + obstacle["dropped"] + obstacle["pending"]
    assert accounted == obstacle["released"] == 30
    ran = [row for row in rows(tmp_path / "out" / "instances.csv") if row["outcome"] == "ran"]
    fused = [row["tokens"] for row in ran if row["callback"] == "fuse"]
    braked = [row["tokens"] for row in ran if row["callback"] == "brake"]
    assert len(set(fused)) == len(fused)
    assert len(set(braked)) == len(braked)
    assert set(fused).issuperset(braked)
    # A late machine ends the run late: later releases do not belong to the run.
    of_run = [f"obstacle:{number}" for number in range(30)]
    assert obstacle["completed"] == len(set(braked).intersection(of_run)) > 0
    assert all(token.startswith("obstacle:") for token in braked)
    brake = next(each for each in results["callbacks"] if each["id"] == "brake")
    # The run may end between the last fuse and the wait set's check for its message.
    assert len(braked) <= brake["released"] <= len(fused)


SHARED = """\
rclrt: 1
name: shared
nodes: [{name: sensors}, {name: control}]
callbacks:
  - {id: front, node: sensors, timer: {period_ms: 20}, wcet_ms: 0.2, publishes: [ahead]}
  - {id: rear, node: sensors, timer: {period_ms: 40}, wcet_ms: 0.2, publishes: [behind]}
  - {id: side, node: sensors, timer: {period_ms: 40}, wcet_ms: 0.2, publishes: [beside]}
  - {id: track, node: control, subscription: {topics: [ahead, behind]}, wcet_ms: 0.3,
     publishes: {ahead: [brake_for], behind: [park_for]}}
  - {id: brake, node: control, subscription: {topic: brake_for}, wcet_ms: 0.1, publishes: [braked]}
  - {id: park, node: control, subscription: {topic: park_for}, wcet_ms: 0.1, publishes: [parked]}
  - {id: join, node: control, sync: {topics: [braked, parked, beside], window_ms: 15}, wcet_ms: 0.1}
chains:
  - {id: ahead, callbacks: [front, track, brake, join], priority: 3}
  - {id: behind, callbacks: [rear, track, park, join], priority: 2}
  - {id: beside, callbacks: [side, join], priority: 1}
"""


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_shared_callback_sends_on_along_the_chain_of_the_message(
    tmp_path: Path, executor: str
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(SHARED)
    done = run(app, tmp_path / "out", executor)
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((tmp_path / "out" / "results.json").read_text())
    ran: dict[str, list[set[str]]] = {}
    for row in rows(tmp_path / "out" / "instances.csv"):
        if row["outcome"] == "ran":
            ran.setdefault(row["callback"], []).append(set(row["tokens"].split(";")))

    def of(callback: str, chain: str) -> int:
        """Instances of a callback that belong to a chain."""
        return sum(any(t.startswith(f"{chain}:") for t in tokens) for tokens in ran[callback])

    assert of("track", "ahead") > of("track", "behind") > 0
    assert of("track", "ahead") + of("track", "behind") == len(ran["track"])
    # Each message is answered once, along its own chain: no load is multiplied.
    assert of("track", "ahead") >= len(ran["brake"]) > 0
    assert of("track", "behind") >= len(ran["park"]) > 0
    assert of("brake", "ahead") == len(ran["brake"])
    assert of("park", "behind") == len(ran["park"])
    # A set has one message of each chain.
    for chain in results["chains"]:
        assert of("join", chain["id"]) == len(ran["join"])
        assert chain["completed"] > 0
        ends = ("completed", "dropped", "unmatched", "pending")
        assert chain["released"] == sum(chain[end] for end in ends)


def test_members_of_a_group_do_not_overlap(app: Path, tmp_path: Path) -> None:
    assert run(app, tmp_path / "out", "preemptive").returncode == 0
    spans = sorted(
        (int(row["start_ns"]), int(row["end_ns"]))
        for row in rows(tmp_path / "out" / "instances.csv")
        if row["callback"] in ("brake", "log")
    )
    for (_, end), (start, _) in itertools.pairwise(spans):
        assert start >= end


SLOW = """\
rclrt: 1
name: slow
nodes: [{name: only}]
callbacks:
  - {id: tick, node: only, timer: {period_ms: 2}, wcet_ms: 0.05, publishes: [ticks], priority: 2}
  - {id: work, node: only, subscription: {topic: ticks, depth: 10}, wcet_ms: 20, priority: 1,
     overload: OVERLOAD}
chains:
  - {id: all, callbacks: [tick, work], priority: 1}
"""


@pytest.mark.parametrize("executor", ["producer_consumer", "thread_dispatch", "preemptive", "edf"])
@pytest.mark.parametrize(
    ("overload", "waiting"), [("queue", 10), ("keep_last", 1), ("skip_if_running", 1)]
)
def test_what_a_slow_callback_cannot_run_is_dropped_as_its_policy_says_and_counted(
    tmp_path: Path, executor: str, overload: str, waiting: int
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(SLOW.replace("OVERLOAD", overload))
    done = run(app, tmp_path / "out", executor)
    assert done.returncode in (0, 1), done.stderr  # deadlines are missed
    results: dict[str, Any] = json.loads((tmp_path / "out" / "results.json").read_text())
    work = next(each for each in results["callbacks"] if each["id"] == "work")
    assert work["dropped"] > work["completed"] > 0
    assert 0 <= work["released"] - work["completed"] - work["dropped"] <= waiting
    starts = [
        int(row["start_ns"]) - int(row["ready_ns"])
        for row in rows(tmp_path / "out" / "instances.csv")
        if row["callback"] == "work" and row["outcome"] == "ran"
    ]
    if overload == "queue":  # ten wait: 200 ms
        assert max(starts) > 100e6


BLOCKED = """\
rclrt: 1
name: blocked
executors: [{name: main, cpus: [CPU]}]
nodes: [{name: only}]
callbacks:
  - {id: tick, node: only, timer: {period_ms: 10}, wcet_ms: 0.1, publishes: [ticks], priority: 2}
  - {id: work, node: only, subscription: {topic: ticks}, wcet_ms: 0.1, priority: 2, deadline_ms: 8}
  - {id: burner, node: only, timer: {period_ms: 50, offset_ms: 5}, wcet_ms: 20, priority: 1,
     deadline_ms: 10}
chains:
  - {id: control, callbacks: [tick, work], priority: 2, deadline_ms: 8}
"""


def test_a_missed_chain_names_what_was_in_its_way(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(BLOCKED.replace("CPU", str(min(os.sched_getaffinity(0)))))
    done = run(app, tmp_path / "out", "wait_set")
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads((tmp_path / "out" / "results.json").read_text())
    # The burner takes 20 of each 50 ms: ticks released meanwhile are late or lost.
    assert results["chains"][0]["missed"] > 10
    assert len(results["misses"]) == 10
    burns = [
        (int(row["start_ns"]) / 1e6, int(row["end_ns"]) / 1e6)
        for row in rows(tmp_path / "out" / "instances.csv")
        if row["callback"] == "burner" and row["outcome"] == "ran"
    ]
    named = 0
    for miss in results["misses"]:
        release = miss["release_ms"]
        end = release + (miss["response_ms"] or results["chains"][0]["deadline_ms"])
        # On a busy machine two of its instances may have delayed one.
        burners = [each for each in miss["culprits"] if each["callback"] == "burner"]
        # If the burner did not delay it, the machine did: it took the CPU from all processes.
        overlap = sum(max(min(end, b) - max(release, a), 0) for a, b in burns)
        assert bool(burners) == (overlap > 0)
        if burners:
            named += 1
            assert all(each["reason"] == "less urgent" for each in burners)
            time = sum(each["time_ms"] for each in burners)
            assert time == pytest.approx(overlap, abs=1e-3)
        parts = sum(miss[f"{part}_ms"] for part in ("execution", "delayed", "transit"))
        total = miss["response_ms"] or results["chains"][0]["deadline_ms"]
        assert parts + miss["unexplained_ms"] == pytest.approx(total)
    burner = next(each for each in results["callbacks"] if each["id"] == "burner")
    # 20 ms of work, a deadline of 10; a late machine also drops instances.
    assert burner["missed"] == burner["completed"] + burner["dropped"]
    assert burner["completed"] > 0
    assert named > 0
    assert done.stdout.startswith(results["misses"][0]["text"])


def test_remapping_reaches_the_nodes(app: Path, tmp_path: Path) -> None:
    done = run(app, tmp_path / "out", "preemptive", "--ros-args", "-r", "points:=elsewhere")
    assert done.returncode == 0, done.stderr


def wait_for_worker(pid: int) -> None:
    """Waits until "main" has a worker: for one priority or, without real time, for all."""
    end = time.monotonic() + GENEROUS_S
    while time.monotonic() < end:
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # it may have ended
                if (task / "comm").read_text().startswith(("main L", "main run")):
                    return
        time.sleep(0.05)
    pytest.fail("no worker has started")


def test_two_runs_in_one_domain_notice_each_other(app: Path, tmp_path: Path) -> None:
    command = [RUNNER, str(app), "--executor", "preemptive", "--seconds", "20"]
    other = subprocess.Popen([*command, "--out", str(tmp_path / "other")])
    try:
        # Not before the other run has started: it would detect this one first, and end.
        wait_for_worker(other.pid)
        done = run(app, tmp_path / "out", "preemptive")
        for _ in range(10):
            if done.returncode != 0:
                break
            done = run(app, tmp_path / "out", "preemptive")
        assert done.returncode == 1
        assert "another process publishes on topic /" in done.stderr
        assert "set ROS_DOMAIN_ID" in done.stderr
    finally:
        other.send_signal(signal.SIGINT)
        other.wait(timeout=GENEROUS_S)


def test_a_broken_application_is_exit_code_2_and_writes_nothing(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.replace("wcet_ms: 4", "wcet_ms: -4"))
    done = run(app, tmp_path / "out", "preemptive")
    assert done.returncode == 2
    assert f"{app}:11:63:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_cpu_that_does_not_exist_is_exit_code_2_and_writes_nothing(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(APPLICATION.replace("nodes:", "executors: [{name: main, cpus: [1000]}]\nnodes:"))
    done = run(app, tmp_path / "out", "preemptive")
    assert done.returncode == 2
    assert "CPU 1000 cannot be used by this process: choose from" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_output_below_a_file_is_exit_code_2(app: Path, tmp_path: Path) -> None:
    done = run(app, app / "out", "preemptive")
    assert done.returncode == 2
    assert "expected a directory that can be written" in done.stderr


def test_a_callback_does_its_workload(app: Path, tmp_path: Path) -> None:
    text = app.read_text()
    own = "timer: {period_ms: 50}, wcet_ms: 4,"
    assert own in text
    app.write_text(text.replace(own, f"{own} workload: {{name: sort, iterations: 2}},"))
    done = run(app, tmp_path / "out", "preemptive")
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    log = next(each for each in results["callbacks"] if each["id"] == "log")
    # Two sorts of a thousand numbers take less than 4 ms of CPU time, but more than none.
    assert 0 < log["execution_ms"]["best"] < 4
    app.write_text(text.replace(own, f"{own} workload: {{name: absent, iterations: 2}},"))
    done = run(app, tmp_path / "other", "preemptive")
    assert done.returncode == 2
    assert "callback 'log': unknown workload 'absent'; expected one of adpcm, " in done.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("executor", ["producer_consumer", "thread_dispatch"])
def test_a_scheduler_thread_has_cpus_of_its_own(app: Path, tmp_path: Path, executor: str) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("there is one CPU only")
    stated = f"executors: [{{name: main, cpus: [{cpus[0]}], scheduler_cpus: [{cpus[1]}]}}]\n"
    app.write_text(app.read_text().replace("nodes:", stated + "nodes:"))
    done = run(app, tmp_path / "out", executor)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    of_main = {each["name"]: each["cpus"] for each in results["threads"] if "main " in each["name"]}
    # Without real time callbacks run to completion, and there is no such thread.
    if results["context"]["realtime"]:
        assert of_main.pop("main sched") == [cpus[1]]
    assert set(map(tuple, of_main.values())) <= {(cpus[0],)}
    assert all(chain["completed"] > 0 for chain in results["chains"])

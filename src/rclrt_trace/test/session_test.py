# SPDX-License-Identifier: Apache-2.0
"""Real LTTng sessions of real nodes: the results of the trace match the run."""

from __future__ import annotations

import bisect
import csv
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest
from rclrt_py.runs.cpu_parts import CpuParts, have_times
from rclrt_py.runs.csv_reader import read_instance_rows
from rclrt_py.testing.waiting import GENEROUS_S, wait_for
from rclrt_trace.session import CREATION_EVENTS, RUN_EVENTS
from traced_runs import EXAMPLES, Traced, rclrt

import rclrt_model

AGREEMENT_NS = 50_000
STEAL_TICK_NS = 10_000_000
TAKE_NS = 200_000
SWITCH_NS = 10_000  # a switch of threads: the thread's CPU clock includes it, the trace does not


def test_a_session_records_every_event_of_rclrt() -> None:
    header = Path(__file__).parents[2] / "rclrt_tracetools" / "src" / "rclrt_provider.h"
    events = re.findall(r"TRACEPOINT_EVENT\(rclrt, (\w+)", header.read_text(encoding="utf-8"))
    recorded = (*CREATION_EVENTS, *RUN_EVENTS)
    assert len(events) >= 5
    assert sorted(f"rclrt:{event}" for event in events) == sorted(
        event for event in recorded if event.startswith("rclrt:")
    )


def instances(results: Path) -> dict[str, list[tuple[int, int, int]]]:
    """Returns each callback's instances: start, end, and the delay from release to start."""
    found: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    with (results / "instances.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["outcome"] == "ran":
                start = int(row["start_ns"])
                found[row["callback"]].append(
                    (start, int(row["end_ns"]), start - int(row["release_ns"]))
                )
    return {name: sorted(times) for name, times in found.items()}


def cpu_times(results: Path) -> dict[str, list[tuple[int, int, int]]]:
    """Returns each callback's instances: start, CPU time and preemptions."""
    found: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    with (results / "instances.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["outcome"] == "ran":
                found[row["callback"]].append(
                    (int(row["start_ns"]), int(row["cpu_ns"]), int(row["preemptions"]))
                )
    return {name: sorted(times) for name, times in found.items()}


def chain_responses(results: Path) -> dict[tuple[str, ...], list[tuple[int, int]]]:
    """Returns each chain's instances, by the chain's callbacks: completion and response time."""
    chains = {
        chain["id"]: tuple(chain["callbacks"])
        for chain in json.loads((results / "results.json").read_text())["chains"]
    }
    found: dict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    with (results / "chains.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["status"] == "completed":
                found[chains[row["chain"]]].append(
                    (int(row["completion_ns"]), int(row["response_ns"]))
                )
    return {chain: sorted(times) for chain, times in found.items()}


def nearest(values: list[int], value: int) -> int:
    """Returns the index of the nearest value in a sorted list."""
    after = bisect.bisect_left(values, value)
    near = [index for index in (after - 1, after) if 0 <= index < len(values)]
    return min(near, key=lambda index: abs(values[index] - value))


def zero(results: Path) -> int:
    """Returns CLOCK_MONOTONIC at time 0 of the results."""
    value: int = json.loads((results / "results.json").read_text())["t0_monotonic_ns"]
    return value


def stolen_ns(results: Path) -> int:
    """Returns at most how much CPU time the host took in a run: the kernel counts full ticks."""
    context = json.loads((results / "results.json").read_text())["context"]
    return int(1e6 * context["steal_ms"]) + STEAL_TICK_NS * (os.cpu_count() or 1)


def test_a_trace_agrees_with_what_the_runner_recorded(traced: Traced, tmp_path: Path) -> None:
    imported = tmp_path / "imported"
    done = rclrt("trace", "import", traced.trace, "--out", imported, "--executor", "preemptive")
    assert done.returncode == 0, done.stderr
    assert (imported / "report.html").is_file()
    assert (imported / "trace.pftrace").is_file()
    # The report shows the graph of the model, which is beside the results.
    model = rclrt_model.load(imported / "observed.yaml")
    graph = json.loads((imported / "application.json").read_text())
    assert [each["id"] for each in graph["callbacks"]] == [each.id for each in model.callbacks]
    own, of_trace = instances(traced.run), instances(imported)
    assert own.keys() == of_trace.keys()
    offset = zero(traced.run) - zero(imported)
    for callback, times in own.items():
        # The runner leaves out instances released before its window or ended after it: on a slow
        # machine, as many as may be queued.
        assert len(times) <= len(of_trace[callback]) <= len(times) + 20, callback
        starts = [start for start, _, _ in of_trace[callback]]
        pairs = [(row, of_trace[callback][nearest(starts, row[0] + offset)]) for row in times]
        # Instances are paired, because their times differ on a busy machine.
        assert (
            statistics.median(abs(theirs[0] - ours[0] - offset) for ours, theirs in pairs)
            <= AGREEMENT_NS
        ), callback
        assert (
            statistics.median(
                abs((theirs[1] - theirs[0]) - (ours[1] - ours[0])) for ours, theirs in pairs
            )
            <= AGREEMENT_NS
        ), callback
        assert (
            statistics.median(abs(theirs[2] - ours[2]) for ours, theirs in pairs) <= AGREEMENT_NS
        ), callback
    responses, of_trace_responses = chain_responses(traced.run), chain_responses(imported)
    followed = responses.keys() & of_trace_responses.keys()
    assert followed
    for chain in followed:
        completions = [completion for completion, _ in of_trace_responses[chain]]
        assert (
            statistics.median(
                abs(
                    of_trace_responses[chain][nearest(completions, completion + offset)][1]
                    - response
                )
                for completion, response in responses[chain]
            )
            <= AGREEMENT_NS
        ), chain


def parts(application: rclrt_model.Application) -> dict[str, dict[str, object]]:
    """Returns the parts of a model, for a comparison."""
    nodes = application.nodes

    def absolute(topics: Iterable[str], node: int) -> list[str]:
        return sorted(
            f"{nodes[node].name_space.rstrip('/')}/{topic.lstrip('/')}" for topic in topics
        )

    members: dict[object, set[str]] = defaultdict(set)
    for callback in application.callbacks:
        members[callback.group and (callback.node, callback.group)].add(callback.id)
    return {
        callback.id: {
            "node": (nodes[callback.node].name_space, nodes[callback.node].name),
            "kind": callback.kind,
            "period": getattr(callback.trigger, "period_ns", None),
            "inputs": absolute(callback.inputs, callback.node),
            "publishes": absolute(callback.publishes, callback.node),
            "group": members[(callback.node, callback.group)] if callback.group else {callback.id},
            "priority": application.effective_priority(index),
        }
        for index, callback in enumerate(application.callbacks)
    }


def ways(application: rclrt_model.Application) -> set[tuple[str, ...]]:
    names = [callback.id for callback in application.callbacks]
    return {tuple(names[index] for index in chain.callbacks) for chain in application.chains}


def test_execution_times_are_cpu_times(traced: Traced, tmp_path: Path) -> None:
    if "no scheduling events: context switches (perf_event_open): " in traced.said:
        pytest.skip("the kernel gives no scheduling events (perf_event_paranoid)")
    assert (traced.trace / "scheduling/metadata").is_file(), traced.said
    imported = tmp_path / "imported"
    done = rclrt("trace", "import", traced.trace, "--out", imported)
    assert done.returncode == 0, done.stderr
    assert "wall time" not in done.stderr
    own, of_trace = cpu_times(traced.run), cpu_times(imported)
    offset = zero(traced.run) - zero(imported)
    for callback, times in own.items():
        starts = [start for start, _, _ in of_trace[callback]]
        pairs = [(row, of_trace[callback][nearest(starts, row[0] + offset)]) for row in times]
        # The runner's time includes the take of the message; the trace's begins at the call.
        short = [ours[1] * 0.9 - theirs[1] - SWITCH_NS * ours[2] for ours, theirs in pairs]
        assert statistics.median(short) <= TAKE_NS, callback
        # A trace's times include what the host takes of a CPU; the thread's own clock does not.
        excess_ns = sum(max(0, theirs[1] - ours[1]) for ours, theirs in pairs)
        assert excess_ns <= len(pairs) * AGREEMENT_NS + stolen_ns(traced.run), callback
        assert statistics.median(abs(theirs[2] - ours[2]) for ours, theirs in pairs) <= 1, callback


def cpus(results: Path) -> dict[str, list[tuple[int, CpuParts, int]]]:
    """Returns each callback's instances: start, CPUs and CPU time."""
    found: dict[str, list[tuple[int, CpuParts, int]]] = defaultdict(list)
    for row in read_instance_rows(results / "instances.csv"):
        if row.outcome == "ran":
            found[row.callback].append((row.start, row.cpus, row.cpu))
    return {name: sorted(rows) for name, rows in found.items()}


def test_the_cpus_of_a_trace_are_those_that_the_run_recorded(
    traced: Traced, tmp_path: Path
) -> None:
    imported = tmp_path / "imported"
    done = rclrt("trace", "import", traced.trace, "--out", imported)
    assert done.returncode == 0, done.stderr
    own, of_trace = cpus(traced.run), cpus(imported)
    offset = zero(traced.run) - zero(imported)
    equal = total = 0
    for callback, rows in own.items():
        starts = [start for start, _, _ in of_trace[callback]]
        for start, ours, _ in rows:
            _, theirs, _ = of_trace[callback][nearest(starts, start + offset)]
            assert 1 <= len(ours) <= 2
            assert theirs
            total += 1
            equal += (ours[0].cpu, ours[-1].cpu) == (theirs[0].cpu, theirs[-1].cpu)
    # A thread may move between the pick-up and the call, or between the return and the record.
    assert equal >= 0.9 * total
    for rows in of_trace.values():
        for _, parts, cpu_ns in rows:
            if have_times(parts):
                assert sum(part.end - part.start for part in parts) == cpu_ns


def test_all_traces_of_a_session_have_one_clock(traced: Traced) -> None:
    """Readers like babeltrace2 refuse to merge traces without a common clock in their metadata."""
    if "no scheduling events: context switches (perf_event_open): " in traced.said:
        pytest.skip("the kernel gives no scheduling events (perf_event_paranoid)")
    clocks = [
        re.findall(rb"^clock \{.*?uuid = \"([0-9a-f-]{36})\";.*?offset = (\d+);", text, re.M | re.S)
        for text in (file.read_bytes() for file in traced.trace.rglob("metadata"))
    ]
    assert len(clocks) == 3  # traces of entities, of runs, and of switches of threads
    boot = Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    offset_now = time.time_ns() - time.monotonic_ns()
    for ((uuid, offset),) in clocks:
        assert uuid == boot
        assert abs(int(offset) - offset_now) < 1e9  # if the clock is not set meanwhile
    ours = (traced.trace / "scheduling/metadata").read_text()
    assert "absolute = TRUE" in ours  # as in LTTng's clock


def test_the_model_of_a_run_is_its_application(traced: Traced, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    done = rclrt("model", traced.trace, "-o", file)
    assert done.returncode == 0, done.stderr
    original = rclrt_model.load(traced.app)
    model = rclrt_model.load(file)
    assert parts(model) == parts(original)
    # Proposed chains continue to the sinks; an author may end one earlier.
    proposed = ways(model)
    for chain in ways(original):
        assert any(way[: len(chain)] == chain for way in proposed), chain
    for callback in model.callbacks:
        assert callback.observed is not None
        assert callback.observed.n > 0
        assert callback.observed.p50_ns <= callback.observed.p99_ns <= callback.observed.max_ns
        assert callback.wcet_ns == callback.observed.max_ns
    assert {executor.name for executor in model.executors} == {
        executor.name for executor in original.executors
    }


def test_a_run_is_a_model_as_well(traced: Traced, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    done = rclrt("model", traced.run, "-o", file)
    assert done.returncode == 0, done.stderr
    original, model = rclrt_model.load(traced.app), rclrt_model.load(file)
    assert parts(model) == parts(original)
    assert ways(model) == ways(original)
    for callback in model.callbacks:
        assert callback.observed is not None
        assert 0 < callback.observed.p50_ns <= callback.observed.max_ns == callback.wcet_ns


def test_what_has_no_model_is_bad_input(tmp_path: Path) -> None:
    app, run = EXAMPLES / "fig_5_7" / "app.yaml", tmp_path / "simulated"
    made = rclrt("simulate", app, "--executor", "edf", "--seconds", "0.1", "--out", run)
    assert made.returncode == 0, made.stderr
    done = rclrt("model", run, "-o", tmp_path / "robot.yaml")
    assert done.returncode == 2
    assert "has no observed.yaml; expected a run that was measured" in done.stderr
    assert not (tmp_path / "robot.yaml").exists()


def test_bounds_of_a_model_are_conditional_at_best(traced: Traced, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    assert rclrt("model", traced.trace, "-o", file).returncode == 0
    done = rclrt("analyze", file, "--executor", "preemptive", "--json")
    assert done.returncode in (0, 1), done.stderr
    assert '"proved"' not in done.stdout
    assert "longest observed" in done.stdout


def test_snapshots_are_read_once(tmp_path: Path) -> None:
    trace, run = tmp_path / "trace", tmp_path / "run"
    app = EXAMPLES / "autonomous_vehicle" / "app.yaml"
    command = ["run", str(app), "--executor", "preemptive", "--seconds", "3", "--out", str(run)]
    python = [sys.executable, "-m", "rclrt_cli"]
    with subprocess.Popen(
        [*python, "trace", "record", "-o", trace, "--snapshot", "--", *python, *command]
    ) as recording:
        wait_for(lambda: recording.poll() is not None or any(trace.glob("creation/**/ros_*")))
        assert recording.poll() is None
        time.sleep(1)  # the snapshot is of the middle of the run, which takes 3 s
        recording.send_signal(signal.SIGUSR1)
        assert recording.wait(GENEROUS_S) == 0
    assert len(list(trace.glob("running/*/ust"))) == 2
    done = rclrt("trace", "import", trace, "--out", tmp_path / "imported")
    assert done.returncode == 0, done.stderr
    own, of_trace = instances(run), instances(tmp_path / "imported")
    assert own.keys() == of_trace.keys()
    for callback, times in own.items():
        assert len(times) <= len(of_trace[callback]) <= len(times) + 20, callback


def test_the_session_and_its_daemon_are_gone(traced: Traced) -> None:
    environment = {**os.environ, "LTTNG_HOME": str(traced.home), "HOME": str(traced.home)}
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run(
        [*(user if os.geteuid() == 0 else []), "lttng", "--no-sessiond", "list"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "No session daemon" in done.stdout + done.stderr

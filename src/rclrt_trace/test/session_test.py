# SPDX-License-Identifier: Apache-2.0
"""Real LTTng sessions of real nodes: what is read is what ran."""

from __future__ import annotations

import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from conftest import EXAMPLES, GENEROUS_S, Traced, rclrt

import rclrt_model

AGREEMENT_MS = 0.05


def medians(results: Path) -> dict[str, tuple[float, float, int]]:
    """Of each callback: delay from release to start and execution time in ms, and how many."""
    delays: dict[str, list[float]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    with (results / "instances.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["outcome"] == "ran":
                start = int(row["start_ns"])
                delays[row["callback"]].append((start - int(row["release_ns"])) / 1e6)
                times[row["callback"]].append((int(row["end_ns"]) - start) / 1e6)
    return {
        callback: (statistics.median(delays[callback]), statistics.median(values), len(values))
        for callback, values in times.items()
    }


def test_a_trace_agrees_with_what_the_runner_recorded(traced: Traced, tmp_path: Path) -> None:
    imported = tmp_path / "imported"
    done = rclrt("trace", "import", traced.trace, "--out", imported, "--executor", "preemptive")
    assert done.returncode == 0, done.stderr
    assert (imported / "report.html").is_file()
    assert (imported / "trace.pftrace").is_file()
    own, of_trace = medians(traced.run), medians(imported)
    assert own.keys() == of_trace.keys()
    for callback, (delay, took, count) in own.items():
        assert abs(of_trace[callback][0] - delay) <= AGREEMENT_MS, callback
        assert abs(of_trace[callback][1] - took) <= AGREEMENT_MS, callback
        # The runner leaves out what was released before its window and what ends after it: on a
        # machine that is late, as much as may wait.
        assert count <= of_trace[callback][2] <= count + 20, callback
    chains = {
        results: {
            tuple(chain["callbacks"]): chain["response_ms"]["p50"]
            for chain in json.loads((results / "results.json").read_text())["chains"]
        }
        for results in (traced.run, imported)
    }
    followed = chains[traced.run].keys() & chains[imported].keys()
    assert followed
    for chain in followed:
        assert abs(chains[traced.run][chain] - chains[imported][chain]) <= AGREEMENT_MS, chain


def parts(application: rclrt_model.Application) -> dict[str, dict[str, object]]:
    """What a model is made of, for a diff."""
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


def test_the_model_of_a_run_is_its_application(traced: Traced, tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    done = rclrt("model", traced.trace, "-o", file)
    assert done.returncode == 0, done.stderr
    original = rclrt_model.load(traced.app)
    model = rclrt_model.load(file)
    assert parts(model) == parts(original)
    # Proposed chains go on to the sinks; an author may end one before.
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
        while not any(trace.glob("creation/**/ros_*")):
            assert recording.poll() is None
            time.sleep(0.05)
        time.sleep(1)
        recording.send_signal(signal.SIGUSR1)
        assert recording.wait(GENEROUS_S) == 0
    assert len(list(trace.glob("running/*/ust"))) == 2
    done = rclrt("trace", "import", trace, "--out", tmp_path / "imported")
    assert done.returncode == 0, done.stderr
    own, of_trace = medians(run), medians(tmp_path / "imported")
    assert own.keys() == of_trace.keys()
    for callback, (_, _, count) in own.items():
        assert count <= of_trace[callback][2] <= count + 20, callback


def test_the_session_and_its_daemon_are_gone(traced: Traced) -> None:
    environment = {**os.environ, "LTTNG_HOME": str(traced.home), "HOME": str(traced.home)}
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run(
        [*(user if os.geteuid() == 0 else []), "lttng", "--no-sessiond", "list"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "No session daemon" in done.stdout + done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Traces of two hosts with unequal times: how they are judged; and the results of one host."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from host_pair import PERIOD_NS, WRONG, Pair, clock_file, refusal
from host_traces import MS, SECOND, HostClock
from joined_results import LEFT_BOOT, imported
from traced_runs import rclrt


def chain_of(results: dict[str, Any], topic: str) -> dict[str, Any]:
    """Returns the chain through the topic."""
    chains: list[dict[str, Any]] = results["chains"]
    found = [chain for chain in chains if topic in chain["callbacks"][-1]]
    assert len(found) == 1, results["chains"]
    return found[0]


def test_instances_are_judged_only_while_all_their_hosts_were_traced(tmp_path: Path) -> None:
    """The nodes of right start 1 s later than those of left, and its trace ends 0.5 s earlier."""
    pair = Pair()
    begin = WRONG.true(WRONG.monotonic(SECOND) + 100 * PERIOD_NS)  # on the grid of its timer
    end = SECOND + 2500 * MS
    for event in pair.right.events:
        event.time = begin if event.time == SECOND else event.time
    pair.right.events = [each for each in pair.right.events if begin <= each.time <= end]
    results, _, said = imported(tmp_path, pair.save(tmp_path))
    for topic in ("seen", "cmd"):
        chain = chain_of(results, topic)
        assert chain["missed"] == chain["dropped"] == 0, topic
        assert 140 <= chain["completed"] <= chain["released"] <= 150, topic
    left, right = (host["traced_ms"] for host in results["hosts"])
    assert left[1] == pytest.approx(3000, abs=30)
    assert right == pytest.approx([990, 2490], abs=15)
    assert "'right' has events from 0.99" in said
    assert "chains with a callback on it are judged only for that time" in said


def test_the_largest_error_is_that_of_the_whole_trace(tmp_path: Path) -> None:
    """There are no more messages after 1 s of 3 s: then the error grows by a thousandth."""
    pair = Pair()
    for trace in (pair.left, pair.right):
        trace.events = [
            event
            for event in trace.events
            if event.time <= 2 * SECOND or event.tid % 100 != 2  # the thread of subscriptions
        ]
    results, out, said = imported(tmp_path, pair.save(tmp_path))
    most_ms = results["hosts"][1]["most_error_ms"]
    assert most_ms > 1.9
    assert f"to ±{most_ms:.3f} ms" in said
    with (out / "instances.csv").open() as rows:
        errors = [int(row["error_ns"]) for row in csv.DictReader(rows)]
    assert 1.8 < max(errors) / MS <= most_ms


def test_releases_that_a_timer_of_another_host_did_not_serve_are_missed(tmp_path: Path) -> None:
    """A timer of right stalls for 100 ms. Its grid is not regular on the clock of left."""
    pair = Pair()
    grid = [WRONG.true(WRONG.monotonic(SECOND) + i * PERIOD_NS) for i in (100, 110)]

    def is_in_stall(event: Any) -> bool:
        return bool(grid[0] <= event.time < grid[1])

    pair.right.events = [e for e in pair.right.events if e.tid != 101 or not is_in_stall(e)]
    sent = {e.fields["timestamp"] for e in pair.right.events if "timestamp" in e.fields}
    kept = []
    dropped = False
    for event in pair.left.events:
        if event.name == "ros2:rmw_take":
            dropped = event.fields["source_timestamp"] not in sent
        if event.tid != 102 or not dropped:
            kept.append(event)
    pair.left.events = kept
    results, _, _ = imported(tmp_path, pair.save(tmp_path))
    chain = chain_of(results, "cmd")
    # The first run after the stall has the release of the first one that it should have served.
    assert (chain["released"], chain["completed"], chain["dropped"]) == (300, 290, 10)
    assert chain["missed"] == 11


def test_a_file_that_is_not_used_is_named_where_it_is_needed(tmp_path: Path) -> None:
    traces = Pair(back=False).save(tmp_path)
    file = clock_file(tmp_path / "clock.json", WRONG, boot="0123456789abcdef")
    said = refusal(tmp_path, traces, "--clock", file)
    assert "expected the offsets between two of the traced hosts" in said
    clock_file(file, WRONG, steps=2)
    said = refusal(tmp_path, traces, "--clock", file)
    assert "bounded on one side only" in said
    assert "clock.json: not used for 'right': a clock was set 2 times" in said


def test_numbers_of_a_clock_file_do_not_wrap(tmp_path: Path) -> None:
    traces = Pair().save(tmp_path)
    file = clock_file(tmp_path / "clock.json", WRONG)
    document = json.loads(file.read_text())
    for place, number in ((2, 2**64 - 1), (3, 2**60), (0, 2**61), (1, 2**63)):
        document["peers"][0]["samples"] = [[1, 1, 0, 0, 0, 0]]
        document["peers"][0]["samples"][0][place] = number
        file.write_text(json.dumps(document))
        assert "clock.json: /peers/0/samples/0: expected six whole numbers" in refusal(
            tmp_path, traces, "--clock", file
        )


def test_a_trace_of_one_host_has_the_results_of_before(tmp_path: Path) -> None:
    pair = Pair(clock=HostClock())
    for trace, space in ((pair.left, 4026531836), (pair.right, 4026532999)):
        trace.name, trace.boot, trace.has_namespaces = "robot", LEFT_BOOT, True
        for event in trace.events:
            event.pid_ns = space
    done = rclrt("trace", "import", *pair.save(tmp_path), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "messages between" not in done.stdout
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert "hosts" not in results
    assert len(results["hops"]) == 2
    assert not any("early" in hop or "error_ms" in hop for hop in results["hops"])
    assert not any("error_ms" in each for each in results["callbacks"] + results["chains"])

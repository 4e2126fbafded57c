# SPDX-License-Identifier: Apache-2.0
"""Traces of several hosts, made by this test, become one result: each time within its error."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from host_pair import PERIOD_NS, US, WRONG, Pair, clock_file, refusal
from host_traces import MS, SECOND, HostClock, Robot
from joined_results import LEFT_BOOT, imported
from traced_runs import rclrt


def chain_rows(results: dict[str, Any], out: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the completed instances of chains over hosts, with the topic."""
    topic_of = {
        chain["id"]: next((each for each in ("seen", "cmd") if each in chain["callbacks"][-1]), "")
        for chain in results["chains"]
    }
    with (out / "chains.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["response_ns"] and topic_of[row["chain"]]:
                yield topic_of[row["chain"]], row


def responses(results: dict[str, Any], out: Path) -> dict[str, list[tuple[int, int]]]:
    """Returns response and error of each instance, by topic, in order of release."""
    found: dict[str, list[tuple[int, int]]] = {"seen": [], "cmd": []}
    for topic, row in chain_rows(results, out):
        found[topic].append((int(row["response_ns"]), int(row["error_ns"])))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_every_joined_response_is_within_its_error_of_the_truth(tmp_path: Path, seed: int) -> None:
    pair = Pair(seed=seed)
    results, out, said = imported(tmp_path, pair.save(tmp_path))
    found = responses(results, out)
    for topic, truth in pair.responses.items():
        assert len(found[topic]) == len(truth)
        for (response, error), true in zip(found[topic], truth, strict=True):
            assert abs(response - true) <= error, topic
            assert response > 0
            # Half of the fastest messages of both directions, and the drift to the next of them.
            assert pair.delay_ns <= error <= 3 * pair.delay_ns
    left, right = results["hosts"]
    assert (left["name"], left["compared_with"]) == ("left", None)
    assert (right["name"], right["compared_with"]) == ("right", "left")
    assert (right["received"], right["sent"]) == (pair.count, pair.count)
    low, high = right["first_offset_ms"]
    assert low <= 40.0 <= high
    assert high - low < 1
    assert "the clock of 'right' is fitted to that of 'left' by 300 messages to it" in said
    # The report and Perfetto have it too.
    assert "hops" not in results  # the trace does not show when a message was ready
    assert "Clock of right" in (out / "report.html").read_text()
    pftrace = (out / "trace.pftrace").read_bytes()
    assert b"clock_error_ms" in pftrace
    assert b"right clock error, either direction" in pftrace


def test_a_deadline_within_the_error_is_unknown(tmp_path: Path) -> None:
    """The deadline of a proposed chain is its period."""
    pair = Pair(delay_ns=PERIOD_NS - 500 * US, clock=replace(WRONG, drift_ppm=0))
    results, out, _ = imported(tmp_path, pair.save(tmp_path))
    for topic, row in chain_rows(results, out):
        response, error = int(row["response_ns"]), int(row["error_ns"])
        low, high = response - error, response + error
        assert row["status"] == (
            "late" if low > PERIOD_NS else "completed" if high <= PERIOD_NS else "unknown"
        ), topic
    unknown = sum(chain["unknown"] for chain in results["chains"])
    assert unknown == sum(row["status"] == "unknown" for _, row in chain_rows(results, out)) > 0
    assert all(
        chain["missed"] + chain["unknown"] <= chain["released"] for chain in results["chains"]
    )
    assert "met or missed: unknown" in rclrt("report", out).stdout


def test_messages_in_one_direction_are_a_one_sided_bound(tmp_path: Path) -> None:
    said = refusal(tmp_path, Pair(back=False).save(tmp_path))
    assert "'right' took 300 messages of 'left', and 'left' none of 'right'" in said
    assert (
        "bounded on one side only (CLOCK_MONOTONIC of 'right' less that of 'left' is at most"
        in said
    )
    assert "add --clock clock.json; or publish a topic in the other direction" in said


@pytest.mark.parametrize("on", ["left", "right"])
def test_intervals_of_rclrt_clock_join_messages_of_one_direction(tmp_path: Path, on: str) -> None:
    pair = Pair(back=False)
    traces = pair.save(tmp_path)
    file = clock_file(tmp_path / "clock.json", WRONG, on)
    results, out, said = imported(tmp_path, traces, "--clock", file)
    found = responses(results, out)["seen"]
    assert len(found) == len(pair.responses["seen"])
    for (response, error), true in zip(found, pair.responses["seen"], strict=True):
        assert abs(response - true) <= error < 500 * US
    assert results["hosts"][1]["samples"] == 10
    assert "and 10 intervals of rclrt clock" in said


def test_intervals_of_rclrt_clock_narrow_those_of_messages(tmp_path: Path) -> None:
    traces = Pair(delay_ns=2 * MS).save(tmp_path)
    wide, _, _ = imported(tmp_path, traces)
    file = clock_file(tmp_path / "clock.json", WRONG)
    narrow, _, _ = imported(tmp_path, traces, "--clock", file)
    assert wide["hosts"][1]["least_error_ms"] >= 2
    assert narrow["hosts"][1]["most_error_ms"] < 0.5


def test_files_of_rclrt_clock_that_are_wrong_are_refused(tmp_path: Path) -> None:
    traces = Pair().save(tmp_path)
    file = tmp_path / "clock.json"
    set_by_an_hour = replace(WRONG, wrong_by_ns=WRONG.wrong_by_ns + 3600 * SECOND)
    clock_file(file, replace(WRONG, offset_ns=set_by_an_hour.offset_ns))
    document = json.loads(file.read_text())
    for sample in document["peers"][0]["samples"]:
        sample[2] += 3 * MS
        sample[3] += 3 * MS
    file.write_text(json.dumps(document))
    assert "contradicts the messages between 'left' and 'right' between 2027-01-15" in refusal(
        tmp_path, traces, "--clock", file
    )
    clock_file(file, WRONG, test_clock=True)
    assert "clock.json: /test_clock: RCLRT_TEST_CLOCK made a clock wrong" in refusal(
        tmp_path, traces, "--clock", file
    )
    clock_file(file, WRONG, boot="0123456789abcdef")
    assert "expected the offsets between two of the traced hosts" in refusal(
        tmp_path, traces, "--clock", file
    )
    file.write_text('{"rclrt_clock": 1}')
    assert "clock.json: /test_clock: is missing" in refusal(tmp_path, traces, "--clock", file)
    file.write_text("[1, 2")
    assert "is not a file of rclrt clock --out" in refusal(tmp_path, traces, "--clock", file)
    assert "no such file" in refusal(tmp_path, traces, "--clock", tmp_path / "none.json")
    clock_file(file, WRONG)
    assert "all traces are of one machine" in refusal(tmp_path, traces[:1], "--clock", file)


def test_a_file_of_a_clock_that_was_set_is_not_used(tmp_path: Path) -> None:
    file = clock_file(tmp_path / "clock.json", WRONG, steps=2)
    results, _, said = imported(tmp_path, Pair().save(tmp_path), "--clock", file)
    assert results["hosts"][1]["samples"] == 0
    assert "not used for 'right': a clock was set 2 times while rclrt clock ran" in said


def test_traces_without_common_messages_are_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, Pair(there=False, back=False).save(tmp_path))
    assert "the clocks of 'left' and 'right' cannot be joined: no message of one was taken" in said


def test_a_clock_that_moved_in_the_trace_is_named_with_its_time(tmp_path: Path) -> None:
    """A machine that was suspended for 3 ms, 2 s after the begin."""
    pair = Pair()
    moved = SECOND + 2 * SECOND
    for event in pair.right.events:
        event.time += 3 * MS if event.time > moved else 0
    said = refusal(tmp_path, pair.save(tmp_path))
    assert "no offset fits all messages between them; the clocks moved against each other" in said
    assert "between 2027-01-15 08:00:0" in said
    assert "by at least 2." in said
    assert "--drift" in said


def test_a_larger_drift_is_stated_by_the_user(tmp_path: Path) -> None:
    pair = Pair(clock=replace(WRONG, drift_ppm=2500.0))
    traces = pair.save(tmp_path)
    assert "drifts or is slewed by more than --drift (500 ppm)" in refusal(tmp_path, traces)
    results, out, _ = imported(tmp_path, traces, "--drift", "1500")
    for topic, truth in pair.responses.items():
        for (response, error), true in zip(responses(results, out)[topic], truth, strict=True):
            assert abs(response - true) <= error
    assert "expected a number from 0 to 100000" in refusal(tmp_path, traces, "--drift", "-3")


@pytest.mark.parametrize("seed", range(3))
def test_a_clock_that_ntp_slews_in_the_middle_stays_within_its_error(
    tmp_path: Path, seed: int
) -> None:
    """A slew of 300 millionths moves the clock by 0.3 ms in a second: more than the error."""
    slewed = (SECOND + SECOND, SECOND + 2 * SECOND)
    pair = Pair(seed=seed, clock=replace(WRONG, slew_ppm=(-1) ** seed * 300.0, slewed_ns=slewed))
    results, out, _ = imported(tmp_path, pair.save(tmp_path))
    for topic, truth in pair.responses.items():
        found = responses(results, out)[topic]
        assert len(found) == len(truth)
        for (response, error), true in zip(found, truth, strict=True):
            assert abs(response - true) <= error


def test_one_host_given_twice_is_one_host(tmp_path: Path) -> None:
    left, _ = Pair().save(tmp_path)
    once, _, _ = imported(tmp_path, [left])
    twice, _, _ = imported(tmp_path, [left, left])
    assert "hosts" not in twice
    assert [each["released"] for each in once["callbacks"]] == [
        each["released"] for each in twice["callbacks"]
    ]


def test_hosts_without_a_boot_are_told_apart_by_their_names(tmp_path: Path) -> None:
    pair = Pair()
    pair.left.boot = pair.right.boot = ""
    pair.left.states_day = False
    results, _, _ = imported(tmp_path, pair.save(tmp_path))
    assert [host["name"] for host in results["hosts"]] == ["left", "right"]
    assert [host["boot"] for host in results["hosts"]] == [None, None]
    assert results["hosts"][1]["first_offset_ms"] is None


def test_two_boots_of_one_name_are_two_clocks(tmp_path: Path) -> None:
    pair = Pair()
    pair.right.name = "left"
    results, _, _ = imported(tmp_path, pair.save(tmp_path))
    assert [host["name"] for host in results["hosts"]] == [
        "left (boot 11111111)",
        "left (boot 66666666)",
    ]


def test_containers_of_one_machine_with_equal_process_ids_are_two(tmp_path: Path) -> None:
    """Two traces of one boot and one name: only the namespaces tell the processes apart."""
    pair = Pair(clock=HostClock())
    for trace, space in ((pair.left, 4026531836), (pair.right, 4026532999)):
        trace.name, trace.boot, trace.has_namespaces = "robot", LEFT_BOOT, True
        for event in trace.events:
            event.pid_ns = space
    results, out, _ = imported(tmp_path, pair.save(tmp_path))
    assert "hosts" not in results
    assert len({chain["callbacks"][0] for chain in results["chains"]}) == 2
    assert all(chain["completed"] == pair.count for chain in results["chains"])
    with (out / "chains.csv").open() as rows:
        assert "error_ns" not in next(csv.reader(rows))


def test_what_is_not_joined_is_counted(tmp_path: Path) -> None:
    pair = Pair()
    robot = Robot(pair.right)
    robot.subscription(30, 1, "/scan", 30)
    for i in range(7):
        robot.take(30, 2 * SECOND + i * MS, 12345 + i)
    _, _, said = imported(tmp_path, pair.save(tmp_path))
    assert "because their publication is in no trace: 7 of /scan on 'right'" in said


def test_the_model_of_two_hosts_has_a_process_for_each(tmp_path: Path) -> None:
    done = rclrt("model", *Pair().save(tmp_path), "-o", tmp_path / "robot.yaml")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "robot.yaml").read_text()
    assert "process: left_process_100" in text
    assert "process: right_process_100" in text

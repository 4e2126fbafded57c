# SPDX-License-Identifier: Apache-2.0
"""A real run of two processes in two network namespaces, traced; the clock of one side is then made
wrong. The joined traces agree with what the runner measured, within the error that they state."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from host_traces import MS, SECOND, HostClock, HostTrace, pids_of, recorded, shift_stamps
from joined_results import LEFT_BOOT, RIGHT_BOOT, imported
from rclrt_py.testing.command import command
from rclrt_py.testing.namespaces import HOSTS, NotPermittedHere, TwoHosts
from rclrt_py.testing.waiting import GENEROUS_S

LEFT, RIGHT = HOSTS
APP = """\
rclrt: 1
name: two_hosts
executors: [{name: near, process: left}, {name: far, process: right}]
nodes: [{name: sensor, executor: near}, {name: motor, executor: far}]
callbacks:
  - {id: sense, node: sensor, timer: {period_ms: 20}, wcet_ms: 0.5, publishes: [seen]}
  - {id: move, node: motor, subscription: {topic: seen}, wcet_ms: 0.5, publishes: [moved]}
  - {id: check, node: sensor, subscription: {topic: moved}, wcet_ms: 0.2}
  - {id: beat, node: motor, timer: {period_ms: 25}, wcet_ms: 0.2, publishes: [alive]}
  - {id: watch, node: sensor, subscription: {topic: alive}, wcet_ms: 0.2}
chains:
  - {id: there, callbacks: [sense, move], deadline_ms: 20, priority: 3}
  - {id: back, callbacks: [beat, watch], deadline_ms: 25, priority: 2}
  - {id: around, callbacks: [sense, move, check], deadline_ms: 20, priority: 1}
"""
OFFSET_NS = 40 * MS
AGREEMENT_NS = 1 * MS
"""The runner and the trace read the clock one after the other, and may be preempted between: as in
session_test.py."""
READING_NS = 20_000
"""Between the two readings otherwise."""


@dataclass(frozen=True)
class Recorded:
    """A run, and its trace of both hosts with their true clocks."""

    run: Path
    trace: Path


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    if shutil.which("lttng-sessiond") is None:
        if "CI" in os.environ:
            pytest.fail("there is no lttng-sessiond (Debian: lttng-tools)")
        pytest.skip("there is no lttng-sessiond (Debian: lttng-tools)")
    if os.geteuid() != 0:
        pytest.skip("only root enters a network namespace from a process that runs")
    with ExitStack() as stack:
        try:
            hosts = stack.enter_context(TwoHosts())
        except NotPermittedHere as reason:
            pytest.skip(f"network namespaces are not permitted here: {reason}")
        home = tmp_path_factory.mktemp("joined")
        app = home / "app.yaml"
        app.write_text(APP)
        trace, run = home / "trace", home / "run"
        line = command("run", app, "--executor", "preemptive", "--seconds", "4", "--out", run)
        done = subprocess.run(
            hosts.command(LEFT, command("trace", "record", "-o", trace, "--", *line)),
            env=os.environ
            | {
                "HOME": str(home),
                "LTTNG_HOME": str(home),
                "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
                "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",
                "LD_PRELOAD": os.environ["RCLRT_SECOND_HOST_LIBRARY"],
                "RCLRT_SECOND_HOST": RIGHT,
                "RCLRT_SECOND_HOST_NET": hosts.network_of(RIGHT),
            },
            capture_output=True,
            text=True,
            timeout=GENEROUS_S,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        # The messages went over the cable: 4 s of a 20 ms and a 25 ms timer.
        assert packets_of(hosts, LEFT) > 300
        assert packets_of(hosts, RIGHT) > 150
        yield Recorded(run, trace)


def packets_of(hosts: TwoHosts, host: str) -> int:
    """Returns how many packets a host has received from the other one."""
    line = hosts.command(host, ["ip", "-json", "-statistics", "link", "show", "cable"])
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    count: int = json.loads(done.stdout)[0]["stats64"]["rx"]["packets"]
    return count


def clock_of(seed: int) -> HostClock:
    """A machine that booted 3 h earlier; its clock drifts and is 40 ms ahead."""
    drift = (-45.0, 0.0, 33.0)[seed]
    return HostClock(10_800 * SECOND + OFFSET_NS, drift, wrong_by_ns=OFFSET_NS)


def sides(recording: Recorded, directory: Path, clock: HostClock) -> list[Path]:
    """Writes a trace for each host; the clock of the right one is wrong."""
    events = recorded(os.environ["RCLRT_EVENT_DUMP"], recording.trace)
    events = [
        event for event in events if event.name.startswith(("ros2:", "rclrt:call", "rclrt:exec"))
    ]
    left, right = pids_of(events, ["sensor"]), pids_of(events, ["motor"])
    assert len(left) == len(right) == 1
    assert left != right
    clock = replace(clock, since_ns=min(event.time for event in events))
    shift_stamps(events, clock, right)
    traces = (
        HostTrace(LEFT, LEFT_BOOT, events=[each for each in events if each.pid in left]),
        HostTrace(RIGHT, RIGHT_BOOT, clock, events=[each for each in events if each.pid in right]),
    )
    return [trace.save(directory / trace.name) for trace in traces]


def responses(out: Path) -> dict[tuple[str, ...], list[dict[str, str]]]:
    """Returns the rows of completed instances, by the callbacks of the chain."""
    results = json.loads((out / "results.json").read_text())
    callbacks = {chain["id"]: tuple(chain["callbacks"]) for chain in results["chains"]}
    found: dict[tuple[str, ...], list[dict[str, str]]] = {each: [] for each in callbacks.values()}
    with (out / "chains.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["response_ns"]:
                found[callbacks[row["chain"]]].append(row)
    return found


def zero_ns(out: Path) -> int:
    value: int = json.loads((out / "results.json").read_text())["t0_monotonic_ns"]
    return value


@pytest.mark.parametrize("seed", range(3))
def test_the_joined_responses_are_those_that_the_runner_measured(
    recording: Recorded, tmp_path: Path, seed: int
) -> None:
    clock = clock_of(seed)
    results, out, said = imported(tmp_path, sides(recording, tmp_path, clock))
    right = results["hosts"][1]
    low, high = right["first_offset_ms"]
    assert low <= OFFSET_NS / 1e6 <= high, said
    own, joined = responses(recording.run), responses(out)
    # The proposed chains go to the last callback; the runner's `there` ends in its middle.
    for chain in (("beat", "watch"), ("sense", "move", "check")):
        # The reference is left, so its times are true. Those of `beat` come from right.
        first_on_right = chain[0] == "beat"
        shift = zero_ns(recording.run) - zero_ns(out)
        releases = {int(row["release_ns"]): row for row in joined[chain]}
        checked = within = 0
        for row in own[chain]:
            true_release = int(row["release_ns"]) + shift
            near = min(releases, key=lambda each: abs(each - true_release))
            found = releases[near]
            error = int(found["error_ns"])
            if abs(near - true_release) > error + MS:
                continue  # it is not in the trace's window
            checked += 1
            difference = abs(int(found["response_ns"]) - int(row["response_ns"]))
            within += difference <= max(error, READING_NS)
            # The end of a callback is read once by the runner and once by the tracepoint.
            assert difference <= error + AGREEMENT_NS, (chain, row, found)
            assert int(found["response_ns"]) > 0
            assert (error > 0) == first_on_right or error < 10_000
        assert within >= 0.95 * checked, chain
        assert checked >= 0.9 * len(own[chain]) > 50, chain


def test_the_true_traces_are_within_the_error_of_the_joined_ones(
    recording: Recorded, tmp_path: Path
) -> None:
    """Both sides with one clock are one machine: exact. The same instances must be within ±."""
    events = recorded(os.environ["RCLRT_EVENT_DUMP"], recording.trace)
    assert events
    true_clock = HostClock()
    exact_traces = sides(recording, tmp_path / "exact", true_clock)
    for trace in exact_traces:  # of one boot
        metadata = trace / "metadata"
        metadata.write_text(metadata.read_text().replace(RIGHT_BOOT, LEFT_BOOT))
    exact, exact_out, _ = imported(tmp_path / "exact", exact_traces)
    joined, joined_out, _ = imported(tmp_path, sides(recording, tmp_path, clock_of(2)))
    assert "hosts" not in exact
    true, found = responses(exact_out), responses(joined_out)
    assert true.keys() == found.keys()
    compared = 0
    for chain, rows in true.items():
        if len(chain) < 2:
            continue
        pairs = list(zip(rows, found[chain], strict=True))
        for one, other in pairs:
            difference = abs(int(one["response_ns"]) - int(other["response_ns"]))
            assert difference <= int(other["error_ns"]) + 2, (chain, one, other)
            compared += 1
    assert compared > 200
    hops = {(hop["from"], hop["to"]): hop for hop in joined["hops"]}
    for hop in exact["hops"]:
        other = hops[hop["from"], hop["to"]]
        for key in ("best", "worst"):
            difference = abs(hop["time_ms"][key] - other["time_ms"][key])
            assert difference <= other["error_ms"] + 2e-6

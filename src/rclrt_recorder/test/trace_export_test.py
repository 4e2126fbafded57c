# SPDX-License-Identifier: Apache-2.0
"""Reads the trace of the sample run (sample_results.hpp) with Perfetto's own message classes.

RCLRT_RUN_SAMPLE names the program built from run_sample.cpp.
"""

import os
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pb2 = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
    reason="needs PyPI's perfetto (make setup installs it)",
)

START_NS = 1_000_000_000_000


@dataclass
class Event:
    """A slice or an instant (start equals end); times in microseconds since the run's start."""

    track: str
    name: str
    category: str
    start: float
    end: float
    flows: list[int]
    ended_flows: list[int]
    annotations: dict[str, Any]


@dataclass
class Trace:
    """A trace as its reader sees it: strings resolved, begins and ends paired."""

    paths: dict[int, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    counters: dict[str, list[tuple[float, float]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def named(self, name: str) -> list[Event]:
        """Returns the events with this name, without those on the tracks of CPUs."""
        return [e for e in self.events if e.name == name and "/CPUs/" not in e.track]

    def on(self, track: str) -> list[Event]:
        return [event for event in self.events if event.track == track]


def value_of(annotation: Any) -> Any:
    return getattr(annotation, annotation.WhichOneof("value"))


def microseconds(timestamp: int) -> float:
    return (timestamp - START_NS) / 1000


def read(path: Path) -> Trace:
    proto = pb2.Trace()
    proto.ParseFromString(path.read_bytes())
    trace = Trace()
    names: dict[str, dict[int, str]] = defaultdict(dict)
    open_slices: dict[int, list[Event]] = defaultdict(list)
    for packet in proto.packet:
        for kind in ("event_names", "event_categories", "debug_annotation_names"):
            names[kind].update({e.iid: e.name for e in getattr(packet.interned_data, kind)})
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            parent = trace.paths.get(track.parent_uuid, "")
            trace.paths[track.uuid] = f"{parent}/{track.name or track.process.process_name}"
        if not packet.HasField("track_event"):
            continue
        event, time = packet.track_event, microseconds(packet.timestamp)
        if event.type == pb2.TrackEvent.TYPE_COUNTER:
            trace.counters[trace.paths[event.track_uuid]].append((time, event.double_counter_value))
        elif event.type == pb2.TrackEvent.TYPE_SLICE_END:
            open_slices[event.track_uuid].pop().end = time
        else:
            trace.events.append(
                Event(
                    track=trace.paths[event.track_uuid],
                    name=names["event_names"][event.name_iid],
                    category=names["event_categories"][event.category_iids[0]],
                    start=time,
                    end=time,
                    flows=list(event.flow_ids),
                    ended_flows=list(event.terminating_flow_ids),
                    annotations={
                        names["debug_annotation_names"][a.name_iid]: value_of(a)
                        for a in event.debug_annotations
                    },
                )
            )
            if event.type == pb2.TrackEvent.TYPE_SLICE_BEGIN:
                open_slices[event.track_uuid].append(trace.events[-1])
    assert not any(open_slices.values())
    return trace


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    directory = tmp_path_factory.mktemp("run") / "out"
    subprocess.run([os.environ["RCLRT_RUN_SAMPLE"], str(directory)], check=True)
    assert {path.name for path in directory.iterdir()} == {
        "chains.csv",
        "instances.csv",
        "observed.yaml",
        "results.json",
        "stalls.csv",
        "trace.pftrace",
    }
    return read(directory / "trace.pftrace")


PROCESS = "/vehicle: wait set"


def test_the_tracks_are_chains_then_host_stalls_then_cpus_then_threads(trace: Trace) -> None:
    assert list(trace.paths.values()) == [
        PROCESS,
        f"{PROCESS}/Chains",
        f"{PROCESS}/Chains/obstacle",
        f"{PROCESS}/Chains/obstacle in flight",
        f"{PROCESS}/Chains/planning",
        f"{PROCESS}/Chains/planning in flight",
        f"{PROCESS}/Host stalls",
        f"{PROCESS}/Host stalls/CPU 1",
        f"{PROCESS}/CPUs",
        f"{PROCESS}/CPUs/CPU 0",
        f"{PROCESS}/CPUs/CPU 0",  # for the instance that overlaps another
        f"{PROCESS}/CPUs/CPU 1",
        f"{PROCESS}/Threads",
        f"{PROCESS}/Threads/main L2 #0",
        f"{PROCESS}/Threads/slow L1 #0",
        f"{PROCESS}/Threads/slow L1 #0",  # for the instance that overlaps another
    ]


def test_every_instance_is_a_slice_on_the_track_of_its_thread(trace: Trace) -> None:
    slices = [
        (e.name, e.start, e.end, e.category) for e in trace.on(f"{PROCESS}/Threads/main L2 #0")
    ]
    assert slices == [
        ("scan", 0, 2000, "ran"),
        ("fuse", 2000, 2010, "buffered"),
        ("capture", 2010, 5000, "ran"),
        ("fuse", 5000, 8000, "ran"),
        ("brake", 8000, 9000, "ran"),
        ("scan", 50000, 87000, "ran"),
        ("capture", 87000, 90000, "ran"),
        ("fuse", 90000, 93250, "ran"),
        ("brake", 93250, 94250, "ran"),
    ]


def test_overlapping_instances_are_on_tracks_of_their_own(trace: Trace) -> None:
    slices = [(e.start, e.end) for e in trace.on(f"{PROCESS}/Threads/slow L1 #0")]
    assert slices == [(8000, 20000), (15000, 25000), (94000, 95000)]


def test_a_slice_states_what_is_known_of_its_instance(trace: Trace) -> None:
    assert trace.named("fuse")[2].annotations == {
        "instances": "obstacle:1 planning:1",
        "outcome": "ran",
        "priority": 2,
        "release_ms": 90.0,
        "ready_ms": 90.0,
        "dispatch_ms": 0.0,
        "cpu_ms": 3.25,
        "preemptions": 2,
        "first_cpu": 1,
        "last_cpu": 1,
        "migrations": 2,
    }


def test_a_cpu_has_the_parts_that_ran_there(trace: Trace) -> None:
    on_one = trace.on(f"{PROCESS}/CPUs/CPU 1")
    assert [(e.name, e.start, e.end) for e in on_one] == [
        ("scan", 0, 2000),
        ("capture", 2010, 5000),
        ("fuse", 5000, 8000),
        ("brake", 8000, 9000),
        ("scan", 50000, 87000),
        ("capture", 87000, 90000),
        ("fuse", 90000, 91000),
        ("fuse", 92000, 93250),
        ("brake", 93250, 93250),  # it ended on CPU 0; when it moved is not known
    ]
    assert on_one[-2].annotations == {"instance": 8, "priority": 2, "migrated": 1}
    assert on_one[-1].category == "began"
    moved = [e for e in trace.on(f"{PROCESS}/CPUs/CPU 0") if e.name in ("fuse", "brake")]
    assert [(e.name, e.category, e.start, e.end) for e in moved] == [
        ("fuse", "ran", 91000, 92000),
        ("brake", "ended", 94250, 94250),
    ]
    assert all(e.annotations["migrated"] == 1 for e in moved)


def test_every_release_is_an_instant_with_its_outcome(trace: Trace) -> None:
    releases = [e for e in trace.on(f"{PROCESS}/Chains/obstacle") if e.name == "release"]
    assert [(e.start, e.annotations) for e in releases] == [
        (0, {"instance": 0, "status": "completed", "response_ms": 9.0}),
        (50000, {"instance": 1, "status": "late", "response_ms": 44.25}),
    ]


def test_a_missed_deadline_is_an_instant_that_names_the_host_when_it_is_to_blame(
    trace: Trace,
) -> None:
    missed = [e for e in trace.events if e.name.startswith("deadline missed")]
    assert [(e.track, e.name, e.start, e.annotations) for e in missed] == [
        (f"{PROCESS}/Chains/obstacle", "deadline missed (host stall)", 90000, {"instance": 1}),
        (f"{PROCESS}/Chains/planning", "deadline missed", 100000, {"instance": 1}),  # dropped
    ]


def test_each_chain_instance_is_a_flow_of_its_own_from_release_to_last_callback(
    trace: Trace,
) -> None:
    stops: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for event in trace.events:
        for flow in event.flows:
            stops[flow].append((event.start, event.name))
        for flow in event.ended_flows:
            stops[flow].append((event.start, f"{event.name}, end"))
    assert sorted(sorted(stop) for stop in stops.values()) == [
        [(0, "release"), (0, "scan"), (2000, "fuse"), (5000, "fuse"), (8000, "brake, end")],
        [(0, "release"), (2010, "capture"), (5000, "fuse"), (8000, "plan, end")],
        [(50000, "release"), (50000, "scan"), (90000, "fuse"), (93250, "brake, end")],
        [(50000, "release"), (87000, "capture"), (90000, "fuse")],
        [(80000, "release"), (94000, "plan, end")],
    ]


def test_the_counters_tell_how_many_chain_instances_are_in_flight(trace: Trace) -> None:
    # Planning 1 is in flight until planning 2 completes without it.
    assert trace.counters == {
        f"{PROCESS}/Chains/obstacle in flight": [(0, 1), (9000, 0), (50000, 1), (94250, 0)],
        f"{PROCESS}/Chains/planning in flight": [
            (0, 1),
            (20000, 0),
            (50000, 1),
            (80000, 2),
            (95000, 0),
        ],
    }


def test_host_stalls_are_slices_on_the_track_of_their_cpu(trace: Trace) -> None:
    stalls = [(e.track, e.start, e.end) for e in trace.named("stall")]
    assert stalls == [(f"{PROCESS}/Host stalls/CPU 1", 55000, 85000)]


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    directory = tmp_path_factory.mktemp("run") / "sampled"
    program = os.environ["RCLRT_RUN_SAMPLE"]
    subprocess.run([program, str(directory), "sampled"], check=True)
    return read(directory / "trace.pftrace")


def test_a_flow_leads_from_each_run_that_stores_a_value_to_each_run_that_reads_it(
    sampled: Trace,
) -> None:
    begins = {flow: event for event in sampled.events for flow in event.flows}
    reads = [
        (begins[flow].name, begins[flow].start, event.name, event.start)
        for event in sampled.events
        for flow in event.ended_flows
    ]
    # Both chains read what sense stored in the same runs of plan: one flow each.
    assert sorted(reads) == [
        ("plan", 2000, "act", 10000),
        ("plan", 2000, "act", 21000),
        ("plan", 2000, "log", 22000),
        ("sense", 1000, "plan", 2000),
        ("sense", 20000, "plan", 23000),
    ]
    assert [event.flows for event in sampled.named("sense")][1] == []  # nothing reads it
    numbers = [flow for event in sampled.events for flow in event.ended_flows]
    assert len(numbers) == len(set(numbers))


def test_a_slice_names_the_instances_that_stored_what_it_read(sampled: Trace) -> None:
    named = {"act": [None, "loop_2:0", "loop_2:0"], "plan": ["loop_1:0", "loop_1:2"]}
    for name, values in {**named, "sense": [None] * 3}.items():
        assert [event.annotations.get("read") for event in sampled.named(name)] == values


def test_the_age_of_the_data_is_a_counter(sampled: Trace) -> None:
    ages = sampled.counters[f"{PROCESS}/Chains/loop data age"]
    assert ages == [(11000, 11.0), (22000, 22.0)]
    assert sampled.counters[f"{PROCESS}/Chains/book data age"] == [(23000, 23.0)]

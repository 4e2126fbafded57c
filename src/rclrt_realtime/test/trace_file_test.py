# SPDX-License-Identifier: Apache-2.0
"""Reads a tracer's file and a flight recorder's dump with Perfetto's own message classes.

RCLRT_SAMPLE names the program built from trace_file_sample.cpp.
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

CYCLES = 100
RING_RECORDS = 1024
TICKS = 10_000


@dataclass
class Slice:
    name: str
    begin_ns: int
    end_ns: int | None = None
    inner: list["Slice"] = field(default_factory=list)
    flows: list[int] = field(default_factory=list)
    ended_flows: list[int] = field(default_factory=list)
    value: int | None = None


@dataclass
class Read:
    """A trace as a viewer sees it: events sorted by time, slices nested per track."""

    tracks: dict[str, Any] = field(default_factory=dict)
    slices: dict[str, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    instants: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    counters: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


def read(path: Path) -> Read:
    trace = pb2.Trace()
    trace.ParseFromString(path.read_bytes())
    result = Read()
    names: dict[int, str] = {}
    track_names: dict[int, str] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            name = track.process.process_name or track.thread.thread_name or track.name
            track_names[track.uuid] = name
            result.tracks[name] = track
        for entry in packet.interned_data.event_names:
            names[entry.iid] = entry.name
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    open_slices: dict[str, list[Slice]] = defaultdict(list)
    for packet in sorted(events, key=lambda packet: packet.timestamp):  # stable, as in the viewer
        event = packet.track_event
        track_name = track_names[event.track_uuid]
        stack = open_slices[track_name]
        if event.type == pb2.TrackEvent.TYPE_SLICE_BEGIN:
            annotations = event.debug_annotations
            begun = Slice(
                names[event.name_iid],
                packet.timestamp,
                flows=[flow & 0xFFFFFFFF for flow in event.flow_ids],
                ended_flows=[flow & 0xFFFFFFFF for flow in event.terminating_flow_ids],
                value=annotations[0].int_value if annotations else None,
            )
            (stack[-1].inner if stack else result.slices[track_name]).append(begun)
            stack.append(begun)
        elif event.type == pb2.TrackEvent.TYPE_SLICE_END:
            stack.pop().end_ns = packet.timestamp
        elif event.type == pb2.TrackEvent.TYPE_INSTANT:
            result.instants[track_name].append(names[event.name_iid])
        else:
            result.counters[track_name].append(event.double_counter_value)
    return result


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trace")
    subprocess.run([os.environ["RCLRT_SAMPLE"], str(path)], check=True)
    return path


@pytest.fixture(scope="module", params=["trace.pftrace", "flight-1.pftrace"])
def trace(request: pytest.FixtureRequest, directory: Path) -> Read:
    return read(directory / request.param)


def test_each_span_lies_within_the_one_around_it(trace: Read) -> None:
    cycles = trace.slices["control"]
    assert [(c.name, c.value) for c in cycles] == [("cycle", n + 1) for n in range(CYCLES)]
    assert [[inner.name for inner in c.inner] for c in cycles] == [["read é"]] * CYCLES
    for cycle in cycles:
        inner = cycle.inner[0]
        assert inner.end_ns is not None
        assert cycle.end_ns is not None
        assert cycle.begin_ns <= inner.begin_ns <= inner.end_ns <= cycle.end_ns


def test_an_end_closes_what_was_begun_within_and_one_without_begin_is_left_out(trace: Read) -> None:
    plans = trace.slices["planner"]
    assert [p.name for p in plans] == ["plan"] * (CYCLES + 1)
    assert all(p.end_ns is not None and p.inner[0].end_ns == p.end_ns for p in plans[:-1])
    assert plans[-1].end_ns is None


def test_a_flow_leads_from_thread_to_thread(trace: Read) -> None:
    begins = [inner.flows for cycle in trace.slices["control"] for inner in cycle.inner]
    ends = [plan.ended_flows for plan in trace.slices["planner"][:-1]]
    assert begins == ends == [[n + 1] for n in range(CYCLES)]


def test_instants_and_counters_are_all_there(trace: Read) -> None:
    assert trace.instants["planner"] == ["done"] * CYCLES
    assert trace.counters["queued"] == [float((n + 1) % 4) for n in range(CYCLES)]
    assert trace.tracks["queued"].counter.unit_name == "messages"


def test_lost_records_are_counted_on_a_track_of_their_own(trace: Read) -> None:
    lost = trace.counters["busy: dropped records"]
    assert lost[-1] == TICKS - RING_RECORDS
    assert len(trace.instants["busy"]) == RING_RECORDS
    assert trace.tracks["busy: dropped records"].parent_uuid == trace.tracks["busy"].uuid


def test_a_dump_says_why_it_was_written(directory: Path) -> None:
    assert read(directory / "flight-1.pftrace").instants["dump requests"] == ["deadline missed"]
    assert "dump requests" not in read(directory / "trace.pftrace").tracks

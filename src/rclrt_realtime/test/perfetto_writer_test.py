# SPDX-License-Identifier: Apache-2.0
"""Reads the writer's output with Perfetto's own message classes.

RCLRT_SAMPLE names the program built from perfetto_writer_sample.cpp.
"""

import os
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

pb2 = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
    reason="needs PyPI's perfetto (make setup installs it)",
)

START_NS = 1_000_000_000_000
PERIOD_NS = 1_000_000
CYCLES = 1000
MONOTONIC = 3
BOOTTIME = 6
EXPLICIT = 3


def write_sample(path: Path, sequence_id: int, uuid_base: int) -> bytes:
    program = os.environ["RCLRT_SAMPLE"]
    subprocess.run([program, str(path), str(sequence_id), str(uuid_base)], check=True)
    return path.read_bytes()


def parse(data: bytes) -> list[Any]:
    trace = pb2.Trace()
    trace.ParseFromString(data)
    return list(trace.packet)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write_sample(tmp_path_factory.mktemp("trace") / "a.pftrace", 7, 1 << 32)


@pytest.fixture(scope="module")
def packets(data: bytes) -> list[Any]:
    return parse(data)


@pytest.fixture(scope="module")
def tracks(packets: list[Any]) -> dict[str, Any]:
    found = [p.track_descriptor for p in packets if p.HasField("track_descriptor")]
    return {t.process.process_name or t.thread.thread_name or t.name: t for t in found}


def events_with_names(packets: list[Any]) -> list[tuple[Any, str, str]]:
    """Returns each event packet with its name and category, as a reader resolves them."""
    names: dict[int, str] = {}
    categories: dict[int, str] = {}
    resolved = []
    for packet in packets:
        for entry in packet.interned_data.event_names:
            names[entry.iid] = entry.name
        for entry in packet.interned_data.event_categories:
            categories[entry.iid] = entry.name
        if packet.HasField("track_event"):
            event = packet.track_event
            name = names[event.name_iid] if event.name_iid else ""
            category = categories[event.category_iids[0]] if event.category_iids else ""
            resolved.append((packet, name, category))
    return resolved


def test_every_field_is_known_to_perfetto(data: bytes) -> None:
    trace = pb2.Trace()
    trace.ParseFromString(data)
    trace.DiscardUnknownFields()
    kept = pb2.Trace()
    kept.ParseFromString(trace.SerializeToString())
    assert kept.ByteSize() == len(data)


def test_the_first_packet_ties_the_monotonic_clock_to_boottime(packets: list[Any]) -> None:
    snapshot = packets[0].clock_snapshot
    assert snapshot.primary_trace_clock == MONOTONIC
    assert {c.clock_id: c.timestamp for c in snapshot.clocks} == {
        MONOTONIC: START_NS,
        BOOTTIME: START_NS + 500,
    }
    assert packets[0].first_packet_on_sequence
    assert packets[0].sequence_flags == pb2.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED


def test_every_packet_is_on_the_sequence_and_every_event_on_the_monotonic_clock(
    packets: list[Any],
) -> None:
    assert {p.trusted_packet_sequence_id for p in packets} == {7}
    events = [p for p in packets if p.HasField("track_event")]
    assert {p.timestamp_clock_id for p in events} == {MONOTONIC}
    assert {p.sequence_flags for p in events} == {pb2.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE}
    assert min(p.timestamp for p in events) == START_NS
    assert max(p.timestamp for p in events) == START_NS + (CYCLES - 1) * PERIOD_NS + 70


def test_tracks_form_the_tree_in_the_given_order(tracks: dict[str, Any]) -> None:
    process = tracks["sample"]
    assert (process.process.pid, process.parent_uuid) == (300, 0)
    thread = tracks["worker"]
    assert (thread.thread.pid, thread.thread.tid, thread.parent_uuid) == (300, 301, process.uuid)
    assert tracks["lanes"].parent_uuid == process.uuid
    children = [tracks[name] for name in ("urgent", "relaxed", "pending")]
    assert {c.parent_uuid for c in children} == {tracks["lanes"].uuid}
    assert [c.sibling_order_rank for c in children] == [0, 1, 2]
    assert {t.child_ordering for t in tracks.values()} == {EXPLICIT}
    assert tracks["pending"].counter.unit_name == "instances"
    assert len({t.uuid for t in tracks.values()}) == len(tracks) == 6


def test_slices_begin_and_end_in_pairs_on_every_track(packets: list[Any]) -> None:
    depth: dict[int, int] = defaultdict(int)
    for packet in packets:
        event = packet.track_event
        if event.type == pb2.TrackEvent.TYPE_SLICE_BEGIN:
            depth[event.track_uuid] += 1
        elif event.type == pb2.TrackEvent.TYPE_SLICE_END:
            depth[event.track_uuid] -= 1
            assert depth[event.track_uuid] >= 0
    assert set(depth.values()) == {0}


def test_names_and_categories_are_interned_once(packets: list[Any]) -> None:
    entries = [p.interned_data for p in packets if p.HasField("interned_data")]
    assert [e.name for data in entries for e in data.event_names] == [
        "release",
        "scan",
        "filter",
        "plan é",
    ]
    assert [e.name for data in entries for e in data.event_categories] == ["timer", "callback"]
    assert [e.name for data in entries for e in data.debug_annotation_names] == [
        "instance",
        "load",
        "lane",
    ]
    counted = Counter((name, category) for _, name, category in events_with_names(packets))
    assert counted == {
        ("release", "timer"): CYCLES,
        ("scan", "callback"): CYCLES,
        ("filter", "callback"): CYCLES,
        ("plan é", "callback"): CYCLES,
        ("", ""): 4 * CYCLES,  # three ends of slices and a counter value
    }


def test_each_flow_goes_from_release_over_scan_to_plan(packets: list[Any]) -> None:
    stops: dict[int, list[str]] = defaultdict(list)
    for packet, name, _ in events_with_names(packets):
        for flow in packet.track_event.flow_ids:
            stops[flow].append(name)
        for flow in packet.track_event.terminating_flow_ids:
            stops[flow].append(f"end {name}")
    assert stops == {
        (1 << 32) + cycle: ["release", "scan", "end plan é"] for cycle in range(1, CYCLES + 1)
    }


def test_annotations_keep_their_types(packets: list[Any]) -> None:
    scans = [p for p, name, _ in events_with_names(packets) if name == "scan"]
    values = [p.track_event.debug_annotations for p in scans]
    assert [v[0].int_value for v in values] == list(range(CYCLES))
    assert {v[1].double_value for v in values} == {0.25}
    assert {v[2].string_value for v in values} == {"urgent"}


def test_counter_values_are_those_given(packets: list[Any]) -> None:
    values = [
        p.track_event.double_counter_value
        for p in packets
        if p.track_event.type == pb2.TrackEvent.TYPE_COUNTER
    ]
    assert values == [float(cycle % 4) for cycle in range(CYCLES)]


def test_two_concatenated_traces_share_no_id(data: bytes, tmp_path: Path) -> None:
    other = write_sample(tmp_path / "b.pftrace", 8, 2 << 32)
    both = parse(data + other)
    assert len(both) == len(parse(data)) + len(parse(other))

    def ids(sequence: int) -> tuple[set[int], set[int]]:
        own = [p for p in both if p.trusted_packet_sequence_id == sequence]
        tracks = {p.track_descriptor.uuid for p in own if p.HasField("track_descriptor")}
        flows = {flow for p in own for flow in p.track_event.flow_ids}
        return tracks, flows

    (first_tracks, first_flows), (second_tracks, second_flows) = ids(7), ids(8)
    assert not first_tracks & second_tracks
    assert not first_flows & second_flows
    assert len(first_flows) == len(second_flows) == CYCLES

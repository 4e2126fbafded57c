# SPDX-License-Identifier: Apache-2.0
"""A trace that Perfetto's own message definitions write, in the manner of its SDK."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest
from rclrt_latency.trace_slices import read_slices

protocol: Any = pytest.importorskip(
    "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
    reason="needs PyPI's perfetto (make setup installs it)",
)
OWN_CLOCK, THREAD_TRACK = 64, 4711
Event = protocol.TrackEvent


def add_head(trace: Any) -> None:
    """A clock that counts microseconds since the last event, and the defaults of the sequence."""
    packet = trace.packet.add(trusted_packet_sequence_id=3, first_packet_on_sequence=True)
    packet.sequence_flags = protocol.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
    clocks = packet.clock_snapshot.clocks
    clocks.add(clock_id=6, timestamp=5_000_000)
    clocks.add(clock_id=OWN_CLOCK, timestamp=5_000, is_incremental=True, unit_multiplier_ns=1000)
    packet.trace_packet_defaults.timestamp_clock_id = OWN_CLOCK
    packet.trace_packet_defaults.track_event_defaults.track_uuid = THREAD_TRACK
    packet = trace.packet.add(trusted_packet_sequence_id=3)
    packet.track_descriptor.uuid = THREAD_TRACK
    packet.track_descriptor.thread.pid, packet.track_descriptor.thread.tid = 1, 2
    packet.track_descriptor.thread.thread_name = "camera"


def add_event(trace: Any, after_us: int, kind: int) -> Any:
    packet = trace.packet.add(trusted_packet_sequence_id=3, timestamp=after_us)
    packet.track_event.type = kind
    return packet


def made() -> Any:
    trace = protocol.Trace()
    add_head(trace)
    first = add_event(trace, 100, Event.TYPE_SLICE_BEGIN)
    first.interned_data.event_names.add(iid=9, name="period")
    first.track_event.name_iid = 9
    add_event(trace, 1, Event.TYPE_INSTANT).track_event.name = "passed"
    add_event(trace, 33_300, Event.TYPE_SLICE_END)
    second = add_event(trace, 50, Event.TYPE_SLICE_BEGIN)
    second.track_event.name_iid = 9
    counter = add_event(trace, 1, Event.TYPE_COUNTER)
    counter.track_event.counter_value = 5
    add_event(trace, 33_398, Event.TYPE_SLICE_END)
    return trace


EXPECTED = {("camera", "period"): [33_301_000, 33_399_000]}


def test_the_slices_are_those_that_were_written(tmp_path: Path) -> None:
    path = tmp_path / "sdk.pftrace"
    path.write_bytes(made().SerializeToString())
    assert read_slices(path).durations == EXPECTED


def test_so_are_those_of_compressed_packets(tmp_path: Path) -> None:
    outer = protocol.Trace()
    outer.packet.add().compressed_packets = zlib.compress(made().SerializeToString())
    path = tmp_path / "compressed.pftrace"
    path.write_bytes(outer.SerializeToString())
    assert read_slices(path).durations == EXPECTED

# SPDX-License-Identifier: Apache-2.0
"""Slices of traces that the tests make."""

from __future__ import annotations

from pathlib import Path

import pytest
import traces
from hypothesis import given, settings
from hypothesis import strategies as st
from rclrt_latency.slice_view import SliceView, overview, select
from rclrt_latency.trace_slices import Slices, read_slices
from rclrt_py.errors import BadInput
from traces import CLEARED, begin, end, named_track, number, packet, part, thread_track

CAMERA = thread_track(7, "camera")


def slices_of(directory: Path, *packets: bytes) -> Slices:
    path = directory / "made.pftrace"
    path.write_bytes(b"".join(packets))
    return read_slices(path)


def test_slices_have_the_name_of_their_thread_and_their_own(tmp_path: Path) -> None:
    found = slices_of(
        tmp_path, CAMERA, begin(7, 1000, "period"), end(7, 34_000), begin(7, 40_000, "period"),
        end(7, 73_500),
    )  # fmt: skip
    assert found.durations == {("camera", "period"): [33_000, 33_500]}


def test_nested_slices_end_as_brackets_do(tmp_path: Path) -> None:
    found = slices_of(
        tmp_path, CAMERA, begin(7, 100, "outer"), begin(7, 200, "inner"), end(7, 250), end(7, 400)
    )
    assert found.durations == {("camera", "inner"): [50], ("camera", "outer"): [300]}


def test_events_need_not_stand_in_the_order_of_time(tmp_path: Path) -> None:
    found = slices_of(tmp_path, CAMERA, end(7, 250), begin(7, 200, "late"))
    assert found.durations == {("camera", "late"): [50]}


def test_a_slice_without_an_end_is_counted_apart(tmp_path: Path) -> None:
    found = slices_of(tmp_path, CAMERA, begin(7, 100, "a"), end(7, 200), begin(7, 300, "a"))
    assert (found.durations, found.unfinished) == ({("camera", "a"): [100]}, 1)


def test_names_may_be_interned_until_the_sequence_begins_anew(tmp_path: Path) -> None:
    def named(iid: int, name: str, time_ns: int, flags: int = 0) -> bytes:
        interned = part(2, number(1, iid) + part(2, name))
        event = number(9, 1) + number(11, 7) + number(10, iid)
        return packet(number(13, flags), number(8, time_ns), part(12, interned), part(11, event))

    found = slices_of(
        tmp_path, CAMERA, named(1, "first", 0), end(7, 5), named(1, "second", 10, CLEARED),
        end(7, 16),
    )  # fmt: skip
    assert found.durations == {("camera", "first"): [5], ("camera", "second"): [6]}


def test_a_packet_may_leave_out_the_defaults_of_its_sequence(tmp_path: Path) -> None:
    """As Perfetto's own SDK writes: a default track, and a clock of microseconds since the last."""
    clock = number(1, 64) + number(2, 5) + number(3, 1) + number(4, 1000)
    defaults = part(11, number(11, 7)) + number(58, 64)
    found = slices_of(
        tmp_path, CAMERA,
        packet(part(6, part(1, clock)), part(59, defaults)),
        packet(number(8, 10), part(11, number(9, 1) + part(23, "sdk"))),
        packet(number(8, 3), part(11, number(9, 1) + part(23, "inner"))),
        packet(number(8, 4), part(11, number(9, 2))),
        packet(number(8, 1), part(11, number(9, 2))),
    )  # fmt: skip
    assert found.durations == {("camera", "inner"): [4000], ("camera", "sdk"): [8000]}


def test_tracks_of_one_name_count_together(tmp_path: Path) -> None:
    found = slices_of(
        tmp_path, named_track(7, "camera"), named_track(8, "camera"), begin(7, 0, "a"),
        begin(8, 1, "a"), end(7, 10), end(8, 21),
    )  # fmt: skip
    assert found.durations == {("camera", "a"): [10, 20]}


def test_a_track_that_nobody_described_has_its_number(tmp_path: Path) -> None:
    assert slices_of(tmp_path, begin(9, 0, "a"), end(9, 1)).durations == {("track 9", "a"): [1]}


def test_compressed_packets_are_read_too(tmp_path: Path) -> None:
    found = slices_of(tmp_path, traces.compressed(CAMERA, begin(7, 0, "a"), end(7, 1)))
    assert found.durations == {("camera", "a"): [1]}


def test_legacy_events_of_one_packet_have_a_duration(tmp_path: Path) -> None:
    legacy = number(2, ord("X")) + number(3, 12)
    event = number(11, 7) + part(23, "old") + part(6, legacy)
    found = slices_of(tmp_path, CAMERA, packet(number(8, 100), part(11, event)))
    assert found.durations == {("camera", "old"): [12_000]}


def test_a_trace_cut_off_anywhere_is_shorter_or_a_located_error(tmp_path: Path) -> None:
    whole = CAMERA + begin(7, 0, "a") + end(7, 1) + traces.compressed(begin(7, 5, "b"), end(7, 9))
    outcomes: set[str] = set()
    for size in range(1, len(whole)):
        try:
            outcomes.add(str(len(slices_of(tmp_path, whole[:size]).durations)))
        except BadInput as error:
            outcomes.add(str(error).partition("byte ")[0])
    assert outcomes == {"0", "1", f"{tmp_path}/made.pftrace: "}


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=1, max_size=60), st.integers(0, 40))
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int
) -> None:
    whole = bytearray(CAMERA + begin(7, 0, "a") + end(7, 1))
    whole[place + 1 : place + 1 + len(noise)] = noise
    said = "fix: "
    try:
        slices_of(tmp_path_factory.getbasetemp(), bytes(whole))
    except BadInput as error:
        said = str(error)
    assert "fix: " in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"\x1f\x8b\x08", "gunzip"),
        (b'{"traceEvents": []}', "JSON"),
        (b"hello", "byte 0: expected the begin of a packet"),
        (begin(7, 0, "a")[:-2], "byte 0: field 1 has"),
        (packet(part(11, number(9, 1))), "has no time stamp"),
        (packet(part(50, b"no zlib")), "compressed packets cannot be read"),
    ],
)
def test_what_is_no_trace_is_said(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(BadInput) as raised:
        slices_of(tmp_path, content)
    assert said in str(raised.value)
    assert "made.pftrace" in str(raised.value)


def test_figures_are_those_of_the_durations() -> None:
    view = SliceView("camera", "period", [*range(1000, 100_000, 1000), 5_000_000], 0)
    assert (view.n, view.min, view.max, view.p99) == (100, 1000, 5_000_000, 99_000)
    assert view.mean == pytest.approx((sum(range(1000, 100_000, 1000)) + 5_000_000) / 100)
    assert view.to_json()["p99_us"] == 99.0
    text = "\n".join(view.lines())
    assert "n 100" in text
    assert "> 99.0        1 up to 5000.0" in text


def test_every_duration_is_in_a_row_of_the_histogram() -> None:
    view = SliceView("t", "s", [10, 10, 11, 400, 401, 5000], 0)
    counts = [int(line.split()[-2 if "█" in line else -1]) for line in view.lines()[3:]]
    assert sum(counts) == 6


def test_an_overview_has_a_line_for_each_slice(tmp_path: Path) -> None:
    found = slices_of(tmp_path, CAMERA, begin(7, 0, "a"), end(7, 1), begin(7, 5, "b"), end(7, 9))
    assert len(overview(found, None, None)) == 3
    assert len(overview(found, "camera", "b")) == 2


def test_a_name_that_is_not_there_is_refused_with_what_is(tmp_path: Path) -> None:
    found = slices_of(tmp_path, CAMERA, begin(7, 0, "period"), end(7, 1))
    with pytest.raises(BadInput, match="did you mean 'period'"):
        select(found, "camera", "periods")
    with pytest.raises(BadInput, match="expected one of: camera"):
        select(found, "lidar", "period")

# SPDX-License-Identifier: Apache-2.0
"""The rate, the burst and the fixed time of a link from the delays of messages."""

from __future__ import annotations

import itertools
import json
import math
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.calibration.link_application import SIZES, Cycle, over_link
from rclrt_py.calibration.link_calibration import entries_yaml, link_entry, own_name
from rclrt_py.calibration.link_counts import MessageCounts, message_counts
from rclrt_py.calibration.link_fit import SizeDelays, bytes_on_line, fitted
from rclrt_py.native import load_application
from rclrt_py.runs.csv_reader import InstanceRow

FIXED_MS = 0.2


def measured(
    rate_kbit: float, burst: int = 0, line_kbit: float = math.inf, more_ms: float = 0.0
) -> list[SizeDelays]:
    """Returns what messages of all sizes take: the longer one of the line and the shaper."""
    result = []
    for size in SIZES:
        on_line = bytes_on_line(size)
        taken = max(8 * on_line / line_kbit, 8 * (on_line - burst) / rate_kbit)
        best = FIXED_MS + max(0.0, taken)
        waits = more_ms if taken > 8 * on_line / line_kbit else 0.0
        result.append(SizeDelays(size, 50, 49, best, best + 0.1, best + 0.3 + waits, 0.05))
    return result


def test_the_bytes_on_the_line_are_those_of_the_fragments() -> None:
    assert bytes_on_line(100) == 100 + 100 + 8 + 34
    assert bytes_on_line(1372) == 1480 + 34
    assert bytes_on_line(1373) == 1481 + 2 * 34


@given(st.floats(500, 50_000), st.sampled_from([0, 5000, 16_000, 25_000]))
def test_the_rate_and_the_burst_are_those_of_the_shaper(rate_kbit: float, burst: int) -> None:
    fit = fitted(measured(rate_kbit, burst, more_ms=1.5))
    assert fit.rate_kbit == pytest.approx(rate_kbit, rel=0.01)
    assert (fit.burst_bytes is None) == (burst == 0)
    if fit.burst_bytes is not None:
        assert fit.burst_bytes == pytest.approx(burst, rel=0.15)
    assert fit.fixed_ms <= FIXED_MS + 1e-9
    assert fit.lost == len(SIZES)


@given(st.floats(1000, 1e7), st.lists(st.floats(0, 0.05), min_size=9, max_size=9))
def test_no_burst_is_invented_if_hosts_are_slow(rate_kbit: float, more_ms: list[float]) -> None:
    noisy = [
        replace(each, best=each.best + more)
        for each, more in zip(measured(rate_kbit), more_ms, strict=True)
    ]
    fit = fitted(noisy)
    assert fit.burst_bytes is None
    assert fit.access_ms >= 0
    if rate_kbit < 10_000:
        assert fit.rate_kbit == pytest.approx(rate_kbit, rel=0.02)


def test_behind_a_shaper_the_line_has_its_own_rate() -> None:
    fit = fitted(measured(10_000, 25_000, line_kbit=100_000))
    assert fit.rate_kbit == pytest.approx(10_000, rel=0.1)
    assert fit.line_kbit == pytest.approx(100_000, rel=0.1)
    assert fit.fixed_ms == pytest.approx(FIXED_MS, rel=0.1)


def test_what_large_messages_take_besides_is_the_access_time() -> None:
    assert fitted(measured(10_000, 16_000, more_ms=1.5)).access_ms == pytest.approx(1.5, abs=0.1)


def test_delays_that_do_not_grow_have_no_rate() -> None:
    flat = [SizeDelays(size, 9, 9, 0.3, 0.4, 0.5, 0.01) for size in SIZES]
    fit = fitted(flat)
    assert fit.rate_kbit is None
    assert fit.burst_bytes is None
    assert link_entry(("a", "b"), [fit, fit]) is None


def test_the_entry_is_one_that_an_application_may_have(tmp_path: Path) -> None:
    slow, fast = fitted(measured(9_990.7, 16_000, more_ms=1.5)), fitted(measured(50_000))
    entry = link_entry(("left", "right"), [slow, fast])
    assert entry is not None
    assert entry["shaper"]["rate_kbit"] == pytest.approx(9990, abs=10)
    text = "\n".join(
        [
            *("rclrt: 1", "name: two", "hosts: [{name: left}, {name: right}]"),
            *entries_yaml([entry]),
            "executors: [{name: l, host: left}, {name: r, host: right}]",
            "nodes: [{name: a, executor: l}]",
            "callbacks: [{id: tick, node: a, timer: {period_ms: 10}, wcet_ms: 1}]",
            "chains: [{id: tick, callbacks: [tick]}]",
        ]
    )
    app = tmp_path / "app.yaml"
    app.write_text(text)
    link = load_application(app).links[0]
    assert link.name == "link"
    assert link.latency_ns >= link.min_latency_ns > 100_000
    assert entry["rate_kbit"] >= entry["shaper"]["rate_kbit"]


def instance(callback: str, message: int, end: int, error: int = 0) -> InstanceRow:
    token = callback.partition("_")[2] + f":{message}"
    return InstanceRow(
        message, callback, 0, "t", end, end, end, end, 0, 0, "ran", token, error=error
    )


def test_a_message_under_way_at_the_end_does_not_count() -> None:
    """Messages are sent every 100 ns. They take 20 to 30 ns; the second is lost."""
    rows = [instance("send_forth_1000", number, 100 * number) for number in range(6)]
    rows += [
        instance("take_forth_1000", number, 100 * number + taken)
        for number, taken in ((0, 20), (2, 30), (3, 25), (4, 20))
    ]

    def counts(more: list[InstanceRow], end: int) -> MessageCounts:
        return message_counts([*rows, *more], end)["forth", 1000]

    assert counts([], 529) == MessageCounts(sent=5, received=4)
    assert counts([], 530) == MessageCounts(sent=6, received=4)
    assert counts([instance("take_forth_1000", 5, 525)], 525) == MessageCounts(6, 5)
    assert counts([instance("take_forth_1000", 0, 20, error=60)], 540) == MessageCounts(5, 4)
    assert message_counts(rows, 530)["back", 1000] == MessageCounts(0, 0)


def test_messages_of_a_cycle_do_not_wait_for_each_other() -> None:
    cycle = Cycle(SIZES, 120.0)
    offsets = list(cycle.offsets_ms())
    gaps = [after - before for before, after in itertools.pairwise(offsets)]
    for size, gap in zip(SIZES, [*gaps, cycle.period_ms - offsets[-1]], strict=True):
        assert gap >= max(5, 120.0 * size / SIZES[-1]) - 0.01


@given(st.floats(0.01, 5000))
def test_the_application_of_each_cycle_is_one_that_can_run(gap_ms: float) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(over_link("here", "there", Cycle(SIZES, gap_ms)), file)
        file.flush()
        application = load_application(Path(file.name))
    assert len(application.callbacks) == 4 * len(SIZES)


def test_the_own_name_differs_from_that_of_the_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine, name in (("left", "left"), ("3d-box.local", "host_3d_box_local"), ("--", "host")):
        monkeypatch.setattr("socket.gethostname", lambda machine=machine: machine)
        assert own_name(["right"]) == name
        assert own_name(["right", name]) == name + "_here"
        assert own_name([name + "_here", name]) == name + "_here_here"

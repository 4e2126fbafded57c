# SPDX-License-Identifier: Apache-2.0
"""The page: metrics calculated by hand, claims by their rows, and its HTML."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rclrt_experiments.bounds import Proofs, is_broken, prediction_table
from rclrt_experiments.figures import Box, tick_step
from rclrt_experiments.metrics import Sample
from rclrt_experiments.page import alike
from rclrt_experiments.published import PC, TABLE_7_4, TD
from rclrt_experiments.rows import Row, run_of
from rclrt_experiments.runs import disturbed, host_sentences, key_of_row, without_the_hosts
from rclrt_experiments.unit import launches, waits
from rclrt_py.testing.command import Command

from rclrt_experiments import synthesis

ROW = Row("utilisation", TD, "10 %", 1, 1, "chain0", 100.0, 0.1, 10, 10.0, 20.0, 50.0, 0.5, 0.4, 0,
          None, "unknown")  # fmt: skip


def test_the_metrics_are_those_of_the_thesis() -> None:
    # Two trials of two chains: section 7.1.1 by hand.
    rows = [
        replace(ROW, trial=1, chain="chain0", normalised_worst=0.5, jitter=0.1, missed=0),
        replace(ROW, trial=1, chain="chain1", normalised_worst=1.5, jitter=0.9, missed=3),
        replace(ROW, trial=2, chain="chain0", normalised_worst=0.7, jitter=0.2, missed=0),
        replace(ROW, trial=2, chain="chain1", normalised_worst=1.2, jitter=0.4, missed=1),
    ]
    sample = Sample(rows)
    assert sample.trials == 2
    assert sample.misses == 2  # chain-runs, however often each missed
    assert sample.mean_misses is not None
    assert sample.mean_misses.value == 1.0
    assert sample.mean_jitter is not None
    assert sample.mean_jitter.value == pytest.approx(0.4)
    assert sample.median_worst is not None
    assert sample.median_worst.value == pytest.approx(0.95)
    for estimate in (sample.mean_jitter, sample.median_worst):
        assert estimate.low <= estimate.value <= estimate.high


def test_an_interval_of_equal_trials_is_a_point_and_none_of_nothing() -> None:
    sample = Sample([replace(ROW, trial=n) for n in range(1, 9)])
    assert sample.mean_jitter is not None
    assert sample.mean_jitter.low == pytest.approx(0.4)
    assert sample.mean_jitter.high == pytest.approx(0.4)
    assert Sample([]).mean_jitter is None


def test_a_launch_counts_from_when_nothing_earlier_ran() -> None:
    # Callback, ready, start, end: the second waits for the first, the third does not wait.
    instances = [(0, 0, 5, 20), (1, 3, 26, 40), (2, 100, 107, 120)]
    assert waits(instances) == [5, 23, 7]
    assert launches(instances) == [5, 6, 7]


def test_it_is_counted_where_synthesis_changes_anything() -> None:
    with_it = TD + "+synthesis"
    rows = [
        replace(ROW, executor=name, trial=trial, varied=point, worst_ms=worst)
        for point, worsts in (("a", (50.0, 60.0)), ("b", (50.0, 50.0)))
        for trial in (1, 2)
        for name, worst in zip((TD, with_it), worsts if trial == 1 else (50.0, 50.0), strict=True)
    ]
    found = synthesis.changes(rows)
    (said,) = synthesis.sentences(found)
    assert said.endswith("1 of 2 at a; 0 of 2 at b.")
    assert synthesis.unchanged(found) == {("utilisation", "b")}
    assert not synthesis.changes([row for row in rows if row.executor == TD])


QUIET_RUN = {
    "started_utc": "2026-11-27T10:00:00Z", "tries": 1, "steal_ms": 10.0, "stalls": 4,
    "worst_stall_ms": 1.5, "missed_host": 0, "realtime": True, "kernel": "6.12", "cpu_model": "A",
    "cpus": 2, "rmw": "rmw_fastrtps_cpp",
}  # fmt: skip


def test_bounds_are_counted_and_what_is_above_one_is_shown() -> None:
    rows = [
        replace(ROW, verdict="proved", bound_ms=60.0),
        replace(ROW, verdict="proved", bound_ms=40.0, missed=1, trial=2),
        replace(ROW, verdict="conditional", bound_ms=60.0),
        replace(ROW, verdict="unknown", bound_ms=160.0),
        replace(ROW, verdict="unknown", bound_ms=None),
        replace(ROW, verdict="unknown", bound_ms=None),
    ]
    heads, (row,) = Proofs(rows).table()
    found = dict(zip(heads, row, strict=True))
    assert found["proved"] == "2 (33%)"
    assert found["bound above the deadline"] == "1"
    assert found["no bound"] == "2"
    assert found["above the bound, for whatever reason"] == "1"
    assert found["proved, where the host did not disturb"] == "2"
    assert found["of these missed or above"] == "1"
    assert (
        Proofs(rows)
        .sentence()
        .startswith(
            "1 of 2 chain-runs with a proved deadline missed it or took longer than its bound, the "
            "first: utilisation, '10 %', trial 2, thread_dispatch, chain0: 1 missed, bound 40.0 ms"
        )
    )
    disturbed_run = {("utilisation", TD, "10 %", "2", "1")}
    proofs = Proofs(rows, disturbed_run)
    assert (len(proofs.counting), proofs.broken) == (1, [])
    assert proofs.sentence().startswith("None of 1 chain-runs with a proved deadline, in runs in")


def test_a_bound_is_broken_by_more_than_the_host_explains() -> None:
    row = replace(ROW, verdict="proved", bound_ms=45.0)  # the worst is 50 ms
    key = key_of_row(row)
    for verdict, stall_ms, broken in (
        ("proved", 4.9, True), ("proved", 5.1, False), ("conditional", 0.0, False),
    ):  # fmt: skip
        assert is_broken(replace(row, verdict=verdict), {key: stall_ms}) == broken
    assert is_broken(replace(row, worst_ms=None, missed=1), {key: 100.0})
    assert is_broken(replace(row, missed=1, bound_ms=60.0), {key: 100.0})


def test_the_host_disturbs_a_run_by_the_share_that_it_takes() -> None:
    rows = [replace(ROW, trial=trial, missed=2) for trial in (1, 2, 3)]
    runs = [
        run_of(rows[0], QUIET_RUN),
        run_of(rows[1], {**QUIET_RUN, "steal_ms": 50.1, "tries": 3, "missed_host": 1}),
        run_of(rows[2], {**QUIET_RUN, "missed_host": 2, "kernel": "6.13"}),
    ]
    assert disturbed(runs, {"utilisation": 10.0}) == {("utilisation", TD, "10 %", "2", "1")}
    assert disturbed(runs, {"utilisation": 30.0}) == set()
    # Both instances of the third missed while the host had stopped a CPU.
    assert [row.missed for row in without_the_hosts(rows, runs)] == [2, 2, 0]
    # The run has the misses of each chain.
    own = [replace(row, chain=chain) for row in rows for chain in ("chain0", "chain1")]
    stated = [{**run, "missed_host": "3", "missed_host_of": "1 2"} for run in runs]
    assert [row.missed for row in without_the_hosts(own, stated)] == [1, 0] * 3
    *machines, said, stalled = host_sentences(runs, {"utilisation": 10.0})
    assert machines == [
        "A, 2 CPUs, Linux 6.12, rmw_fastrtps_cpp; real-time scheduling (2 of the runs).",
        "A, 2 CPUs, Linux 6.13, rmw_fastrtps_cpp; real-time scheduling (1 of the runs).",
    ]
    assert "1 were made again because the host took more than 0.5 % of their time" in said
    assert "took 70 ms in all, more than 0.5 % in 1 of them" in said
    assert stalled.startswith("12 times a CPU did not run what was ready there, ")
    assert "the longest time was 1.5 ms" in stalled
    assert "3 of the instances that missed would have been in time without it" in stalled


def test_what_was_simulated_stands_beside_what_was_observed() -> None:
    late = replace(ROW, missed=1, normalised_worst=1.2, worst_ms=120.0)
    rows = [replace(ROW, trial=1, worst_ms=55.0), replace(late, trial=2), replace(late, trial=3),
            replace(ROW, trial=4)]  # fmt: skip
    simulated = [replace(ROW, trial=1), replace(ROW, trial=2), replace(late, trial=3)]
    heads, (row,) = prediction_table(rows, simulated)
    found = dict(zip(heads, row, strict=True))
    assert found["chain-runs"] == "3"
    assert found["simulated to miss: missed"] == "1 of 1"
    assert found["simulated not to: missed"] == "1 of 2"
    assert found["worst, run / simulated: median"] == "1.10"  # of 1.1, 2.4 and 1.0


def test_executors_that_a_simulation_does_not_tell_apart_are_named() -> None:
    rows = [replace(ROW, executor=name, trial=n) for name in (PC, TD) for n in (1, 2)]
    assert [text.split(" come")[0] for text in alike(rows)] == [
        "utilisation: producer-consumer (PC) and thread-dispatch (TD)"
    ]
    rows[-1] = replace(rows[-1], worst_ms=51.0)
    assert list(alike(rows)) == []


def test_boxes_are_of_values_that_were_measured() -> None:
    box = Box.of([float(n) for n in range(1, 101)])
    assert (box.low, box.first, box.middle, box.third, box.high) == (2, 25, 50, 75, 98)
    assert (box.best, box.worst) == (1, 100)
    assert [tick_step(top) for top in (0.7, 1.0, 5.0, 70.0)] == [0.1, 0.2, 1.0, 10.0]


def test_the_page_stands_alone_and_has_what_the_rows_say(
    experiment: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = experiment("utilisation", "--simulate", "--trials", 5, "--seconds", 5, "--out", out)
    assert done.returncode == 0, done.stderr
    page = (out / "report.html").read_text()
    assert "script" not in page
    assert not re.search(r'(src|href)="', page)
    assert "Chain-runs that missed a deadline, and how many there were (table 7.4)" in page
    assert "<td>5 of 250</td><td>13 of 250</td><td>17 of 250</td>" in page  # published
    assert " of 25</td>" in page
    assert re.search(r"Median \(and least\) number of instances .*: \d+ \(\d+\) at 10 %; ", page)
    figures = sorted((out / "figures").glob("*.svg"))
    assert [path.stem for path in figures] == [
        "utilisation_jitter", "utilisation_misses", "utilisation_worst",
    ]  # fmt: skip
    diamonds = {path.stem: path.read_text().count("<polygon") for path in figures}
    assert diamonds["utilisation_misses"] == sum(map(len, TABLE_7_4.values()))
    assert diamonds["utilisation_jitter"] == diamonds["utilisation_worst"] == 0
    assert "Diamonds: published means." in page
    for path in figures:
        ElementTree.fromstring(path.read_text())
        assert path.read_text().strip() in page


def test_beyond_the_thesis_the_page_says_what_changes(
    experiment: Command, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert experiment(small, "--simulate", "--out", out).returncode == 0
    page = (out / "report.html").read_text()
    found = re.search(
        r"From &#x27;20 %&#x27; to &#x27;80 %&#x27; \(utilisation\), .*?: wait set \(standard\) "
        r"(.*?) % to (.*?) % \((.*?) to (.*?)\); preemptive ",
        page,
    )
    assert found is not None
    before, after, low, high = map(float, found.groups())
    assert 0 <= before <= after <= 100
    assert 0 < low < high

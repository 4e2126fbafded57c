# SPDX-License-Identifier: Apache-2.0
"""`rclrt calibrate`: its samples from hand-made runs, and the whole command with the real
runner."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rclrt_cli.commands.calibrate import disturbance, lines
from rclrt_py.calibration import bandwidth
from rclrt_py.calibration.samples import Found, Samples, Stalls, find, find_handovers, find_hops
from rclrt_py.runs.csv_reader import InstanceRow, StallRow
from rclrt_py.testing.command import finished
from sources import ROOT

MS = 1_000_000
US = 1_000
SCHEMA = ROOT / "schemas" / "overheads.schema.json"


Row = tuple[str, int, int, int, int]


def instances(rows: list[Row]) -> Iterator[InstanceRow]:
    """Callback, release, ready, start and end; in microseconds since 1 s, after the warm-up."""
    for number, (callback, *times) in enumerate(rows):
        tokens = "hop:7" if callback in ("tick", "follow") else ""
        at = [1_000 * MS + time * US for time in times]
        yield InstanceRow(
            number, callback, 1, "main", at[0], at[1], at[2], at[3], 0, 0, "ran", tokens
        )


def found_in(rows: list[Row], executor: str = "preemptive") -> Found:
    return find(instances(rows), Stalls([], 1), executor)


IDLE = [
    ("tick", 0, 0, 12, 40),  # 12 µs late, 18 µs until the message is ready
    ("follow", 30, 30, 34, 38),
]


def test_an_idle_cpu_gives_lateness_hop_and_dispatch() -> None:
    found = found_in(IDLE, "preemptive")
    assert found.lateness.undisturbed == [12 * US]
    assert found.hop.undisturbed == [18 * US]
    assert found.dispatch.undisturbed == [14 * US]  # from 12 to 40, for two instances
    assert found.scheduler.undisturbed == []
    assert found.polling.undisturbed == []


def test_a_victim_says_what_two_instances_cost_it() -> None:
    # 0.6 ms of work took 0.66 ms.
    rows = [("victim", 4_700, 4_700, 4_710, 5_370)]
    assert found_in(rows, "preemptive").dispatch.undisturbed == [30 * US]
    # The wait set does not preempt: there it was not interrupted.
    assert found_in(rows, "wait_set").dispatch.undisturbed == []


def test_a_less_urgent_release_costs_the_most_urgent_a_scheduler_thread() -> None:
    rows = [("urgent", 7_200, 7_200, 7_210, 7_815)]
    assert found_in(rows, "producer_consumer").scheduler.undisturbed == [5 * US]
    assert found_in(rows, "preemptive").scheduler.undisturbed == []


def test_the_wait_set_polls_between_two_callbacks() -> None:
    rows = [("tick", 0, 0, 12, 40), ("follow", 30, 30, 47, 50)]
    found = found_in(rows, "wait_set")
    assert found.polling.undisturbed == [7 * US]
    assert found.dispatch.undisturbed == [19 * US]


def test_what_nobody_interrupts_says_what_a_millisecond_costs() -> None:
    rows = [("alone", 1_000, 1_000, 1_010, 4_022)]  # 3 ms of work took 3.012 ms
    assert found_in(rows, "preemptive").background.undisturbed == [4 * US]


@pytest.mark.parametrize(("cpu", "disturbed"), [(1, True), (0, False)])
def test_samples_during_a_stall_of_their_cpu_are_kept_apart(cpu: int, disturbed: bool) -> None:
    stall = StallRow(cpu, 1_000 * MS + 35 * US, 1_000 * MS + 900 * US)
    found = find(instances(IDLE), Stalls([stall], 1), "preemptive")
    assert found.lateness.disturbed == ([12 * US] if disturbed else [])
    assert found.lateness.undisturbed == ([] if disturbed else [12 * US])


def test_what_the_kernel_kept_the_probe_waiting_for_is_an_overhead() -> None:
    start, end = 1_000 * MS + 35 * US, 1_000 * MS + 900 * US
    for waited, disturbed in ((865 * US, False), (766 * US, False), (765 * US, True)):
        found = find(instances(IDLE), Stalls([StallRow(1, start, end, waited)], 1), "preemptive")
        assert bool(found.lateness.disturbed) == disturbed


def test_the_warm_up_is_left_out() -> None:
    early = [("tick", -600_000, -600_000, -599_000, -598_000)]
    assert found_in(early, "preemptive").lateness.undisturbed == []


def test_the_maximum_is_stated_with_the_disturbed_samples_and_without() -> None:
    samples = Samples([1_000, 3_000], [500_000])
    assert samples.to_json() == {
        "n": 3,
        "min": 1.0,
        "p50": 3.0,
        "p99": 500.0,
        "max": 500.0,
        "max_undisturbed": 3.0,
        "disturbed": 1,
    }
    assert Samples().to_json() is None


def test_a_handover_is_over_when_both_callbacks_of_a_message_have_started() -> None:
    rows = instances(
        [
            ("follow", 65, 65, 80, 90),
            ("beside", 66, 66, 110, 120),
            ("follow", 5_110, 5_110, 5_160, 5_170),
            ("beside", 5_110, 5_110, 5_120, 5_130),
            ("follow", 10_110, 10_110, 10_120, 10_130),
        ]
    )
    numbered = [
        row._replace(tokens=f"{('hop', 'beside')[number % 2]}:{number // 2}")
        for number, row in enumerate(rows)
    ]
    quiet = [Stalls([], 0), Stalls([], 1)]
    assert find_handovers(numbered, quiet).undisturbed == [45 * US, 50 * US]
    stall = StallRow(0, 1_000 * MS + 70 * US, 1_000 * MS + 900 * US)
    found = find_handovers(numbered, [Stalls([stall], 0), Stalls([stall], 1)])
    assert (found.disturbed, found.undisturbed) == ([45 * US], [50 * US])


def test_a_hop_is_from_the_publisher_to_who_takes_the_same_instance() -> None:
    numbered = instances(
        [
            ("tick", 0, 0, 10, 40),
            ("follow", 65, 65, 80, 90),
            ("tick", 5_000, 5_000, 5_010, 5_040),
            ("follow", 5_110, 5_110, 5_120, 5_130),
        ]
    )
    rows = [row._replace(tokens=f"hop:{number // 2}") for number, row in enumerate(numbered)]
    assert find_hops(rows, Stalls([], 1)).undisturbed == [55 * US, 100 * US]
    assert find_hops(rows[1:], Stalls([], 1)).undisturbed == [100 * US]  # the sender is unknown


def calibrate(*arguments: str) -> subprocess.CompletedProcess[str]:
    return finished("calibrate", *arguments)


def test_a_calibration_of_this_machine_is_a_file_that_the_schema_describes(tmp_path: Path) -> None:
    out = tmp_path / "overheads.json"
    done = calibrate(
        "--seconds", "3", "--executors", "preemptive,wait_set,producer_consumer", "-o", str(out)
    )
    assert done.returncode == 0, done.stderr
    overheads = json.loads(out.read_text())
    jsonschema.validate(overheads, json.loads(SCHEMA.read_text()))
    assert list(overheads["executors"]) == ["preemptive", "wait_set", "producer_consumer"]
    for executor in overheads["executors"].values():
        assert 0 < executor["dispatch_us"]["min"] <= executor["dispatch_us"]["p50"]
        assert executor["timer_lateness_us"]["n"] > 0
        assert executor.get("handover_us", {"n": 1})["n"] > 0
        assert ("handover_us" in executor) == (len(os.sched_getaffinity(0)) > 1)
    assert "scheduler_us" in overheads["executors"]["producer_consumer"]
    assert "polling_us" in overheads["executors"]["wait_set"]
    assert overheads["hop_us"]["same_host"]["n"] > 0
    assert overheads["hop_us"]["intra_process"]["min"] > 0
    assert "background, each ms" in done.stdout
    if overheads["realtime"] and "rt_bandwidth" in overheads:
        stated = bandwidth.stated_share(overheads["machine"]["cpu"])
        assert 0 < overheads["rt_bandwidth"]["share"] <= stated
        assert "Real-time threads get" in done.stdout


def test_a_hop_without_a_message_is_said_to_be_missing() -> None:
    overheads: dict[str, Any] = {
        "executors": {},
        "hop_us": {"intra_process": {"n": 3, "max": 24.4}},
        "background_us": {},
        "seconds": 1,
        "machine": {"cpu": 1, "message_bytes": 0},
        "steal_ms": 0,
        "host_stalls": 0,
        "realtime": True,
    }
    assert "hop same host: no message came; try again with more --seconds" in lines(overheads)


def overheads_with(dispatch: Samples) -> dict[str, Any]:
    quiet = Samples([3 * US, 5 * US]).to_json()
    hops = {"intra_process": quiet, "same_host": quiet}
    found = {"preemptive": Found(dispatch=dispatch).to_json()}
    return {"executors": found, "hop_us": hops, "background_us": quiet}


def test_a_maximum_far_above_the_p99_is_a_warning_with_both_figures_and_the_fix() -> None:
    usual = [20 * US] * 200
    assert disturbance(overheads_with(Samples([*usual, 201 * US]))) == (
        "the maximum of 'preemptive dispatch', 201 µs, is far above its p99, 20 µs, and bounds "
        "with such a maximum prove little; stop other programs and calibrate again"
    )
    assert disturbance(overheads_with(Samples([*usual, 200 * US]))) == ""
    # Less than 0.1 ms is no disturbance, even if it is many times the p99.
    assert disturbance(overheads_with(Samples([2 * US] * 200 + [100 * US]))) == ""


def test_a_maximum_during_a_stall_of_the_host_is_a_warning_that_names_the_other_statistic() -> None:
    warning = disturbance(overheads_with(Samples([20 * US] * 200, [5_000 * US])))
    assert warning.startswith("the maximum of 'preemptive dispatch', 5000 µs, is far above")
    assert "analyze with --overhead-percentile max_undisturbed" in warning


@pytest.mark.parametrize(
    ("limit", "server", "kernel", "share"),
    [
        ((950_000, 1_000_000), None, "6.1.0-rt", 0.95),
        ((-1, 1_000_000), None, "6.1.0-rt", 1.0),
        ((0, 1_000_000), None, "6.1.0-rt", 0.0),
        (None, None, "6.1.0-rt", 1.0),
        # Since Linux 6.12 there is the fair server, so the sysctl alone lifts no limit.
        ((-1, 1_000_000), None, "6.12.3", 0.95),
        ((-1, 1_000_000), (0, 1_000_000_000), "6.12.3", 1.0),
        ((-1, 1_000_000), (100_000_000, 1_000_000_000), "6.18.0", 0.9),
        ((800_000, 1_000_000), (50_000_000, 1_000_000_000), "6.18.0", 0.8),
    ],
)
def test_the_kernels_share_is_what_its_settings_leave(
    tmp_path: Path,
    limit: tuple[int, int] | None,
    server: tuple[int, int] | None,
    kernel: str,
    share: float,
) -> None:
    for pair, directory, names in (
        (limit, "proc/sys/kernel", ("sched_rt_runtime_us", "sched_rt_period_us")),
        (server, "sys/kernel/debug/sched/fair_server/cpu1", ("runtime", "period")),
    ):
        if pair:
            (tmp_path / directory).mkdir(parents=True)
            for name, value in zip(names, pair, strict=True):
                (tmp_path / directory / name).write_text(f"{value}\n")
    assert bandwidth.stated_share(1, tmp_path, kernel) == share


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--cpu", "9999"), "--cpu 9999: this process may not use it; expected one of"),
        (("--seconds", "0.5"), "--seconds 0.5: expected at least 1"),
        (("--executors", "magic"), "unknown executor 'magic'"),
        (("--cpu", "nan"), "--cpu: 'nan' is no number of a CPU; expected 0 to 9999"),
        (("--message-bytes", "-1"), "-bytes: '-1' is no size in bytes; expected 0 to 10000000"),
        (("--message-bytes", "1e3"), "'1e3' is no size in bytes; expected 0 to 10000000"),
        (("-o", "/nowhere/file"), "-o /nowhere/file: /nowhere is no directory; make it first"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_measured(
    arguments: tuple[str, ...], said: str
) -> None:
    done = calibrate(*arguments)
    assert done.returncode == 2
    assert said in done.stderr

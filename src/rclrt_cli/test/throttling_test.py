# SPDX-License-Identifier: Apache-2.0
"""Whether the kernel's limit may hold real-time threads back: by hand, and by brute force."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rclrt_cli.bounds.machine import Overheads
from rclrt_cli.bounds.throttling import MOST_RELEASES, Work, find_busiest_second, held_back
from rclrt_py.native import load_application

LIMIT = 0.95


def works(*tasks: tuple[float, float]) -> list[Work]:
    """Of execution time and period, in seconds."""
    return [Work(1 / period, wcet) for wcet, period in tasks]


@pytest.mark.parametrize(
    ("tasks", "share"),
    [
        ([(0.5, 1.0)], 0.5),
        ([(0.6, 1.0)], 0.6),  # a second sees the end of one instance and the begin of the next
        ([(0.96, 2.0)], 0.96),  # 48 % in the mean
        ([(3.0, 10.0)], 1.0),  # 30 %
        ([(0.4, 2.0), (0.4, 2.0)], 0.8),
        ([(0.5, 2.0), (0.5, 2.0)], 1.0),
        ([(0.001, 0.01), (0.1, 0.2)], 0.6),
        ([(0.6, 0.5)], 1.0),  # an overload
        ([(1.9, 2.0)], 1.0),  # just the limit in the mean
        ([], 0.0),
    ],
)
def test_the_busiest_second_by_hand(tasks: list[tuple[float, float]], share: float) -> None:
    assert find_busiest_second(works(*tasks), 0.0, LIMIT) == pytest.approx(share, abs=1e-6)


def test_background_and_what_comes_late_from_another_cpu_count() -> None:
    assert find_busiest_second(works((0.5, 1.0)), 0.1, LIMIT) == pytest.approx(0.6)
    assert find_busiest_second([Work(1.0, 0.3, 1)], 0.0, LIMIT) == pytest.approx(0.6)
    assert find_busiest_second([Work(1.0, 0.93, 0, 0.03)], 0.0, LIMIT) == pytest.approx(0.96)
    many = [Work(MOST_RELEASES, 1e-6)]
    assert find_busiest_second(many, 0.0, LIMIT) == 1.0  # they are too many to look at


def observed(tasks: list[tuple[int, int]], offsets: list[int], ticks: int, second: int) -> int:
    """The most that is worked on in a second, of a CPU that works on whatever there is."""
    left, worked = 0, []
    for now in range(ticks):
        left += sum(
            wcet
            for (wcet, period), offset in zip(tasks, offsets, strict=True)
            if now >= offset and (now - offset) % period == 0
        )
        worked.append(int(left > 0))
        left -= worked[-1]
    sums = [0]
    for each in worked:
        sums.append(sums[-1] + each)
    return max(sums[n + second] - sums[n] for n in range(ticks - second))


def test_no_second_is_busier() -> None:
    draws = random.Random(1)
    tight = 0
    for _ in range(60):
        second = 40  # ticks
        tasks = [(draws.randint(1, 20), draws.randint(10, 120)) for _ in range(3)]
        if sum(wcet / period for wcet, period in tasks) >= LIMIT:
            continue
        ticked = works(*((wcet / second, period / second) for wcet, period in tasks))
        share = find_busiest_second(ticked, 0.0, LIMIT)
        together = observed(tasks, [0, 0, 0], 2000, second)
        apart = observed(tasks, [draws.randint(0, 100) for _ in tasks], 2000, second)
        assert max(together, apart) <= share * second + 1e-6
        tight += together >= share * second - 1.5
    assert tight > 10  # it is no more than it must be


def test_bounds_of_what_may_be_held_back_are_conditional(tmp_path: Path) -> None:
    pytest.importorskip("rclrt_analysis")
    app = tmp_path / "app.yaml"
    app.write_text(
        """
rclrt: 1
name: burst
nodes: [{name: robot}]
callbacks:
  - {id: plan, node: robot, timer: {period_ms: 2000}, wcet_ms: 960}
  - {id: drive, node: robot, timer: {period_ms: 2000, offset_ms: 1}, wcet_ms: 2, publishes: [go]}
  - {id: wheel, node: robot, subscription: {topic: go}, wcet_ms: 1}
chains:
  - {id: planning, callbacks: [plan], priority: 1}
  - {id: driving, callbacks: [drive, wheel], priority: 2}
"""
    )
    application = load_application(app)
    found = held_back(application, Overheads(rt_share=LIMIT))
    assert "may take more than 95.0 % of a second of a CPU, as these may with 48.1 %" in found
    assert held_back(application, Overheads(rt_share=0.97)) == ""
    assert held_back(application, Overheads(rt_share=1.0)) == ""
    late = Overheads(rt_share=0.97, hop_ns=10_000_000)  # a message is on its way for 10 ms
    assert "may take more than 97.0 %" in held_back(application, late)


MERGED = """
rclrt: 1
name: merged
executors: [{name: first, cpus: [0]}, {name: second, cpus: [1]}]
nodes: [{name: sensors, executor: first}, {name: robot, executor: second}]
callbacks:
  - {id: left, node: sensors, timer: {period_ms: 2000}, wcet_ms: 1, publishes: [points]}
  - {id: right, node: sensors, timer: {period_ms: 2000}, wcet_ms: 1, publishes: [points]}
  - {id: filter, node: robot, subscription: {topic: points}, wcet_ms: 240}
chains:
  - {id: one, callbacks: [left, filter], priority: 1}
  - {id: two, callbacks: [right, filter], priority: 2}
"""


def test_several_sources_and_other_cpus_bring_releases_together(tmp_path: Path) -> None:
    pytest.importorskip("rclrt_analysis")
    app = tmp_path / "app.yaml"
    app.write_text(MERGED.replace("executor: second", "executor: first"))
    # Two at once: 480 ms and the timers' 2 ms.
    one_cpu = load_application(app)
    assert held_back(one_cpu, Overheads(rt_share=0.49)) == ""
    assert "may take more than 48.0 %" in held_back(one_cpu, Overheads(rt_share=0.48))
    app.write_text(MERGED)
    # From another CPU two more may come together with those: a chain may be late by a period.
    two_cpus = load_application(app)
    assert held_back(two_cpus, Overheads(rt_share=0.97)) == ""
    assert "may take more than 95.0 %" in held_back(two_cpus, Overheads(rt_share=LIMIT))

# SPDX-License-Identifier: Apache-2.0
"""The simulation through the Python module."""

from pathlib import Path

import pytest

import rclrt_analysis
import rclrt_model

MS = 1_000_000
TEXT = """
rclrt: 1
name: two
executors: [{name: main, cpus: [0]}]
nodes: [{name: node, executor: main}]
callbacks:
  - {id: fast, node: node, timer: {period_ms: 10}, wcet_ms: 2}
  - {id: slow, node: node, timer: {period_ms: 40}, wcet_ms: 15, publishes: [out]}
  - {id: last, node: node, subscription: {topic: out}, wcet_ms: 5}
chains:
  - {id: quick, callbacks: [fast], priority: 2, deadline_ms: 10}
  - {id: long, callbacks: [slow, last], priority: 1, deadline_ms: 27}
"""


@pytest.fixture
def application(tmp_path: Path) -> rclrt_model.Application:
    path = tmp_path / "app.yaml"
    path.write_text(TEXT)
    return rclrt_model.load(path)


def test_responses_are_those_of_preemption_by_hand(application: rclrt_model.Application) -> None:
    (quick, long), _ = rclrt_analysis.simulate(application, "preemptive", 400 * MS)
    assert (quick.released, quick.completed, quick.missed) == (40, 40, 0)
    assert (quick.best_ns, quick.worst_ns, quick.mean_ns) == (2 * MS, 2 * MS, 2 * MS)
    # 20 ms of work, and 2 ms of the fast one at 0, 10 and 20 ms.
    assert (long.released, long.completed, long.worst_ns) == (10, 10, 26 * MS)
    assert long.missed == 0


def test_without_preemption_the_short_one_waits(application: rclrt_model.Application) -> None:
    (quick, long), _ = rclrt_analysis.simulate(application, "wait_set", 400 * MS)
    # Released at 10 ms, it waits until the 15 ms that began at 2 ms have ended, and runs for 2 ms.
    assert quick.worst_ns == 9 * MS
    assert (quick.missed, long.completed) == (0, 10)


def test_what_has_not_ended_at_its_deadline_is_missed(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(TEXT.replace("wcet_ms: 15", "wcet_ms: 38"))
    (_, long), _ = rclrt_analysis.simulate(rclrt_model.load(path), "preemptive", 400 * MS)
    assert long.completed < long.released
    assert long.missed >= long.completed


def test_times_also_count_from_the_start_of_the_first_callback(
    application: rclrt_model.Application,
) -> None:
    (quick, long), _ = rclrt_analysis.simulate(application, "wait_set", 400 * MS)
    # Its own 2 ms, independent of its wait.
    assert (quick.from_start_best_ns, quick.from_start_worst_ns) == (2 * MS, 2 * MS)
    # `slow` starts after the first `fast`, and `last` after the second: 15 + 2 + 5 ms.
    assert (long.worst_ns, long.from_start_worst_ns) == (24 * MS, 22 * MS)


def test_what_a_synchroniser_leaves_over_is_unmatched_and_not_missed(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text("""
rclrt: 1
name: rates
nodes: [{name: n}]
callbacks:
  - {id: imu, node: n, timer: {period_ms: 10}, wcet_ms: 0.1, publishes: [imu]}
  - {id: gps, node: n, timer: {period_ms: 70}, wcet_ms: 0.1, publishes: [gps]}
  - {id: fuse, node: n, sync: {topics: [imu, gps]}, wcet_ms: 0.1}
chains: [{id: fast, callbacks: [imu, fuse]}, {id: slow, callbacks: [gps, fuse]}]
""")
    (fast, slow), _ = rclrt_analysis.simulate(rclrt_model.load(path), "preemptive", 701 * MS)
    # Sets at 0, 70, ..., 700, each with the IMU message of that time; the six between two sets stay
    # unmatched.
    assert (fast.released, fast.completed, fast.unmatched, fast.missed) == (71, 11, 60, 0)
    assert (slow.released, slow.completed, slow.unmatched, slow.missed) == (11, 11, 0, 0)


def test_instances_are_kept_on_request(application: rclrt_model.Application) -> None:
    _, none = rclrt_analysis.simulate(application, "preemptive", 40 * MS)
    assert none == []
    _, kept = rclrt_analysis.simulate(application, "preemptive", 40 * MS, keep_instances=True)
    assert sorted(callback for callback, *_ in kept) == [0, 0, 0, 0, 1, 2]
    assert all(ready <= start < end for _, ready, start, end in kept)


def test_unknown_words_and_numbers_are_refused(application: rclrt_model.Application) -> None:
    with pytest.raises(ValueError, match="unknown executor 'x'; expected one of wait_set"):
        rclrt_analysis.simulate(application, "x", MS)
    with pytest.raises(ValueError, match="from 0 to 1"):
        rclrt_analysis.simulate(application, "edf", MS, lowest_execution=2.0)
    with pytest.raises(ValueError, match="horizon"):
        rclrt_analysis.simulate(application, "edf", -1)


def test_an_event_is_released_at_its_times(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    event = "event: {min_interval_ms: 10, max_interval_ms: 30, seed: 3}"
    path.write_text(TEXT.replace("timer: {period_ms: 10}", event))
    (quick, long), _ = rclrt_analysis.simulate(rclrt_model.load(path), "preemptive", 3000 * MS)
    assert 100 <= quick.released <= 300
    assert (quick.completed, quick.missed, long.released) == (quick.released, 0, 75)


SAMPLED = """
rclrt: 1
name: sampled
executors: [{name: main, cpus: [0]}]
nodes: [{name: node, executor: main}]
callbacks:
  - {id: sense, node: node, timer: {period_ms: 10, offset_ms: 0}, wcet_ms: 2, stores: [state]}
  - {id: act, node: node, timer: {period_ms: 10, offset_ms: 4}, wcet_ms: 1, reads: [state]}
chains:
  - {id: first, callbacks: [sense], priority: 2, deadline_ms: 8}
  - {id: second, callbacks: [act], priority: 1, deadline_ms: 10}
  - {id: whole, callbacks: [sense, act], max_reaction_ms: 100, max_age_ms: 100}
  - {id: alone, callbacks: [tick], max_age_ms: 100}
""".replace("chains:", "  - {id: tick, node: node, timer: {period_ms: 20}, wcet_ms: 1}\nchains:")


@pytest.mark.parametrize(("let", "age_ms"), [(False, 5), (True, 15)])
def test_outputs_have_their_reaction_times_and_ages(
    tmp_path: Path, *, let: bool, age_ms: int
) -> None:
    """The value of `sense` is stored at 2 ms, and read at 4 ms by `act`, which ends at 5 ms. With
    logical execution time it counts from 8 ms, so that `act` reads it at 14 ms."""
    path = tmp_path / "app.yaml"
    path.write_text(SAMPLED.replace("deadline_ms: 8", f"deadline_ms: 8, let: {str(let).lower()}"))
    model = rclrt_model.load(path)
    assert [chain.id for chain in model.cause_effect_chains] == ["alone", "whole"]
    alone, whole = rclrt_analysis.simulate_outputs(model, "preemptive", 100 * MS)
    assert set(whole.ages_ns) == {age_ms * MS}
    assert set(whole.reactions_ns) == {(age_ms + 10) * MS}  # from the release before the data
    assert (len(whole.ages_ns), len(whole.reactions_ns)) == (10 - let, 9 - let)
    assert len(alone.ages_ns) == 5

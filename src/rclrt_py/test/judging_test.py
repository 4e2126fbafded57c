# SPDX-License-Identifier: Apache-2.0
"""Excesses that the host explains, and others. The runs have one callback, 2 ms every 10 ms."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from rclrt_py.bounds.excesses import ASSUMPTION, HOST, UNEXPLAINED, excesses_csv, load_excesses
from rclrt_py.bounds.judging import Judge
from rclrt_py.bounds.predicted import PredictedChain, predict
from rclrt_py.errors import BadInput
from rclrt_py.native import load_application
from rclrt_py.runs.run_data import EXCESSES, Run
from rclrt_py.testing.scheduler_model import MS, Callback, Chain
from rclrt_py.testing.synthetic_run import write_run

analysis = pytest.importorskip("rclrt_analysis")

US = 1_000
DISPATCH = 100 * US
CHAIN = PredictedChain("only", 2.5, "proved", (), 3, (1,), "")


@dataclass(frozen=True)
class StallsAddUp:
    """Bounds that grow by exactly the stall, or by `more` than that."""

    more: int = 0
    drops: bool = False

    def bound_ns(self, _chain: str, stalled_ns: int) -> int | None:
        return 2_500 * US + stalled_ns + self.more

    def may_drop(self, _chain: str, _stalled_ns: int) -> bool:
        return self.drops


def judge_with(bounds: StallsAddUp | None = None, **allowed: Any) -> Judge:
    """Returns a judge that allows for 2 ms of work and 0.1 ms for its dispatch."""
    allowance = analysis.Allowance(wcet={"work": 2 * MS}, each=DISPATCH, **allowed)
    bounds = bounds or StallsAddUp()
    return Judge(
        analysis.ObservationContext("preemptive", allowance, bounds.bound_ns, bounds.may_drop)
    )


JUDGE = judge_with()


def run_of(
    directory: Path, start_us: int, end_us: int, cpu_us: int = 2_000, stalls: str = "1,0,0,0\n"
) -> Run:
    """Returns a run in which the sixth instance, released at 50 ms, ran from `start_us` to `end_us`
    after its release."""
    graph = (
        [Callback("work", "robot", 2 * MS, 3, (), period=10 * MS)],
        [Chain("only", ("work",), 3, 10 * MS)],
    )
    write_run(directory, "preemptive", 0.2, graph=graph)
    start, end = 50 * MS + start_us * US, 50 * MS + end_us * US
    _change(
        directory / "instances.csv", "release_ns", start_ns=start, end_ns=end, cpu_ns=cpu_us * US
    )
    _change(directory / "chains.csv", "release_ns", completion_ns=end, response_ns=end_us * US)
    (directory / "stalls.csv").write_text("cpu,start_ns,end_ns,waited_ns\n" + stalls)
    return Run.load(directory)


def _change(path: Path, key: str, **values: int | str) -> None:
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    for row in rows:
        if row[key] == str(50 * MS):
            row.update({name: str(value) for name, value in values.items()})
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def causes(run: Run, judge: Judge = JUDGE) -> list[tuple[int, str]]:
    return [(excess.instance, excess.cause) for excess in judge.judge(run, [CHAIN])]


def test_within_the_bound_there_is_nothing_to_judge(tmp_path: Path) -> None:
    assert causes(run_of(tmp_path / "run", 500, 2_500)) == []


# It began 3 ms late. 2 of the 5 ms are work and 0.1 ms is allowed for, so 2.9 ms are lost.
def test_a_stall_that_covers_what_was_lost_is_the_hosts(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 3_000, 5_000, stalls=f"1,{50 * MS},{50 * MS + 2_900 * US},0\n")
    (excess,) = JUDGE.judge(run, [CHAIN])
    assert (excess.lost, excess.stalled) == (2_900 * US, 2_900 * US)
    assert (excess.stalled_bound, excess.cause) == (5_400 * US, HOST)
    assert excess.what == "the CPU stood still for 2.900 ms since 0.050000 s"


def test_a_stall_just_shorter_than_what_was_lost_excuses_nothing(tmp_path: Path) -> None:
    stall = f"1,{50 * MS},{50 * MS + 2_899 * US},0\n"
    run = run_of(tmp_path / "run", 3_000, 5_000, stalls=stall)
    assert causes(run) == [(5, ASSUMPTION)]  # 0.101 ms with nothing running


def test_a_stall_that_covers_the_lost_time_excuses_no_bound_that_is_too_low(
    tmp_path: Path,
) -> None:
    stall = f"1,{50 * MS},{50 * MS + 2_900 * US},0\n"
    run = run_of(tmp_path / "run", 3_000, 5_000, stalls=stall)
    just_enough = judge_with(StallsAddUp(more=-400 * US))  # 5 ms
    assert causes(run, just_enough) == [(5, HOST)]
    too_low = judge_with(StallsAddUp(more=-401 * US))
    assert causes(run, too_low) == [(5, UNEXPLAINED)]


@pytest.mark.parametrize(
    "stall",
    [
        pytest.param(f"0,{50 * MS},{53 * MS},0\n", id="of another CPU"),
        pytest.param(f"1,{40 * MS},{50 * MS},0\n", id="that was over"),
        pytest.param(f"1,{55 * MS},{60 * MS},0\n", id="that came later"),
    ],
)
def test_a_stall_elsewhere_excuses_nothing(tmp_path: Path, stall: str) -> None:
    run = run_of(tmp_path / "run", 3_000, 5_000, stalls=stall)
    assert causes(run) == [(5, ASSUMPTION)]


# 2 ms of work took 5.1 ms. The probe saw 2.4 ms of the lost 3 ms; the rest was before it was due.
@pytest.mark.parametrize(
    ("seen_at_us", "since_us", "cause"),
    [
        pytest.param(1_000, 400, HOST, id="0.6 ms before, of which the work says"),
        pytest.param(300, 0, ASSUMPTION, id="not before the work had begun"),
    ],
)
def test_a_stall_counts_from_where_the_work_that_it_interrupted_lost_the_cpu(
    tmp_path: Path, seen_at_us: int, since_us: int, cause: str
) -> None:
    seen = 50 * MS + seen_at_us * US
    run = run_of(tmp_path / "run", 0, 5_100, stalls=f"1,{seen},{seen + 2_400 * US},0\n")
    (excess,) = JUDGE.judge(run, [CHAIN])
    assert excess.lost == 3_000 * US
    assert excess.stalled == (2_400 + seen_at_us - since_us) * US
    assert excess.cause == cause


def test_no_more_than_a_period_of_the_probe_is_before_a_stall(tmp_path: Path) -> None:
    seen = 53 * MS
    run = run_of(tmp_path / "run", 0, 6_000, stalls=f"1,{seen},{seen + 2_400 * US},0\n")
    (excess,) = JUDGE.judge(run, [CHAIN])
    assert (excess.lost, excess.stalled) == (3_900 * US, 3_400 * US)
    assert excess.cause == ASSUMPTION


def test_a_stall_in_which_the_probe_was_ready_is_not_the_hosts(tmp_path: Path) -> None:
    start, end = 50 * MS, 53 * MS
    run = run_of(tmp_path / "run", 3_000, 5_000, stalls=f"1,{start},{end},{2_900 * US}\n")
    (excess,) = JUDGE.judge(run, [CHAIN])
    assert (excess.stalled, excess.cause) == (100 * US, ASSUMPTION)  # until the probe was woken
    assert str(excess) == (
        "instance 5 took 5.000 ms: something more urgent than SCHED_FIFO 98, or the kernel itself, "
        "had CPU 1 for 2.900 ms, at 0.050000 s"
    )


def test_only_a_wait_as_long_as_the_kernels_limit_is_the_kernels(tmp_path: Path) -> None:
    limited = judge_with(held_back=5 * MS)
    for waited, cause in ((2_500, HOST), (2_499, ASSUMPTION)):
        stall = f"1,{50 * MS},{53 * MS},{waited * US}\n"
        run = run_of(tmp_path / cause, 3_000, 5_000, stalls=stall)
        assert causes(run, limited) == [(5, cause)]
        (excess,) = limited.judge(run, [CHAIN])
        assert ("the kernel's limit took 3.000 ms of it" in excess.what) == (cause == HOST)


def test_a_late_dispatch_is_named_and_not_excused(tmp_path: Path) -> None:
    (excess,) = JUDGE.judge(run_of(tmp_path / "run", 3_000, 5_000), [CHAIN])
    assert excess.cause == ASSUMPTION
    assert str(excess) == (
        "instance 5 took 5.000 ms: nothing of the application ran for 3.000 ms while something was "
        "ready; 0.100 ms are allowed for, at 0.050000 s"
    )


def test_work_above_its_wcet_is_named_and_not_excused(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 0, 5_000, cpu_us=5_000)
    (excess,) = JUDGE.judge(run, [CHAIN])
    assert (excess.cause, excess.lost) == (ASSUMPTION, 2_900 * US)
    assert "work needed 5.000 ms of CPU time; its wcet_ms is 2" in str(excess)


def test_a_thread_that_is_no_callback_is_named_and_not_excused(tmp_path: Path) -> None:
    (excess,) = JUDGE.judge(run_of(tmp_path / "run", 0, 5_000), [CHAIN])
    assert excess.cause == ASSUMPTION
    assert "work was without the CPU for 3.000 ms that no callback used" in str(excess)


def test_what_every_measurement_was_right_about_is_unexplained(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 500, 2_501)
    patient = judge_with(once=500 * US)
    (excess,) = patient.judge(run, [CHAIN])
    assert (excess.cause, excess.lost) == (UNEXPLAINED, 0)
    assert str(excess) == "instance 5 took 2.501 ms: nothing measured explains it"


def test_a_drop_is_the_hosts_when_the_stall_can_fill_a_queue(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 0, 2_000, stalls=f"1,{50 * MS},{53 * MS},0\n")
    _change(
        tmp_path / "run/chains.csv",
        "release_ns", completion_ns="", response_ns="", status="dropped",
    )  # fmt: skip
    assert causes(run) == [(5, UNEXPLAINED)]
    assert causes(run, judge_with(StallsAddUp(drops=True))) == [(5, HOST)]


def test_an_instance_that_finds_no_partner_in_a_sync_is_not_above_its_bound(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 0, 2_000)
    _change(
        tmp_path / "run/chains.csv",
        "release_ns", completion_ns="", response_ns="", status="dropped",
    )  # fmt: skip
    assert [excess.instance for excess in JUDGE.judge(run, [CHAIN])] == [5]
    assert JUDGE.judge(run, [replace(CHAIN, meets_all=False)]) == []


@pytest.mark.parametrize(("period", "meets_all"), [(20, True), (40, False)])
def test_whether_instances_find_their_partners_follows_from_the_periods(
    tmp_path: Path, period: int, meets_all: bool
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(f"""
rclrt: 1
name: two
executors: [{{name: main, cpus: [0]}}]
nodes: [{{name: n}}]
callbacks:
  - {{id: a, node: n, timer: {{period_ms: 20, offset_ms: 0}}, wcet_ms: 1, publishes: [x]}}
  - {{id: b, node: n, timer: {{period_ms: {period}, offset_ms: 0}}, wcet_ms: 1, publishes: [y]}}
  - {{id: join, node: n, sync: {{topics: [x, y], window_ms: 15}}, wcet_ms: 1}}
chains: [{{id: one, callbacks: [a, join], priority: 3}}]
""")
    found = predict(load_application(app), ["preemptive"], None).executors["preemptive"]
    assert found.chains["one"].bound_ms is not None
    assert found.chains["one"].meets_all is meets_all


def test_a_chain_over_several_cpus_is_held_against_its_bound_with_the_stall(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 3_000, 5_000, stalls=f"0,{50 * MS},{53 * MS},0\n")
    anywhere = replace(CHAIN, cpus=())
    assert [excess.cause for excess in JUDGE.judge(run, [anywhere])] == [HOST]


def test_a_bound_of_one_cpu_does_not_hold_on_several(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 100, 3_000)
    conditions = ("executor 'main' runs on one CPU (cpus: [n])",)
    of_one = replace(CHAIN, verdict="conditional", assumptions=conditions, cpus=())
    (excess,) = JUDGE.judge(run, [of_one])
    assert excess.cause == ASSUMPTION
    assert "may use every CPU, and the bound is that of one" in str(excess)
    (excess,) = JUDGE.judge(run, [replace(CHAIN, cpus=())])
    assert "may use every CPU" not in str(excess)


def test_what_was_judged_is_kept_beside_the_run(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 3_000, 5_000)
    assert [excess.cause for excess in load_excesses(run, [CHAIN])] == [UNEXPLAINED]
    judged = JUDGE.judge(run, [CHAIN])
    (run.directory / EXCESSES).write_text(excesses_csv(judged))
    assert load_excesses(run, [CHAIN]) == judged


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("only,5", "other,5", "chain 'other' is not in results.json beside it"),
        (",assumption,", ",weather,", "cause is 'weather'; expected one of host, assumption"),
        ("lost_ns", "lost", "excesses.csv:1: the header is"),
    ],
)
def test_what_was_judged_is_refused_when_it_is_broken(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    run = run_of(tmp_path / "run", 3_000, 5_000)
    text = excesses_csv(JUDGE.judge(run, [CHAIN]))
    (run.directory / EXCESSES).write_text(text.replace(before, after))
    with pytest.raises(BadInput, match=re.escape(said)):
        load_excesses(run, [CHAIN])

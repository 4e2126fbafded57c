# SPDX-License-Identifier: Apache-2.0
"""Properties that hold for every application, tried on random graphs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rclrt_analysis
import rclrt_model

PERIODS = (4, 5, 8, 10, 20)
EXECUTORS = [kind.name for kind in rclrt_model.EXECUTOR_KINDS if not kind.simulated_only]
CAREFUL = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def applications(draw: st.DrawFn, executors: int = 1) -> Any:
    """Up to four timers with a chain each, which fork, meet in syncs, and share groups."""
    callbacks: list[str] = []
    chains: list[str] = []
    ways: list[list[str]] = []

    def node() -> str:
        return f"n{draw(st.integers(0, executors - 1))}"

    def extras() -> str:
        text = f", wcet_ms: {draw(st.integers(1, 30)) * 0.1:.1f}"
        if draw(st.booleans()):
            text += f", priority: {draw(st.integers(0, 5))}"
        if draw(st.integers(0, 4)) == 0:
            text += ", group: g"
        return text

    for timer in range(draw(st.integers(1, 4))):
        way = [f"t{timer}"]
        period = draw(st.sampled_from(PERIODS))
        offset = f", offset_ms: {draw(st.integers(0, 3))}" if draw(st.booleans()) else ""
        callbacks.append(
            f"{{id: t{timer}, node: {node()}, timer: {{period_ms: {period}{offset}}}{extras()}, "
            f"publishes: [t{timer}]}}"
        )
        for step in range(draw(st.integers(0, 3))):
            name = f"t{timer}_{step}"
            callbacks.append(
                f"{{id: {name}, node: {node()}, subscription: {{topic: {way[-1]}}}{extras()}, "
                f"publishes: [{name}]}}"
            )
            way.append(name)
        ways.append(way)
    if len(ways) > 1 and draw(st.booleans()):
        topics = f"{ways[0][-1]}, {ways[1][-1]}"
        callbacks.append(f"{{id: s, node: {node()}, sync: {{topics: [{topics}]}}{extras()}}}")
        ways[0].append("s")
        if draw(st.booleans()):
            ways[1].append("s")
    for number, way in enumerate(ways):
        deadline = f", deadline_ms: {draw(st.integers(1, 40))}" if draw(st.booleans()) else ""
        priority = draw(st.integers(0, 5))
        chains.append(
            f"{{id: chain{number}, callbacks: [{', '.join(way)}], priority: {priority}{deadline}}}"
        )
    return load(
        "rclrt: 1\nname: random\nexecutors:\n"
        + "".join(f"  - {{name: core{number}, cpus: [{number}]}}\n" for number in range(executors))
        + "nodes:\n"
        + "".join(
            f"  - {{name: n{number}, executor: core{number}}}\n" for number in range(executors)
        )
        + "callbacks:\n"
        + "".join(f"  - {callback}\n" for callback in callbacks)
        + "chains:\n"
        + "".join(f"  - {chain}\n" for chain in chains)
    )


def machines() -> st.SearchStrategy[Any]:
    """Overheads of up to half a millisecond each, and of up to one of the messages."""
    time = st.integers(0, 5).map(lambda tenths: tenths * 100_000)
    hop = st.tuples(time, time).map(lambda times: (min(times), sum(times)))
    return st.builds(
        rclrt_analysis.Overheads,
        dispatch_ns=st.sampled_from([0, 50_000]),
        timer_jitter_ns=time,
        scheduler_ns=st.sampled_from([0, 50_000]),
        polling_ns=st.sampled_from([0, 50_000]),
        background_ns=st.sampled_from([0, 50_000]),
        near_hop_ns=st.just((0, 0)) | hop,
        far_hop_ns=hop,
    )


def load(text: str) -> Any:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "app.yaml"
        path.write_text(text)
        return rclrt_model.load(path)


def priorities(application: Any) -> list[int]:
    return [application.effective_priority(index) for index in range(len(application.callbacks))]


@CAREFUL
@given(applications())
def test_synthesis_never_lowers_a_priority_and_is_idempotent(application: Any) -> None:
    once = [value for value, _ in rclrt_analysis.synthesize_priorities(application)]
    assert all(new >= old for new, old in zip(once, priorities(application), strict=True))
    made = rclrt_analysis.with_priorities(application, once)
    assert [value for value, _ in rclrt_analysis.synthesize_priorities(made)] == once


@CAREFUL
@given(applications(), st.sampled_from(["given", "rate", "deadline", "picas"]))
def test_what_leads_to_a_sync_is_no_less_urgent_than_the_chain_it_is_for(
    application: Any, source: str
) -> None:
    found = [value for value, _ in rclrt_analysis.synthesize_priorities(application, source)]
    ids = [callback.id for callback in application.callbacks]
    if "s" not in ids or source == "picas":
        return
    sync = ids.index("s")
    for index in range(len(ids)):
        if sync in application.successors(index):
            assert found[index] >= found[sync]


@CAREFUL
@given(applications(), st.integers(1, 6))
def test_merging_levels_keeps_the_order_and_lowers_nothing(application: Any, most: int) -> None:
    before = priorities(application)
    after, merged = rclrt_analysis.compress_levels(application, before, most)
    assert len(set(after)) <= most
    assert len(set(before)) - len(set(after)) == len(merged)
    pairs = sorted(zip(before, after, strict=True))
    assert all(new >= old for old, new in pairs)
    assert [new for _, new in pairs] == sorted(new for _, new in pairs)


@settings(CAREFUL, max_examples=int(os.environ.get("RCLRT_COUNTER_EXAMPLES", "150")))
@given(
    applications() | applications(executors=2),
    st.sampled_from(EXECUTORS),
    st.just(rclrt_analysis.Overheads()) | machines(),
)
def test_every_counter_example_replays_and_refutes_no_proof(
    application: Any, executor: str, machine: Any
) -> None:
    bounds = rclrt_analysis.chain_bounds(application, executor, machine)
    everything = [True] * len(application.chains)
    found = rclrt_analysis.search_schedules(
        application, executor, everything, overheads=machine, instances=20_000
    )
    for chain, bound, example, closest in zip(
        application.chains, bounds, found.examples, found.closest, strict=True
    ):
        assert (closest > 1) == (example is not None)
        if example is None:
            continue
        assert bound.verdict != "proved"
        assert example.response_ns > chain.deadline_ns
        assert rclrt_analysis.replay(application, example) == example.response_ns
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "miss.yaml"
            path.write_text(rclrt_analysis.counter_example_text(example, application))
            read = rclrt_analysis.load_counter_example(path, application)
        assert rclrt_analysis.replay(application, read) == example.response_ns


@CAREFUL
@given(applications())
def test_an_application_that_is_written_is_read_again(application: Any) -> None:
    assert load(rclrt_model.to_yaml(application)) == application


@settings(CAREFUL, max_examples=15)
@given(applications())
def test_an_assignment_is_what_it_says_and_never_worse(application: Any) -> None:
    found = rclrt_analysis.assign(application, [0], evaluations=60)
    assert found.after.not_proved <= found.before.not_proved
    bounds = rclrt_analysis.chain_bounds(load(rclrt_model.to_yaml(found.application)))
    unproved = [bound for bound in bounds if bound.verdict not in ("proved", "conditional")]
    assert len(unproved) == found.after.not_proved


@settings(CAREFUL, max_examples=25)
@given(applications())
def test_a_margin_holds_and_the_next_nanosecond_does_not(application: Any) -> None:
    found = rclrt_analysis.sensitivity(application)
    limit = found.factor.limit
    if limit is None:
        return
    proved = [bound.verdict for bound in rclrt_analysis.chain_bounds(application)]
    holds = all(verdict in ("proved", "conditional") for verdict in proved)
    assert holds == (limit >= 1_000_000)


TASKS = st.lists(
    st.tuples(st.integers(1, 6), st.integers(6, 30), st.integers(3, 30), st.integers(0, 6)),
    min_size=1,
    max_size=5,
)


@CAREFUL
@given(TASKS, st.sampled_from(["fp_preemptive", "fp_nonpreemptive", "edf", "edf_nonpreemptive"]))
def test_a_refuted_task_misses_in_its_schedule_and_a_proved_one_never(
    numbers: list[tuple[int, int, int, int]], policy: str
) -> None:
    tasks = [
        rclrt_analysis.Task(wcet, period, deadline, jitter=jitter, priority=len(numbers) - index)
        for index, (wcet, period, deadline, jitter) in enumerate(numbers)
    ]
    result = rclrt_analysis.analyse_tasks(tasks, policy)
    found = rclrt_analysis.find_task_counter_examples(
        tasks, policy, [answer.schedulable != "yes" for answer in result.tasks]
    )
    for task, example in zip(tasks, found, strict=True):
        if example is not None:
            assert example.response > task.deadline
            assert rclrt_analysis.replay_tasks(tasks, policy, example) == example.response
    everything = rclrt_analysis.find_task_counter_examples(tasks, policy, [True] * len(tasks))
    for answer, example in zip(result.tasks, everything, strict=True):
        assert example is None or answer.schedulable != "yes"

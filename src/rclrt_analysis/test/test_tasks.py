# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rclrt_analysis
from rclrt_analysis import Task, analyse_tasks

settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

POLICIES = [
    "fp_preemptive",
    "fp_nonpreemptive",
    "fp_limited_preemptive",
    "edf",
    "edf_nonpreemptive",
]


@st.composite
def task_sets(draw: st.DrawFn) -> list[Task]:
    return [
        Task(
            draw(st.integers(1, 10)),
            draw(st.integers(5, 60)),
            draw(st.integers(5, 90)),
            jitter=draw(st.integers(0, 5)),
            blocking=draw(st.integers(0, 5)),
            priority=draw(st.integers(0, 4)),
        )
        for _ in range(draw(st.integers(1, 5)))
    ]


def changed(task: Task, **new: int) -> Task:
    values = {
        name: getattr(task, name)
        for name in ("wcet", "period", "deadline", "jitter", "blocking", "priority")
    }
    return Task(**{**values, **new})


def test_published_responses_reach_python() -> None:
    # Lehoczky 1990, example 3.
    result = analyse_tasks([Task(26, 70, priority=2), Task(62, 100, priority=1)])
    assert [task.response for task in result.tasks] == [26, 118]
    assert result.schedulable == "no"


def test_an_unknown_policy_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match="expected fp_preemptive"):
        analyse_tasks([Task(1, 2)], "fifo")


@given(task_sets(), st.sampled_from(POLICIES), st.data())
def test_more_work_jitter_or_blocking_never_shortens_a_response(
    tasks: list[Task], policy: str, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(tasks) - 1))
    name = data.draw(st.sampled_from(["wcet", "jitter", "blocking"]))
    more = list(tasks)
    more[index] = changed(tasks[index], **{name: getattr(tasks[index], name) + 1})
    for before, after in zip(
        analyse_tasks(tasks, policy).tasks, analyse_tasks(more, policy).tasks, strict=True
    ):
        if after.response is not None:
            assert before.response is not None
            assert before.response <= after.response


@given(task_sets())
def test_what_the_demand_test_accepts_has_responses_within_the_deadlines(
    tasks: list[Task],
) -> None:
    result = analyse_tasks(tasks, "edf")
    if rclrt_analysis.edf_demand_test(tasks) == "yes":
        assert all(task.schedulable == "yes" for task in result.tasks)


@given(task_sets())
def test_edf_accepts_what_fixed_priorities_accept(tasks: list[Task]) -> None:
    plain = [changed(task, blocking=0) for task in tasks]
    if analyse_tasks(plain, "fp_preemptive").schedulable == "yes":
        assert analyse_tasks(plain, "edf").schedulable == "yes"

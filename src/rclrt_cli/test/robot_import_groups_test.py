# SPDX-License-Identifier: Apache-2.0
"""`rclrt robot import`: each group and thread gets its own settings, or is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cie_files import CURRENT, converted, problems, settings
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.robots.kernel_scale import KernelScale
from rclrt_py.testing.command import Rclrt


def test_a_thread_between_two_levels_gets_the_priority_of_the_lower_one() -> None:
    made = converted(CURRENT.replace("priority: 95", "priority: 85"))
    assert "priority: 89, cpus: [1]}" in made.text
    (lost,) = (each for each in made.remarks if "between or below those" in each.text)
    assert lost.lost


@given(st.sets(st.integers(1, 99)), st.integers(1, 99))
def test_the_scale_keeps_the_order(levels: set[int], thread: int) -> None:
    scale = KernelScale(levels)
    found = [scale.of_level(each) for each in sorted(levels)]
    assert found == sorted(set(found))
    assert all(each < scale.top <= 95 for each in found)
    priority, in_order = scale.of_thread(thread)
    if in_order and all(each >= 1 for each in found) and priority >= 1:
        for level in levels:
            there = (thread > level) - (thread < level)
            here = (priority > scale.of_level(level)) - (priority < scale.of_level(level))
            assert there == here


def test_a_name_that_groups_share_comes_first_so_that_it_counts_for_no_other_group() -> None:
    made = converted(
        "callback_groups:\n"
        "  - {id: /a@Timer(5000000)@Subscription(/b), policy: SCHED_FIFO, priority: 40}\n"
        "  - {id: /a@Timer(5000000), policy: SCHED_FIFO, priority: 3}\n"
        "  - {id: /a@Timer(5000000)@Subscription(/normal), policy: SCHED_OTHER, nice: 0}\n"
    )
    assert settings(made.text)[3:] == [
        "- {node: /a, timer_period_ms: 5, whole_group: true, priority: 3}",
        "- {node: /a, subscription: /b, whole_group: true, priority: 40}",
        "- {node: /a, subscription: /normal, whole_group: true, priority: 0}",
    ]
    assert made.remarks == []


def test_groups_that_nothing_tells_apart_are_not_written_and_not_silent() -> None:
    made = converted(
        "callback_groups:\n"
        "  - {id: /a@Client(/x)@Client(/y), policy: SCHED_FIFO, priority: 80}\n"
        "  - {id: /a@Client(/x)@Client(/z), policy: SCHED_FIFO, priority: 10}\n"
        "  - {id: /a@Client(/y)@Client(/z), policy: SCHED_OTHER, nice: 0}\n"
        "  - {id: /a, policy: SCHED_FIFO, priority: 6}\n"
    )
    assert "callbacks:" not in settings(made.text)
    assert [each.line for each in made.remarks if each.lost] == [2, 3, 5]


@given(
    st.lists(
        st.tuples(st.sets(st.sampled_from("wxyz"), min_size=1), st.integers(0, 9)),
        min_size=1,
        max_size=6,
        unique_by=lambda group: tuple(sorted(group[0])),
    )
)
def test_each_group_has_its_priority_or_is_named(groups: list[tuple[set[str], int]]) -> None:
    """The last entry for a whole group that matches it counts."""
    lines = []
    for names, priority in groups:
        callbacks = "".join(f"@Client(/{each})" for each in sorted(names))
        policy = f"SCHED_FIFO, priority: {priority}" if priority else "SCHED_OTHER, nice: 0"
        lines.append(f"  - {{id: /a{callbacks}, policy: {policy}}}\n")
    made = converted("callback_groups:\n" + "".join(lines))
    lost = {each.line for each in made.remarks if each.lost}
    entries = [
        (found[1], int(found[2]))
        for found in re.finditer(r"client: /(.), whole_group: true, priority: (\d+)", made.text)
    ]
    for line, (names, priority) in enumerate(groups, 2):
        winning = [value for name, value in entries if name in names]
        assert line in lost or (winning or [0])[-1] == priority


def test_of_entries_with_one_id_the_last_counts_as_for_the_configurator() -> None:
    made = converted(
        "callback_groups:\n"
        "  - {id: /a@Timer(5000000), policy: SCHED_FIFO, priority: 3}\n"
        "  - {id: /a@Timer(5000000)@Waitable, policy: SCHED_FIFO, priority: 4}\n"
    )
    assert settings(made.text)[3:] == [
        "- {node: /a, timer_period_ms: 5, whole_group: true, priority: 4}"
    ]
    assert [(each.line, each.lost) for each in made.remarks] == [(2, False)]


def test_more_levels_than_the_kernel_has_are_an_error_of_the_file() -> None:
    groups = "".join(
        f"  - {{id: /a@Timer({each}), policy: SCHED_FIFO, priority: {each}}}\n"
        for each in range(1, 100)
    )
    assert problems("callback_groups:\n" + groups) == [
        "cie.yaml: the callback groups have 99 different priorities of SCHED_FIFO; expected at "
        "most 94, because the levels of an executor are below its top_priority, here 95"
    ]


def test_a_name_that_the_kernel_cuts_within_a_character_is_matched_by_its_beginning() -> None:
    made = converted("non_ros_threads: [{id: éééééééé, policy: SCHED_FIFO, priority: 99}]\n")
    assert settings(made.text)[2:] == [
        "threads:",
        '- {name: "ééééééé*", policy: fifo, priority: 98}',
    ]
    (lost,) = (each.text for each in made.remarks if each.lost)
    assert lost == "priority 99: the highest priority of a rule is lower; the thread gets 98"


def test_names_that_the_kernel_cuts_to_one_are_not_silent() -> None:
    made = converted(
        "non_ros_threads:\n"
        "  - {id: camera_grabber_left, policy: SCHED_OTHER, nice: 1}\n"
        "  - {id: camera_grabber_right, policy: SCHED_OTHER, nice: 2}\n"
    )
    assert settings(made.text)[2:] == [
        "threads:", "- {name: camera_grabber_, policy: other, nice: 1}"
    ]  # fmt: skip
    assert [each.line for each in made.remarks if each.lost] == [3]


@pytest.mark.parametrize(
    ("right", "wrong", "place"),
    [
        ("callback_groups:", "callback_group:", "5:1"),
        ("non_ros_threads:", "non_ros_thread:", "20:1"),
        ("affinity: [1, 0]", "affinty: [1, 0]", "13:5"),
        ("affinity: [1]", "affinitys: [1]", "24:5"),
    ],
)
def test_a_key_with_a_typing_error_is_a_mistake(
    rclrt: Rclrt, tmp_path: Path, right: str, wrong: str, place: str
) -> None:
    file, out = tmp_path / "cie.yaml", tmp_path / "robot.yaml"
    file.write_text(CURRENT.replace(right, wrong, 1))
    answer = rclrt("robot", "import", file, "-o", out)
    assert answer.code == 2
    stated, meant = (each.partition(":")[0] for each in (wrong, right))
    assert f"{file}:{place}: '{stated}' is no key of " in answer.err
    assert f"; did you mean '{meant}'?" in answer.err
    assert not out.exists()


def test_an_unknown_key_is_not_carried_over(rclrt: Rclrt, tmp_path: Path) -> None:
    """It may be of a newer version, so the rest is converted."""
    file, out = tmp_path / "cie.yaml", tmp_path / "robot.yaml"
    file.write_text(CURRENT + "    colour: red\nversion: 7\n")
    answer = rclrt("robot", "import", file, "-o", out)
    assert answer.code == 1
    end = CURRENT.count("\n")
    said = "not carried over: '{}' is no key of {}; its value has no effect"
    assert f"{file}:{end + 1}:5: {said.format('colour', 'an entry')}" in answer.err
    assert f"{file}:{end + 2}:1: {said.format('version', 'this format')}" in answer.err
    assert "settings not carried over: 2" in answer.out
    assert f"#   line {end + 2}: 'version' is no key" in out.read_text()


@pytest.mark.parametrize("text", ["callback_groups:\nnon_ros_threads:\n", "callback_groups: []\n"])
def test_a_file_without_an_entry_is_refused(text: str) -> None:
    assert problems(text) == [
        "cie.yaml:1:1: the file has no entry, so there is nothing to convert; expected an entry in "
        "callback_groups or non_ros_threads"
    ]

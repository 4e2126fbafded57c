# SPDX-License-Identifier: Apache-2.0
"""`rclrt robot import`: configurations of callback_isolated_executor become a robot.yaml."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cie_files import AGNOCAST, CURRENT, EARLY, converted, one_group, problems, settings
from hypothesis import given
from hypothesis import strategies as st
from rclrt_py.errors import BadInput
from rclrt_py.robots.cie import read_cie
from rclrt_py.robots.from_cie import robot_from_cie
from rclrt_py.testing.command import Rclrt

import rclrt_model


def test_groups_threads_and_their_scheduling_are_carried_over() -> None:
    made = converted(CURRENT)
    assert settings(made.text) == [
        "rclrt: 1",
        "executor: {kind: preemptive, top_priority: 91, best_effort_below: 1, cpus: [0, 1]}",
        "callbacks:",
        "- {node: /front/camera, subscription: /front/image, whole_group: true, priority: 90}",
        "- {node: /front/camera, timer_period_ms: 33.333333, whole_group: true, priority: 80}",
        "threads:",
        "- {name: frame_grabber, policy: fifo, priority: 95, cpus: [1]}",
    ]
    assert [each.line for each in made.remarks] == [1, 10, 21]
    assert [each.lost for each in made.remarks] == [False, False, False]
    assert "#   model_name: Some(R) CPU @ 2.40GHz\n" in made.text
    assert "# Groups with normal scheduling, which need no entry: 1.\n" in made.text
    assert "#   90: 90\n#   80: 89\n" in made.text
    (warning,) = made.warnings
    assert warning.endswith(
        "; add {name: middleware, policy: fifo, priority: 92} as the first rule under threads"
    )


def test_the_timer_and_the_group_are_those_that_the_reader_understands(tmp_path: Path) -> None:
    file = tmp_path / "robot.yaml"
    file.write_text(converted(CURRENT).text)
    first, second = rclrt_model.load_node_timings(file)
    assert (first.kind, first.name, first.whole_group) == ("subscription", "/front/image", True)
    assert (second.kind, second.period_ns, second.whole_group) == ("timer", 33_333_333, True)


def test_files_of_early_releases_have_the_nice_value_in_priority() -> None:
    made = converted(EARLY)
    assert settings(made.text)[1:] == [
        "executor: {kind: preemptive, top_priority: 41, best_effort_below: 1}",
        "callbacks:",
        "- {node: /plan, client: /map/get, whole_group: true, priority: 40}",
    ]
    lost = [(each.line, each.text) for each in made.remarks if each.lost]
    assert [line for line, _ in lost] == [2, 6]
    assert "SCHED_RR is SCHED_FIFO here" in lost[0][1]
    assert "SCHED_BATCH with nice -5" in lost[1][1]


def test_reservations_and_domains_of_agnocast_are_carried_over() -> None:
    made = converted(AGNOCAST, 3)
    assert settings(made.text)[1:] == [
        "executor: {kind: preemptive, top_priority: 2, best_effort_below: 1, "
        "reservations: [{priority: 101, runtime_ms: 5, deadline_ms: 40, period_ms: 50}, "
        "{priority: 102, runtime_ms: 0.1, deadline_ms: 1, period_ms: 1.000001}]}",
        "callbacks:",
        "- {node: /fuse, subscription: /points, whole_group: true, priority: 101}",
        "- {node: /fuse, timer_period_ms: 1.000001, whole_group: true, priority: 102}",
        "threads:",
        '- {name: "spin \\\\[\\\\*]", policy: deadline, runtime_ms: 0.001024, '
        "deadline_ms: 0.002048, period_ms: 0.004096}",
        '- {name: "[m]iddleware", policy: other, nice: 5}',
    ]
    texts = " ".join(each.text for each in made.remarks)
    assert "ROS_DOMAIN_ID=3" in texts
    assert "rt_throttling is not part of a robot.yaml" in texts
    assert "affinity [2]: an executor with a budget" in texts
    assert "affinity [0]: a thread under SCHED_DEADLINE" in texts
    with pytest.raises(BadInput, match=r"ROS domains 3, 4; choose one with --domain"):
        converted(AGNOCAST)
    with pytest.raises(BadInput, match=r"--domain 5: no callback group"):
        converted(AGNOCAST, 5)


def test_several_processes_get_one_file_with_one_scale() -> None:
    text = CURRENT + "  - {id: radio, policy: SCHED_OTHER, nice: 3}\n"
    arm = "  - {id: /arm@Timer(1000000), policy: SCHED_FIFO, priority: 85}\n"
    text = text.replace("callback_groups:\n", f"callback_groups:\n{arm}")
    made = converted(text, eyes=["/front/camera", "frame_grabber"], arm=["/arm", "radio"])
    host = settings(made.text)
    assert host.count("executor: {kind: preemptive, top_priority: 91, best_effort_below: 1}") == 1
    assert host[:3] == ["rclrt: 1", "processes:", "- name: eyes"]
    assert host[host.index("- name: arm") :] == [
        "- name: arm",
        "executor: {kind: preemptive, top_priority: 91, best_effort_below: 1}",
        "callbacks:",
        "- {node: /arm, timer_period_ms: 1, whole_group: true, priority: 85}",
        "threads:",
        "- {name: radio, policy: other, nice: 3}",
    ]
    assert "#   90: 90\n#   85: 89\n#   80: 88\n" in made.text
    with pytest.raises(BadInput, match=r"--process: radio \(line \d+\) of cie.yaml is in no"):
        converted(text, eyes=["/front/camera", "frame_grabber"], arm=["/arm"])
    assert '- name: "off"' in converted(EARLY, off=["/plan", "/log"]).text
    with pytest.raises(BadInput, match=r"--process a: cie.yaml has no node or thread '/none'"):
        converted(EARLY, a=["/plan", "/log", "/none"])


def test_cpus_that_differ_within_a_process_are_not_carried_over() -> None:
    made = converted(CURRENT.replace("[1, 0]", "[1]"))
    assert "cpus: [1]}" not in settings(made.text)[1]
    lost = [each.line for each in made.remarks if "run on the 'cpus' of its executor" in each.text]
    assert lost == [10, 14]


def test_a_period_of_0_is_the_deadline() -> None:
    made = converted(
        one_group(
            "id: /a@Timer(5000000)",
            "policy: SCHED_DEADLINE",
            "runtime: 2000",
            "deadline: 4000",
            "period: 0",
        )
    )
    assert "runtime_ms: 0.002, deadline_ms: 0.004, period_ms: 0.004" in made.text


@pytest.mark.parametrize("breaker", ["\u2028", "\u2029", "\u0085"])
def test_no_character_of_the_file_ends_a_comment(breaker: str) -> None:
    made = converted(
        f'hardware_info: {{"a": "x{breaker}write_priorities: /evil"}}\n'.replace(
            breaker, f"\\u{ord(breaker):04x}"
        )
        + one_group("id: /a", "policy: SCHED_OTHER", "nice: 0")
    )
    assert breaker not in made.text
    assert "write_priorities" not in " ".join(settings(made.text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2]", "cie.yaml:1:1: the file is a list; expected callback_groups: and non_ros"),
        ("", "cie.yaml: is empty; expected callback_groups: and non_ros_threads:"),
        ("a: 1\n", "cie.yaml:1:1: the file has neither callback_groups nor non_ros_threads;"),
        ("callback_groups: 3\n", "cie.yaml:1:18: callback_groups is '3'; expected a list"),
        ("callback_groups: [3]\n", "cie.yaml:1:19: the entry is '3'; expected a mapping"),
        (
            one_group("policy: SCHED_OTHER", "priority: 0"),
            "cie.yaml:2:5: the entry has no id; expected id: /node@Subscription(/topic)",
        ),
        (
            one_group("id: /a@Timer(1)", "priority: 0"),
            "cie.yaml:2:5: the entry has no policy; expected policy: SCHED_OTHER",
        ),
        (
            one_group("id: /a@Timer(1)", "policy: FIFO", "priority: 0"),
            "cie.yaml:3:13: policy is 'FIFO'; expected one of SCHED_OTHER, SCHED_BATCH,",
        ),
        (
            one_group("id: /a@Timer(1)", "policy: SCHED_FIFO", "priority: 100"),
            "cie.yaml:4:15: priority is '100'; expected 1 to 99",
        ),
        (
            one_group("id: /a@Timer(1)", "policy: SCHED_FIFO"),
            "cie.yaml:2:5: the entry has no priority; expected priority: 1 to 99",
        ),
        (
            one_group("id: /a@Timer(1)", "policy: SCHED_OTHER", "nice: 20"),
            "cie.yaml:4:11: nice is '20'; expected -20 to 19",
        ),
        (
            one_group("id: /a@Timer(1)", "policy: SCHED_OTHER", "nice: 0", "affinity: [-1]"),
            "cie.yaml:5:16: a CPU is '-1'; expected 0 to 1023",
        ),
        (
            one_group("id: /a@Timer(1)", "policy: SCHED_OTHER", "nice: 0", "affinity: 1"),
            "cie.yaml:5:15: affinity is '1'; expected a list of CPUs, or ~ for all",
        ),
        (
            one_group("id: /a@Timer(1)", "policy: SCHED_DEADLINE", "runtime: 9", "period: 9"),
            "cie.yaml:2:5: the entry has no deadline; expected deadline: 1024 to 3600000000000",
        ),
        (
            one_group(
                "id: /a@Timer(1)",
                "policy: SCHED_DEADLINE",
                "runtime: 5000",
                "deadline: 4000",
                "period: 6000",
            ),
            "cie.yaml:2:5: runtime 5000, deadline 4000 and period 6000 are not in order;",
        ),
        (
            one_group("id: a@Timer(1)", "policy: SCHED_OTHER", "nice: 0"),
            "cie.yaml:2:9: the node in the id is 'a@Timer(1)'; expected a fully qualified name",
        ),
        (
            one_group("id: /a@Subscription(/b c)", "policy: SCHED_OTHER", "nice: 0"),
            "cie.yaml:2:9: the id is '/a@Subscription(/b c)'; expected /node@Subscription(/topic)",
        ),
        (
            one_group('id: "/a@Timer($(reboot))"', "policy: SCHED_OTHER", "nice: 0"),
            "cie.yaml:2:9: the id is '/a@Timer($(reboot))'; expected /node@Subscription(/topic)",
        ),
        (
            'non_ros_threads: [{id: "a\\nb", policy: SCHED_OTHER, nice: 0}]\n',
            "cie.yaml:1:24: the id is 'a\N{REPLACEMENT CHARACTER}b'; expected a name without",
        ),
        ("a: &b 1\ncallback_groups: *b\n", "cie.yaml:1:4: "),
        ("callback_groups: [\n", "cie.yaml:2:1: "),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, expected: str) -> None:
    assert problems(text)[0].startswith(expected)


def test_all_mistakes_are_named_but_not_thousands_of_them() -> None:
    text = "callback_groups:\n" + "  - {id: x}\n" * 1000
    found = problems(text)
    assert found[0].startswith("cie.yaml:2:5: the entry has no policy")
    assert len(found) == 21
    assert found[-1] == "... and 1980 more"


def test_what_is_ignored_is_named() -> None:
    made = converted(
        one_group(
            "id: /a@Timer(1000000)", "policy: SCHED_FIFO", "priority: 5", "nice: 1", "colour: 2"
        )
        + "version: 7\n"
    )
    assert [(each.line, each.column, each.lost) for each in made.remarks] == [
        (5, 5, False), (6, 5, True), (7, 1, True)
    ]  # fmt: skip
    assert "nice has no meaning with SCHED_FIFO" in made.remarks[0].text


@given(st.binary(max_size=300))
def test_any_bytes_give_a_file_or_a_located_error(content: bytes) -> None:
    for text in (content, CURRENT.encode()[:150] + content, AGNOCAST.encode()[-200:] + content):
        problem = "cie.yaml:"
        try:
            robot_from_cie(read_cie(text, "cie.yaml"), {})
        except BadInput as error:
            problem = str(error)
        assert problem.startswith("cie.yaml:")


@given(st.text(max_size=40))
def test_any_name_of_a_thread_is_a_name_and_nothing_else(name: str) -> None:
    text = "non_ros_threads: [{policy: SCHED_OTHER, nice: 1, id: " + json.dumps(name) + "}]\n"
    try:
        made = converted(text)
    except BadInput:
        return
    lines = settings(made.text)
    assert lines[:3] == ["rclrt: 1", "executor: {kind: preemptive, top_priority: 2, "
                         "best_effort_below: 1}", "threads:"]  # fmt: skip
    assert len(lines) == 4
    assert lines[3].endswith(", policy: other, nice: 1}")


def test_the_command_writes_the_file_and_says_what_is_lost(rclrt: Rclrt, tmp_path: Path) -> None:
    source, out = tmp_path / "cie.yaml", tmp_path / "robot.yaml"
    source.write_text(CURRENT)
    answer = rclrt("robot", "import", source, "-o", out)
    assert answer.code == 0
    assert answer.out == f"{out}: groups: 3, other threads: 1\n"
    assert f"{source}:1:1: note: hardware_info becomes a comment" in answer.err
    assert out.read_text() == robot_from_cie(read_cie(CURRENT.encode(), str(source)), {}).text
    again = rclrt("robot", "import", source, "-o", out)
    assert again.code == 2
    assert f"-o {out}: exists already, and is not overwritten" in again.err
    source.write_text(CURRENT.replace("SCHED_FIFO", "SCHED_RR"))
    lossy = rclrt("robot", "import", source, "-o", "-")
    assert lossy.code == 1
    assert f"{source}:10:5: not carried over: SCHED_RR is SCHED_FIFO here" in lossy.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.yaml", "-o", "new.yaml"], "absent.yaml: No such file or directory; expected"),
        (["cie.yaml"], "the following arguments are required: -o/--out"),
        (["cie.yaml", "-o", "new.yaml", "--process", "a b=/x"], "'a b=/x' is no process;"),
        (["cie.yaml", "-o", "new.yaml", "--process", "a=/x,"], "'a=/x,' is no process;"),
        (
            ["cie.yaml", "-o", "new.yaml", "--process", "a=/x", "--process", "b=/x"],
            "--process b: '/x' is in process a already",
        ),
        (["cie.yaml", "-o", "new.yaml", "--domain", "233"], "'233' is no ROS domain; expected"),
        (["broken.yaml", "-o", "new.yaml"], "broken.yaml:2:5: the entry has no policy"),
        (["cie.yaml", "-o", "none/new.yaml"], "none is no directory; make it first"),
    ],
)
def test_bad_input_writes_nothing(
    rclrt: Rclrt,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cie.yaml").write_text(EARLY)
    Path("broken.yaml").write_text("callback_groups:\n  - {id: /a@Timer(1)}\n")
    answer = rclrt("robot", "import", *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert sorted(each.name for each in tmp_path.iterdir()) == ["broken.yaml", "cie.yaml"]

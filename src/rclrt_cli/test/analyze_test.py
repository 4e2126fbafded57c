# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze` on task sets, and its warnings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_cli.main import main

BURNS_AND_WELLINGS = """\
rclrt: 1
policy: fp_preemptive
tasks:
  - {id: a, c: 3, t: 7}
  - {id: b, c: 3, t: 12}
  - {id: c, c: 5, t: 20}
"""


def analyze(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, *options: str
) -> tuple[int, str, str]:
    file = tmp_path / "tasks.yaml"
    file.write_text(text)
    code = main(["analyze", str(file), *options])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_schedulable_set_is_a_yes_with_its_responses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = analyze(tmp_path, capsys, BURNS_AND_WELLINGS, "--json")
    result = json.loads(out)
    assert code == 0
    assert [task["response"] for task in result["tasks"]] == [3, 6, 20]
    assert all(task["schedulable"] for task in result["tasks"])
    assert result["verdict"] == "proved"
    assert result["tests"]["liu_layland"] is False


def test_a_miss_is_a_no_and_the_table_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = BURNS_AND_WELLINGS.replace("c: 5, t: 20", "c: 5.5, t: 20")
    code, out, _ = analyze(tmp_path, capsys, text)
    assert code == 1
    line = next(line for line in out.splitlines() if line.startswith("c "))
    # 5.5 + ceil(20.5 / 7) 3 + ceil(20.5 / 12) 3 = 20.5
    assert line.split() == ["c", "20.5", "20", "refuted"]


def test_a_bad_file_is_located(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = analyze(tmp_path, capsys, BURNS_AND_WELLINGS.replace("t: 12", "t: 0"))
    assert code == 2
    assert out == ""
    assert "tasks.yaml:5:22: t is '0'; expected a period above 0" in err


def test_bytes_that_are_no_text_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_bytes(b"rclrt: \xff\xfe\x00")
    assert main(["analyze", str(file)]) == 2
    assert "tasks.yaml:1:" in capsys.readouterr().err


def test_a_batch_has_a_result_for_each_line_and_the_worst_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lehoczky = {
        "rclrt": 1,
        "tasks": [{"id": "a", "c": 26, "t": 70}, {"id": "b", "c": 62, "t": 100}],
    }
    fine = {"rclrt": 1, "policy": "edf", "tasks": [{"id": "a", "c": 2, "t": 5}]}
    file = tmp_path / "sets.jsonl"
    file.write_text(f"{json.dumps(fine)}\n{json.dumps(lehoczky)}\n")
    assert main(["analyze", "--batch", str(file)]) == 1
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [result["line"] for result in results] == [1, 2]
    assert [task["response"] for task in results[1]["tasks"]] == [26, 118]

    file.write_text(f"{{\n{json.dumps(fine)}\n")
    assert main(["analyze", "--batch", str(file)]) == 2
    captured = capsys.readouterr()
    results = [json.loads(line) for line in captured.out.splitlines()]
    assert "error" in results[0]
    assert results[1]["schedulable"] is True
    assert "sets.jsonl:1: in this line:" in captured.err


def test_a_file_or_a_batch_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze"]) == 2
    assert "name either FILE or --batch" in capsys.readouterr().err


EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_an_application_gets_a_bound_and_its_reasons_for_each_chain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = str(EXAMPLES / "fig_5_7" / "app.yaml")
    main(["analyze", app, "--json", "--dispatch-us", "0"])
    result = json.loads(capsys.readouterr().out)
    first = result["chains"][0]
    assert (first["id"], first["bound_ms"], first["verdict"]) == ("tau_1", 2.0, "proved")
    assert first["why"][0] == {"kind": "own", "callback": "c1", "releases": 1, "total_ms": 2.0}
    assert {"id": "c6", "priority": 1} in result["callbacks"]
    assert result["assumptions"]


def test_without_the_time_of_a_dispatch_nothing_is_proved_and_the_table_says_so_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = str(EXAMPLES / "autonomous_vehicle" / "app.yaml")
    condition = "dispatching takes no time (rclrt calibrate measures it; then --overheads FILE)"
    assert main(["analyze", app]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.count(condition) == 1
    assert f"Each bound holds if {condition}." in shown
    assert "conditional" in shown
    assert " proved" not in shown
    assert main(["analyze", app, "--dispatch-us", "0"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert " proved" in shown
    assert "conditional" not in shown
    assert f"dispatch: {condition}." in shown  # an assumption of the model


def test_assumptions_are_numbered_and_those_that_do_not_matter_are_shown_on_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = str(EXAMPLES / "fig_5_7" / "app.yaml")
    main(["analyze", app])
    shown = capsys.readouterr().out
    assert "  1. sched-fifo: the executor's threads run under SCHED_FIFO" in shown
    assert "  2. wcet: no callback takes longer than its wcet_ms" in shown
    assert ". events: " not in shown
    assert "more are about what this application does not have: --assumptions" in shown
    main(["analyze", app, "--assumptions"])
    shown = capsys.readouterr().out
    assert ". events: events keep their shortest interval" in shown
    assert "--assumptions" not in shown
    main(["analyze", app, "--json"])
    found = json.loads(capsys.readouterr().out)["assumptions"]
    ids = [each["id"] for each in found if each["relevant"]]
    assert ids[:3] == ["sched-fifo", "wcet", "executor"]
    assert "events" not in ids
    assert "events" in [each["id"] for each in found]


def test_the_terms_that_are_not_listed_are_counted_with_their_sum(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = str(EXAMPLES / "autonomous_vehicle" / "app.yaml")
    main(["analyze", app, "--dispatch-us", "0", "--json"])
    (logging,) = (
        each for each in json.loads(capsys.readouterr().out)["chains"] if each["id"] == "logging"
    )
    (left,) = logging["why"][4:]
    main(["analyze", app, "--dispatch-us", "0"])
    shown = capsys.readouterr().out
    assert f"{left['total_ms']:g}  1 more term, see --json" in shown


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("rclrt: 1\nnodes: [{name: a}]\ntasks: []\n", id="one key wrong"),
        pytest.param('{"rclrt": 1, "callbacks": [], "tasks": []}', id="as JSON"),
    ],
)
def test_a_broken_application_is_not_taken_for_a_task_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    file = tmp_path / "app.yaml"
    file.write_text(text)
    assert main(["analyze", str(file)]) == 2
    assert "unknown key 'tasks' in the application" in capsys.readouterr().err


def test_the_thesis_tests_are_never_more_than_conditional(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["analyze", str(EXAMPLES / "fig_5_7" / "app.yaml"), "--test", "thesis"]) == 0
    assert "conditional" in capsys.readouterr().out
    assert main(["analyze", str(EXAMPLES / "fig_5_6" / "app.yaml"), "--test", "thesis"]) == 1
    assert "not feasible" in capsys.readouterr().out


def test_picas_bounds_are_those_of_its_authors_beside_the_sound_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The authors' program for the case study, run separately from our formulas, gives these."""
    app = EXAMPLES.parent / "src/rclrt_analysis/test/picas_case_study.yaml"
    assert main(["analyze", str(app), "--test", "picas", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert [chain["bound_ms"] for chain in result["chains"]] == pytest.approx(
        [18.4, 75.6, 63.1, 45.1, 47.9, 378.0, 248.2, 569.7, 421.0, 712.8, 406.8, 794.4]
    )
    assert [chain["verdict"] for chain in result["chains"]] == [
        "conditional" if number in (3, 4, 5, 6) else "unknown" for number in range(1, 13)
    ]
    last = result["chains"][-1]
    assert last["sound_ms"] > last["bound_ms"]  # it is unsafe, and states why
    assert len(last["unsafe"]) == 7
    assert main(["analyze", str(app), "--test", "picas"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["chain", "PiCAS", "ms", "sound", "ms", "deadline", "ms", "verdict"]
    assert any("unsafe: callback 'c3' is as urgent as 'c1'" in line for line in lines)
    assert any("and 3 more reasons, see --json" in line for line in lines)
    shown = lines[lines.index("Every bound assumes:") :]
    assert not any(". events: " in line for line in shown)  # the application has none
    assert "more are about what this application does not have: --assumptions" in shown[-1]


@pytest.mark.parametrize("option", [["--sensitivity"], ["--hop-us", "3"], ["--hops", "same_host"]])
def test_published_tests_have_no_options_of_the_sound_one(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    app = str(EXAMPLES / "fig_5_7" / "app.yaml")
    assert main(["analyze", app, "--test", "picas", *option]) == 2
    assert f"{option[0]}: works only with --test sound" in capsys.readouterr().err


def test_synthesize_writes_the_priorities_of_figure_5_5(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "priorities.yaml"
    assert main(["synthesize", str(EXAMPLES / "fig_5_5" / "app.yaml"), "-o", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "rclrt: 1"
    assert any(line.startswith("  c6: 1  #") for line in lines)
    assert any(line.startswith("  c2: 0  #") for line in lines)
    assert capsys.readouterr().out == ""


def test_a_bad_application_is_located(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "app.yaml"
    file.write_text("rclrt: 1\nname: x\ncallbacks: 3\n")
    assert main(["analyze", str(file)]) == 2
    assert main(["synthesize", str(file)]) == 2
    assert "app.yaml:3:12:" in capsys.readouterr().err


def test_reaction_data_age_and_queues_stand_beside_the_bounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(
        (EXAMPLES / "autonomous_vehicle" / "app.yaml")
        .read_text()
        .replace("subscription: {topic: path}", "subscription: {topic: path, depth: 1}")
        .replace("period_ms: 500}, wcet_ms: 1", "period_ms: 500}, wcet_ms: 600", 1)
    )
    main(["analyze", str(app), "--json", "--no-search"])
    result = json.loads(capsys.readouterr().out)
    chains = {chain["id"]: chain for chain in result["chains"]}
    # 16 from the release, plus a period of 50 if the input changes just after it.
    assert chains["obstacle"]["bound_ms"] == 16
    assert chains["obstacle"]["reaction_ms"] == chains["obstacle"]["data_age_ms"] == 66
    assert chains["logging"]["reaction_ms"] is None
    queues = {queue["id"]: queue for queue in result["queues"]}
    # One released by the scan and one released by the image may be pending.
    assert queues["actuate"] == {"id": "actuate", "pending_bound": 2, "depth": 1, "holds": False}
    assert queues["write_log"]["pending_bound"] is None
    main(["analyze", str(app), "--no-search"])
    shown = capsys.readouterr().out
    assert "actuate: up to 2 instances may wait at once, and the queue keeps 1" in shown
    assert "write_log: an unknown number of instances may wait at once, " in shown
    assert "66  maximum reaction time to a change of the input, and age of data " in shown


def test_under_edf_a_chain_without_deadlines_of_its_callbacks_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
rclrt: 1
name: demo
executors: [{name: main, cpus: [0]}]
nodes: [{name: a}]
callbacks:
  - {id: scan, node: a, timer: {period_ms: 50}, wcet_ms: 1, publishes: [points]}
  - {id: brake, node: a, subscription: {topic: points}, wcet_ms: 1}
chains: [{id: stop, callbacks: [scan, brake], deadline_ms: 20}]
"""
    options = ("--executor", "edf", "--no-search", "--json")
    _, out, err = analyze(tmp_path, capsys, text, *options)
    assert json.loads(out)["executor"] == "edf"
    assert "tasks.yaml: warning: callbacks of chains state no deadline_ms" in err
    assert "(scan, brake)" in err
    stated = text.replace("wcet_ms: 1", "wcet_ms: 1, deadline_ms: 20")
    assert analyze(tmp_path, capsys, stated, *options)[2] == ""
    assert analyze(tmp_path, capsys, text, "--no-search")[2] == ""


SAMPLING = """\
rclrt: 1
name: sampling
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: sense, node: n, timer: {period_ms: 10}, wcet_ms: 2, priority: 1, stores: [x]}
  - {id: act, node: n, timer: {period_ms: 20}, wcet_ms: 1, priority: 2, reads: [x]}
chains: [{id: path, callbacks: [sense, act], max_reaction_ms: 40, max_age_ms: 14}]
"""


def test_a_chain_that_samples_has_both_bounds_and_their_terms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = analyze(tmp_path, capsys, SAMPLING, "--dispatch-us", "0")
    assert code == 0
    lines = out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("cause-effect"))
    # The reaction waits 10 ms for `sense`, which may take 3, then 20 ms for `act`, which takes 1.
    assert [line.split() for line in lines[start + 1 : start + 6]] == [
        ["path", "34", "40", "14", "14", "proved"],
        "10 until sense is released and sees what has happened".split(),
        "3 3 response of path_1".split(),
        "20 10 until act runs and reads the value".split(),
        "1 1 response of path_2".split(),
    ]
    assert max(map(len, lines)) <= 120
    code, out, _ = analyze(tmp_path, capsys, SAMPLING, "--dispatch-us", "0", "--json")
    (chain,) = json.loads(out)["cause_effect_chains"]
    assert (chain["reaction_ms"], chain["age_ms"], chain["verdict"]) == (34, 14, "proved")
    assert sum(term["age_ms"] for term in chain["why"]) == 14


def test_a_bound_above_a_limit_of_a_chain_that_samples_is_a_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SAMPLING.replace("max_age_ms: 14", "max_age_ms: 13")
    code, out, _ = analyze(tmp_path, capsys, text, "--dispatch-us", "0")
    assert code == 1
    assert "the bound on the data age is above the limit, which proves nothing" in out
    assert "feasible: not proved" in out


def test_a_deadline_of_a_chain_that_samples_is_located(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SAMPLING.replace("max_age_ms: 14", "deadline_ms: 14")
    code, out, err = analyze(tmp_path, capsys, text)
    assert (code, out) == (2, "")
    assert "tasks.yaml:8:" in err
    assert "expected 'max_reaction_ms'" in err

# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze --overheads`: the overheads of a machine, and the assumptions about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from measured_overheads import APP, MEASURED
from rclrt_py.testing.command import Rclrt
from sources import ROOT


def analyze(
    tmp_path: Path, rclrt: Rclrt, document: Any, *options: str, app: Path | str = APP
) -> tuple[int, Any, str]:
    file = tmp_path / "overheads.json"
    file.write_text(json.dumps(document))
    answer = rclrt("analyze", app, "--json", "--overheads", file, *options)
    return answer.code, answer.json if answer.out else None, answer.err


def texts(result: Any) -> list[str]:
    return [each["text"] for each in result["assumptions"]]


def test_the_measured_maximum_counts_and_is_called_an_assumption(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    code, result, _ = analyze(tmp_path, rclrt, MEASURED)
    assert code == 0
    assert result["overheads"]["dispatch_us"] == 40
    assert result["overheads"]["timer_lateness_us"] == 300.5
    assert result["overheads"]["hop_us"] == 90
    assert {chain["verdict"] for chain in result["chains"]} == {"proved"}
    assert any("measured maximum" in text for text in texts(result))


TWO_PROCESSES = """
rclrt: 1
name: apart
executors: [{name: one, cpus: [0]}, {name: two, cpus: [1]}]
nodes: [{name: na, executor: one}, {name: nb, executor: two}]
callbacks:
  - {id: a, node: na, timer: {period_ms: 20}, wcet_ms: 1, publishes: [t]}
  - {id: b, node: nb, subscription: {topic: t}, wcet_ms: 1}
chains:
  - {id: both, callbacks: [a, b], priority: 1}
"""


def test_a_message_between_executors_takes_the_hop_of_one_process_or_of_two(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(TWO_PROCESSES)
    _, near, _ = analyze(tmp_path, rclrt, MEASURED, app=app)
    _, said, _ = analyze(tmp_path, rclrt, MEASURED, "--hops", "intra_process", app=app)
    assert near == said
    assert near["overheads"]["hop_us"] == 90
    _, far, _ = analyze(tmp_path, rclrt, MEASURED, "--hops", "same_host", app=app)
    assert far["overheads"]["hop_us"] == 500
    assert far["chains"][0]["bound_ms"] == pytest.approx(near["chains"][0]["bound_ms"] + 0.41)
    assert "executors are processes of this host" in texts(far)
    middleware = "threads: [{name: middleware, policy: fifo, priority: 96}]\n"
    app.write_text(TWO_PROCESSES.replace("{name: two", "{name: two, process: far") + middleware)
    _, stated, _ = analyze(tmp_path, rclrt, MEASURED, app=app)
    assert stated == far


def test_what_the_search_for_a_miss_leaves_out_is_said(tmp_path: Path, rclrt: Rclrt) -> None:
    app, machine = tmp_path / "app.yaml", tmp_path / "overheads.json"
    # 2 ms of work exceed the deadline of 2 ms only because of the background overhead.
    app.write_text(TWO_PROCESSES.replace("priority: 1", "priority: 1, deadline_ms: 2"))
    verdicts = []
    for dispatch_us in (0, 1):
        executors = {"preemptive": {"dispatch_us": dispatch_us}}
        document = {"rclrt": 1, "kind": "overheads", "executors": executors, "background_us": 5}
        machine.write_text(json.dumps(document))
        answer = rclrt("analyze", app, "--overheads", machine)
        assert answer.code == 1
        said = "The search for a miss leaves these overheads out: background."
        verdicts.append(("refuted" in answer.out, said in answer.out))
    assert verdicts == [(False, True), (True, False)]


@pytest.mark.parametrize(("background_us", "has_hint"), [(1701, True), (30, False)])
def test_a_background_with_stalls_of_the_host_is_named_with_the_option_that_leaves_them_out(
    tmp_path: Path, rclrt: Rclrt, background_us: float, has_hint: bool
) -> None:
    file = tmp_path / "overheads.json"
    background = {"n": 9, "p50": 9, "p99": 9, "max": background_us, "max_undisturbed": 9}
    file.write_text(json.dumps({**MEASURED, "background_us": background}))
    answer = rclrt("analyze", APP, "--overheads", file)
    assert ("takes 170.1% of the CPU" in answer.out) == has_hint
    assert ("--overhead-percentile max_undisturbed" in answer.out) == has_hint
    undisturbed = rclrt(
        "analyze", APP, "--overheads", file, "--overhead-percentile", "max_undisturbed"
    )
    assert "leaves them out" not in undisturbed.out


def test_a_hop_that_was_asked_for_and_is_not_stated_is_an_error(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    document = {**MEASURED, "hop_us": {"intra_process": 3}}
    code, _, error = analyze(tmp_path, rclrt, document, "--hops", "same_host")
    assert code == 2
    assert "hop_us.same_host is missing" in error
    answer = rclrt("analyze", APP, "--hops", "same_host")
    assert answer.code == 2
    assert "--hops: selects hop times of an overheads file" in answer.err


def test_a_percentile_makes_every_verdict_conditional(tmp_path: Path, rclrt: Rclrt) -> None:
    code, result, _ = analyze(tmp_path, rclrt, MEASURED, "--overhead-percentile", "p99")
    assert code == 0
    assert result["overheads"]["dispatch_us"] == 5
    assert {chain["verdict"] for chain in result["chains"]} == {"conditional"}
    assert "p99" in result["chains"][0]["assumptions"][-1]


@pytest.mark.parametrize(
    ("measured", "verdict"), [({}, "proved"), ({"machine": {"message_bytes": 2000}}, "proved"),
                              ({"machine": {"message_bytes": 1999}}, "conditional")],
)  # fmt: skip
def test_larger_messages_than_those_that_were_measured_make_verdicts_conditional(
    tmp_path: Path, rclrt: Rclrt, measured: Any, verdict: str
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(f"{TWO_PROCESSES}topics: [{{name: t, size_bytes: 2000}}]\n")
    _, result, _ = analyze(tmp_path, rclrt, MEASURED | measured, app=app)
    assert {chain["verdict"] for chain in result["chains"]} == {verdict}
    text = "a message of 2000 bytes takes no longer than one of 1999"
    said = json.dumps(result)
    assert (text in said) == (verdict == "conditional")


def test_overheads_lengthen_bounds_and_the_command_line_counts_before_the_file(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    _, by_file, _ = analyze(tmp_path, rclrt, MEASURED)
    _, stated, _ = analyze(
        tmp_path, rclrt, MEASURED, "--dispatch-us", "0", "--timer-jitter-us", "0"
    )
    assert by_file["chains"][0]["bound_ms"] > stated["chains"][0]["bound_ms"]


def test_a_scheduler_thread_is_counted_where_there_is_one(tmp_path: Path, rclrt: Rclrt) -> None:
    options = ("--executor", "thread_dispatch")
    _, result, _ = analyze(tmp_path, rclrt, MEASURED, *options)
    _, without, _ = analyze(tmp_path, rclrt, MEASURED, *options, "--scheduler-us", "0")
    assert result["overheads"]["scheduler_us"] == 8
    assert result["chains"][0]["bound_ms"] > without["chains"][0]["bound_ms"]


@pytest.mark.parametrize(("share", "verdict"), [(0.95, "proved"), (0.5, "conditional")])
def test_more_load_than_the_kernel_leaves_to_real_time_threads_is_a_condition(
    tmp_path: Path, rclrt: Rclrt, share: float, verdict: str
) -> None:
    # 61.2 % and the overheads of 40 µs for each instance.
    _, result, _ = analyze(tmp_path, rclrt, {**MEASURED, "rt_bandwidth": {"share": share}})
    assert {chain["verdict"] for chain in result["chains"]} == {verdict}
    assert any(f"no more than {100 * share:.1f} %" in text for text in texts(result))
    conditions = result["chains"][0]["assumptions"]
    assert any("kernel.sched_rt_runtime_us=-1" in text for text in conditions) == (share == 0.5)


def test_a_kernel_that_holds_nobody_back_is_no_assumption(tmp_path: Path, rclrt: Rclrt) -> None:
    _, result, _ = analyze(tmp_path, rclrt, {**MEASURED, "rt_bandwidth": {"share": 1}})
    assert not any("holds them back" in text for text in texts(result))


def test_what_the_file_does_not_state_is_named(tmp_path: Path, rclrt: Rclrt) -> None:
    _, result, _ = analyze(tmp_path, rclrt, MEASURED, "--executor", "edf")
    assert any("timer_lateness_us of edf" in text for text in texts(result))
    assert "dispatch_us of edf" in result["chains"][0]["assumptions"][-1]


def test_hops_and_a_background_that_the_file_does_not_state_are_named_unless_given(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    bare = {"rclrt": 1, "kind": "overheads", "executors": {"preemptive": {"dispatch_us": 20}}}
    file = tmp_path / "overheads.json"
    zero = f"not in {file}, is zero"
    _, result, _ = analyze(tmp_path, rclrt, bare)
    for name in ("timer_lateness_us of preemptive", "hop_us.intra_process", "background_us"):
        assert f"{name}, {zero}" in texts(result)
    _, result, _ = analyze(tmp_path, rclrt, bare, "--hop-us", "50")
    assert f"hop_us.intra_process, {zero}" not in texts(result)
    assert f"background_us, {zero}" in texts(result)


@pytest.mark.parametrize("command", [("analyze", APP), ("run", APP, "--bounds")])
def test_a_percentile_of_no_file_is_refused(
    tmp_path: Path, rclrt: Rclrt, command: tuple[str, ...]
) -> None:
    pytest.importorskip("rclrt_analysis")
    out = ("--executor", "preemptive", "--out", str(tmp_path / "out"))
    more = out if command[0] == "run" else ()
    answer = rclrt(*command, *more, "--overhead-percentile", "p99")
    assert answer.code == 2
    assert "--overhead-percentile p99: there is no file of overheads; add" in answer.err


@pytest.mark.parametrize(
    ("change", "options", "complaint"),
    [
        ({"kind": "results"}, (), "kind is the text 'results'; expected 'overheads'"),
        (
            {"executors": {"preemptive": {"dispatch_us": -1}}},
            (),
            "executors.preemptive.dispatch_us is '-1'; expected a number of microseconds",
        ),
        (
            {"executors": {"preemptive": {"dispatch_us": {"min": 9, "max": 3}}}},
            (),
            "executors.preemptive.dispatch_us.max is '3'; expected no less than min",
        ),
        (
            {"background_us": {"p50": 9, "p99": 3, "max": 10}},
            (),
            "background_us.p99 is '3'; expected no less than p50",
        ),
        ({"rt_bandwidth": {"share": 1.5}}, (), "share is '1.5'; expected a share from 0 to 1"),
        (
            {"background_us": 1.1e9},
            (),
            "background_us is '1100000000.0'; expected a number of microseconds from 0 to "
            "1000000000",
        ),
    ],
)
def test_a_wrong_file_is_located(
    tmp_path: Path,
    rclrt: Rclrt,
    change: dict[str, Any],
    options: tuple[str, ...],
    complaint: str,
) -> None:
    code, _, error = analyze(tmp_path, rclrt, {**MEASURED, **change}, *options)
    assert code == 2
    assert f"{tmp_path / 'overheads.json'}:1:" in error
    assert complaint in error


def test_an_executor_that_the_file_does_not_know_has_conditional_bounds(
    tmp_path: Path, rclrt: Rclrt
) -> None:
    code, result, _ = analyze(tmp_path, rclrt, MEASURED, "--executor", "producer_consumer")
    assert code == 0
    assert {chain["verdict"] for chain in result["chains"]} == {"conditional"}
    condition = f"dispatch_us of producer_consumer, not in {tmp_path / 'overheads.json'}, is zero"
    assert condition in result["chains"][0]["assumptions"][-1]


def test_a_key_that_stands_twice_is_refused(tmp_path: Path, rclrt: Rclrt) -> None:
    file = tmp_path / "overheads.json"
    file.write_text('{"rclrt": 1, "kind": "overheads", "executors": {}, "executors": {}}')
    answer = rclrt("analyze", APP, "--overheads", file)
    assert answer.code == 2
    assert f"{file}:1:52: the key 'executors' is given twice" in answer.err


def test_a_file_without_an_executor_is_refused(tmp_path: Path, rclrt: Rclrt) -> None:
    file = tmp_path / "overheads.json"
    file.write_text('{"rclrt": 1, "kind": "overheads", "executors": {}}')
    answer = rclrt("analyze", APP, "--overheads", file)
    assert answer.code == 2
    assert f"{file}:1:48: executors is " in answer.err
    assert "expected the times of at least one executor" in answer.err
    assert "rclrt calibrate measures them" in answer.err


def test_the_schema_takes_what_is_read() -> None:
    schema = json.loads((ROOT / "schemas" / "overheads.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(MEASURED)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema).validate({**MEASURED, "executors": {}})


ON_FAST_DDS = MEASURED | {"machine": {"rmw": "rmw_fastrtps_cpp"}}
CYCLONE = "rmw_cyclonedds_cpp"


def test_overheads_of_another_middleware_are_refused_with_the_place_and_the_fix(
    tmp_path: Path, rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RMW_IMPLEMENTATION", CYCLONE)
    code, result, err = analyze(tmp_path, rclrt, ON_FAST_DDS)
    assert (code, result) == (2, None)
    assert "overheads.json:1:" in err
    assert "machine.rmw is rmw_fastrtps_cpp" in err
    assert f"expected {CYCLONE}, which RMW_IMPLEMENTATION selects" in err
    assert f"fix: measure on it: RMW_IMPLEMENTATION={CYCLONE} rclrt calibrate -o" in err
    code, _, _ = analyze(tmp_path, rclrt, MEASURED)  # does not state its middleware
    assert code == 0


def test_without_a_selected_middleware_any_file_is_analyzed_but_runs_refuse_all_but_the_default(
    tmp_path: Path, rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RMW_IMPLEMENTATION", raising=False)
    other = MEASURED | {"machine": {"rmw": CYCLONE}}
    code, _, _ = analyze(tmp_path, rclrt, other)
    assert code == 0
    out = tmp_path / "out"
    run = rclrt(
        "run", APP, "--executor", "preemptive", "--seconds", "1",
        "--overheads", tmp_path / "overheads.json", "--out", out,
    )  # fmt: skip
    assert run.code == 2
    assert f"machine.rmw is {CYCLONE}" in run.err
    assert "because RMW_IMPLEMENTATION is not set" in run.err
    assert not out.exists()


@pytest.mark.parametrize("text", ["1e30", "3600000001", "1000000000.1", "-1", "nan", "five"])
@pytest.mark.parametrize("option", ["--dispatch-us", "--hop-us"])
def test_a_time_outside_of_the_range_names_the_range(
    tmp_path: Path, rclrt: Rclrt, option: str, text: str
) -> None:
    answer = rclrt("analyze", tmp_path / "app.yaml", f"{option}={text}")
    assert answer.code == 2
    assert (
        f"argument {option}: '{text}'; expected a number of microseconds from 0 to 1000000000"
        in answer.err
    )


def test_a_time_counts_as_in_a_file_rounded_up_to_a_nanosecond(rclrt: Rclrt) -> None:
    for text, time_us in (("2.5", 2.5), ("2.0001", 2.001), ("1e3", 1000), ("1000000000", 1e9)):
        result = rclrt("analyze", APP, "--dispatch-us", text, "--no-search", "--json").json
        assert result["overheads"]["dispatch_us"] == time_us

# SPDX-License-Identifier: Apache-2.0
"""Bad models, and legal ones at their limits, end in a clear answer: no hang, no crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_cli.main import main

VERBS = (["analyze"], ["analyze", "--sensitivity"], ["assign"])
LONG = "1" * 4000


def application(callbacks: str, chains: str, cpus: str = "0") -> str:
    return (
        f"rclrt: 1\nname: x\nexecutors: [{{name: main, cpus: [{cpus}]}}]\nnodes: [{{name: n}}]\n"
        f"callbacks:\n{callbacks}chains:\n{chains}"
    )


def timer(name: str, period: str, wcet: str) -> str:
    return f"  - {{id: {name}, node: n, timer: {{period_ms: {period}}}, wcet_ms: {wcet}}}\n"


def chain(name: str, first: str) -> str:
    return f"  - {{id: {name}, callbacks: [{first}], priority: 1}}\n"


CYCLE = application(
    timer("a", "5", "1")
    + "  - {id: b, node: n, subscription: {topic: y}, wcet_ms: 1, publishes: [z]}\n"
    + "  - {id: c, node: n, subscription: {topic: z}, wcet_ms: 1, publishes: [y]}\n",
    chain("k", "a"),
)
OVERLOAD = application(
    timer("a", "5", "6") + timer("b", "7", "6"), chain("k", "a") + chain("l", "b")
)
EXTREMES = application(
    timer("a", "0.000001", "0.000001") + timer("b", "3600000", "3600000"),
    chain("k", "a") + chain("l", "b"),
)
MANY_CPUS = application(timer("a", "5", "6"), chain("k", "a"), ",".join(map(str, range(100))))
COPRIME = application(
    "".join(timer(f"c{p}", f"{p}.000001", "1") for p in (11, 13, 17, 19, 23, 29, 31, 37, 41, 43)),
    "".join(chain(f"k{p}", f"c{p}") for p in (11, 13, 17, 19, 23, 29, 31, 37, 41, 43)),
)


def tasks(*entries: str) -> str:
    return f"rclrt: 1\ntasks: [{', '.join(entries)}]\n"


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CYCLE, "the callbacks form a cycle: 'b' -> 'c' -> 'b'"),
        (application(timer("a", "0", "1"), chain("k", "a")), "period_ms is '0'; expected more"),
        (application(timer("a", "1e9", "1"), chain("k", "a")), "period_ms is '1e9'; expected"),
        ("rclrt: 1\ntasks: " + "[" * 100_000, "the nesting is too deep; expected at most 32"),
        (tasks("{id: a, c: .nan, t: 1}"), "c is '.nan'; expected a decimal number"),
        (tasks("{id: a, c: .inf, t: 1}"), "c is '.inf'; expected a decimal number"),
        (tasks(f"{{id: a, c: {LONG}, t: 1}}"), "expected a decimal number"),
        (tasks(f"{{id: a, c: 0.{LONG}, t: 1}}"), "expected a decimal number"),
        (tasks("{id: a, c: 1e999999999, t: 1}"), "c is '1e999999999'"),
        (tasks("{id: a, c: 1, t: 0}"), "t is '0'; expected a period above 0"),
        (tasks(), "tasks is an empty list"),
        ("", "expected"),
        ("tasks", "expected"),
    ],
)
def test_a_bad_model_is_located(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    verb: list[str],
    text: str,
    message: str,
) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(text)
    assert main([verb[0], str(file), *verb[1:]]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "model.yaml:" in captured.err
    assert message in captured.err


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        (OVERLOAD, 1),
        (EXTREMES, 1),
        (MANY_CPUS, 1),
        (COPRIME, 0),
        (tasks("{id: a, c: 999999999999999999, t: 999999999999999999}", "{id: b, c: 1, t: 1}"), 1),
        (tasks("{id: a, c: 1, t: 2}", "{id: b, c: 1, t: 3}", "{id: c, c: 1, t: 7}"), 0),
        (tasks("{id: a, c: 3, t: 2}"), 1),
    ],
    ids=["overload", "extremes", "many CPUs", "coprime", "huge", "nearly full", "more than full"],
)
def test_a_legal_model_at_its_limits_has_an_answer(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    verb: list[str],
    text: str,
    code: int,
) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(text)
    assert main([verb[0], str(file), *verb[1:], "--json"]) == code
    assert json.loads(capsys.readouterr().out)["feasible"] is (code == 0)


def test_a_file_above_the_limit_is_refused_before_it_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "model.yaml"
    with file.open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)  # the size of 1,700,000 callbacks
    for verb in VERBS:
        assert main([verb[0], str(file), *verb[1:]]) == 2
        assert "the file is larger than 16 MiB" in capsys.readouterr().err


def test_a_broken_line_of_a_batch_keeps_no_other_from_its_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "sets.jsonl"
    good = b'{"rclrt": 1, "tasks": [{"id": "a", "c": 1, "t": 2}]}\n'
    too_long = b'{"rclrt": 1, "tasks": [' + b" " * (16 * 1024 * 1024) + b"]}\n"
    file.write_bytes(b"null\n\x00\n{\n[]\n\n" + too_long + good)
    assert main(["analyze", "--batch", str(file)]) == 2
    captured = capsys.readouterr()
    results = [json.loads(line) for line in captured.out.splitlines()]
    assert [result["line"] for result in results] == [1, 2, 3, 4, 6, 7]
    assert all("error" in result for result in results[:-1])
    assert results[-1]["schedulable"] is True
    assert "sets.jsonl:6: in this line:1:1: the file is larger than 16 MiB" in captured.err

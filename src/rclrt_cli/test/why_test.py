# SPDX-License-Identifier: Apache-2.0
"""`rclrt analyze --why`: the terms of bounds in applications with many callbacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_cli.main import main


def many_timers(count: int) -> str:
    """Returns an application of timers, each with a chain; the last one is the least urgent."""
    callbacks = "".join(
        f"  - {{id: t{i}, node: n, wcet_ms: {(i + 1) / 100}, timer: {{period_ms: 1000}}}}\n"
        for i in range(count)
    )
    chains = "".join(
        f"  - {{id: c{i}, callbacks: [t{i}], priority: {1 + (count - i) // 4}}}\n"
        for i in range(count)
    )
    head = "rclrt: 1\nname: many\nexecutors: [{name: e, cpus: [0]}]\nnodes: [{name: n}]\n"
    return f"{head}callbacks:\n{callbacks}chains:\n{chains}"


def test_many_terms_of_a_bound_are_stated_up_to_64_and_on_request_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(many_timers(150))
    options = ["analyze", str(app), "--dispatch-us", "0"]
    main([*options, "--json"])
    (last,) = json.loads(capsys.readouterr().out)["chains"][-1:]
    assert len(last["why"]) == 65
    assert last["why"][-1]["kind"] == "rest"
    assert last["why"][-1]["terms"] == 150 - 64
    total = sum(term["total_ms"] for term in last["why"])
    assert total == pytest.approx(last["bound_ms"], abs=1e-9)
    main([*options, "--json", "--why", "c149"])
    *others, whole = json.loads(capsys.readouterr().out)["chains"]
    assert len(whole["why"]) == 150
    assert whole["why"][:64] == last["why"][:64]
    assert max(len(chain["why"]) for chain in others) == 65
    main(options)
    assert "146 more terms, see --why c149" in capsys.readouterr().out
    main([*options, "--why", "c149"])
    shown = capsys.readouterr().out
    assert "see --why c149" not in shown
    assert "see --why c148" in shown
    assert "  1 release of t0\n" in shown.split("\nc149 ")[1]  # the shortest term


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--why", "c7"], "--why c7: many has no chain with this id; expected one of c0, c1, c2"),
        (["--why", "c1", "--test", "thesis"], "--why: works only with --test sound"),
    ],
)
def test_a_chain_must_exist_if_all_its_terms_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(many_timers(3))
    assert main(["analyze", str(app), *options]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_task_set_has_no_chain_to_explain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_text("rclrt: 1\npolicy: fp_preemptive\ntasks:\n  - {id: a, c: 3, t: 7}\n")
    assert main(["analyze", str(file), "--why", "a"]) == 2
    captured = capsys.readouterr()
    assert "--why: a task set has no chains; name an app.yaml as FILE instead" in captured.err


def test_a_batch_has_no_chain_to_explain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", "--batch", str(tmp_path / "sets.jsonl"), "--why", "a"]) == 2
    assert "--why: has no meaning with --batch" in capsys.readouterr().err

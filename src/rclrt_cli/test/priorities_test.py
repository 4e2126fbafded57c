# SPDX-License-Identifier: Apache-2.0
"""Priorities in a file beside the application: synthesize writes it, the other commands read it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from rclrt_cli.main import main
from rclrt_py.testing.command import finished
from sources import ROOT, SCHEMA

APPLICATION = str(ROOT / "examples" / "fig_5_5" / "app.yaml")
PRIORITIES_SCHEMA = json.loads((ROOT / "schemas" / "priorities.schema.json").read_text())
# Section 5.2.3 of the thesis, quadrant D of figure 5.5. Without synthesis, c1 has the priority of
# its chain.
SYNTHESIZED = {**{f"c{n}": 2 for n in (1, 4, 5, 7, 8, 9, 10, 11, 12)}, "c6": 1, "c2": 0, "c3": 0}


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    path = tmp_path / "priorities.yaml"
    assert main(["synthesize", APPLICATION, "-o", str(path)]) == 0
    return path


def analysed(capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    capsys.readouterr()
    main(["analyze", APPLICATION, "--json", *options])
    return json.loads(capsys.readouterr().out)


def priorities(callbacks: list[dict[str, Any]]) -> dict[str, int]:
    return {callback["id"]: callback["priority"] for callback in callbacks}


def test_the_file_obeys_its_schema(overlay: Path) -> None:
    document = yaml.safe_load(overlay.read_text())
    jsonschema.Draft202012Validator(PRIORITIES_SCHEMA).validate(document)
    assert document["priorities"] == SYNTHESIZED


def test_the_analysis_honours_it(overlay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = analysed(capsys)
    with_overlay = analysed(capsys, "--priorities", str(overlay))
    assert priorities(plain["callbacks"])["c1"] == 0
    assert priorities(with_overlay["callbacks"]) == SYNTHESIZED
    # The purpose of synthesis: the syncs' inputs no longer wait for less urgent callbacks.
    urgent = [
        (result["chains"][2]["bound_ms"], result["chains"][2]["verdict"])
        for result in (plain, with_overlay)
    ]
    assert urgent == [(18.0, "conditional"), (10.0, "conditional")]


@pytest.mark.parametrize("verb", ["simulate", "run"])
def test_what_runs_honours_it(overlay: Path, tmp_path: Path, verb: str) -> None:
    if verb == "run" and 1 not in os.sched_getaffinity(0):
        pytest.skip("the example runs on CPU 1")
    out = tmp_path / "out"
    done = finished(
        *(verb, APPLICATION, "--executor", "preemptive", "--seconds", "1"),
        *("--priorities", str(overlay), "--out", str(out)),
    )
    assert done.returncode == 0, done.stderr
    results = json.loads((out / "results.json").read_text())
    jsonschema.validate(results, json.loads(SCHEMA.read_text()))
    assert priorities(results["callbacks"]) == SYNTHESIZED
    assert results["application"]["priorities_file"] == str(overlay)
    assert "priorities.yaml" in (out / "report.html").read_text()
    shown = json.loads((out / "application.json").read_text())
    assert priorities(shown["callbacks"]) == SYNTHESIZED


def test_an_edited_file_may_list_some_callbacks_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("rclrt: 1\npriorities: {c2: 9}\n")
    result = analysed(capsys, "--priorities", str(file))
    assert priorities(result["callbacks"])["c2"] == 9
    assert priorities(result["callbacks"])["c3"] == 0


def test_an_unknown_callback_is_located(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("rclrt: 1\npriorities: {c22: 9}\n")
    for verb in ("analyze", "run", "simulate"):
        more = [] if verb == "analyze" else ["--executor", "edf", "--out", str(tmp_path / "out")]
        assert main([verb, APPLICATION, "--priorities", str(file), *more]) == 2
        assert "mine.yaml:2:14: callback 'c22' is not declared" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_task_set_has_no_priorities_file(
    overlay: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_text("rclrt: 1\ntasks: [{id: a, c: 1, t: 2}]\n")
    assert main(["analyze", str(file), "--priorities", str(overlay)]) == 2
    assert "a task set has no callbacks" in capsys.readouterr().err


def test_a_dash_is_the_standard_output_and_a_device_stays_one(
    overlay: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["synthesize", APPLICATION, "-o", "-"]) == 0
    assert capsys.readouterr().out == overlay.read_text()
    assert main(["synthesize", APPLICATION, "-o", "-", "--json"]) == 2
    assert main(["synthesize", APPLICATION, "-o", "/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()


def test_a_failed_write_leaves_nothing(overlay: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(overlay.parent.iterdir())
    assert main(["synthesize", APPLICATION, "-o", str(overlay.parent / "no" / "file.yaml")]) == 2
    assert "/no is no directory; make it first" in capsys.readouterr().err
    assert sorted(overlay.parent.iterdir()) == before


def test_levels_are_merged_and_the_bounds_compared(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synthesize", APPLICATION, "--from", "picas", "--levels", "5", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert len({callback["priority"] for callback in result["callbacks"]}) == 5
    assert len(result["levels"]["merged"]) == 12 - 5
    merged = ["merged into" in callback["reason"] for callback in result["callbacks"]]
    assert sum(merged) == 12 - 5
    assert [chain["id"] for chain in result["levels"]["chains"]] == ["tau_1", "tau_2", "tau_3"]
    assert main(["synthesize", APPLICATION, "--levels", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"] == {
        "most": 3,
        "merged": [],
        "chains": [],
    }


def test_merging_that_costs_a_proof_is_a_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "app.yaml"
    file.write_text("""
rclrt: 1
name: two
executors: [{name: main, cpus: [0]}]
nodes: [{name: n}]
callbacks:
  - {id: fast, node: n, timer: {period_ms: 5}, wcet_ms: 1}
  - {id: slow, node: n, timer: {period_ms: 50}, wcet_ms: 10}
chains:
  - {id: fast, callbacks: [fast], priority: 2}
  - {id: slow, callbacks: [slow], priority: 1}
""")
    assert main(["synthesize", str(file)]) == 0
    assert main(["synthesize", str(file), "--levels", "1"]) == 1
    said = capsys.readouterr().err
    assert "the deadline of chain fast is not proved after merging priorities" in said
    for bad in ("0", "-1", "x", "99999999999"):
        with pytest.raises(SystemExit):
            main(["synthesize", str(file), "--levels", bad])

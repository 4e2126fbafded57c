# SPDX-License-Identifier: Apache-2.0
"""`rclrt report` of several results directories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rclrt_cli.main import main
from rclrt_py.comparisons.comparison import combine, load_single_run
from rclrt_py.errors import BadInput
from rclrt_py.testing.synthetic_run import write_run


def simulated(directory: Path) -> Path:
    write_run(directory, "preemptive", 1.0, seed=4)
    path = directory / "results.json"
    stated = {"simulated": {"seed": 4, "lowest_execution": 1.0}}
    path.write_text(json.dumps({**json.loads(path.read_text()), **stated}))
    return directory


def test_a_simulation_and_a_run_of_one_executor_are_two_columns(tmp_path: Path) -> None:
    observed = write_run(tmp_path / "observed", "preemptive", 1.0)
    both = combine([load_single_run(each) for each in (observed, simulated(tmp_path / "sim"))])
    assert [results.executor for results in both.executors] == [
        "preemptive",
        "simulated preemptive",
    ]
    assert both.is_single_run
    assert len(both.runs) == 2


def test_two_runs_of_one_executor_are_told_apart_by_their_directories(tmp_path: Path) -> None:
    first = write_run(tmp_path / "first", "preemptive", 1.0)
    second = write_run(tmp_path / "second", "preemptive", 1.0, seed=2)
    both = combine([load_single_run(first), load_single_run(second)])
    assert both.executors[0].executor_label == "preemptive"
    assert both.executors[1].executor_label == f"preemptive ({second})"


def test_what_was_measured_counts_as_the_conditions(tmp_path: Path) -> None:
    observed = load_single_run(write_run(tmp_path / "observed", "preemptive", 1.0))
    both = combine([load_single_run(simulated(tmp_path / "sim")), observed])
    assert both.context == observed.context


def test_other_applications_are_refused(tmp_path: Path) -> None:
    first = write_run(tmp_path / "first", "preemptive", 1.0)
    other = write_run(tmp_path / "other", "wait_set", 1.0)
    document = json.loads((other / "results.json").read_text())
    document["application"]["sha256"] = "1" * 64
    (other / "results.json").write_text(json.dumps(document))
    with pytest.raises(BadInput, match="other: measured another application than"):
        combine([load_single_run(first), load_single_run(other)])


def test_the_command_wants_to_know_where_the_report_of_several_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_run(tmp_path / "first", "preemptive", 1.0)
    directories = [str(first), str(simulated(tmp_path / "sim"))]
    assert main(["report", *directories]) == 2
    assert (
        "several directories have no common place for the page; add -o FILE"
        in capsys.readouterr().err
    )
    out = tmp_path / "all.html"
    assert main(["report", *directories, "-o", str(out)]) == 0
    assert "simulated preemptive" in out.read_text(encoding="utf-8")
    assert not (first / "report.html").exists()
    twice = [str(first), str(first), str(first), "-o", str(out)]
    assert main(["report", *twice]) == 2
    assert "is given twice" in capsys.readouterr().err

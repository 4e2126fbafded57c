# SPDX-License-Identifier: Apache-2.0
"""Every broken results file gives a message that names the place, and exit code 2."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclrt_cli.main import main
from rclrt_py.comparisons.comparison import load_single_run
from rclrt_py.errors import BadInput
from rclrt_py.report.page import make_report
from rclrt_py.runs.merge import merge_runs
from rclrt_py.runs.run_data import Run
from rclrt_py.testing.synthetic_run import write_run

CHAIN_LINE = 3  # line 1 is the header


def replace_cell(directory: Path, name: str, line: int, column: int, text: str) -> None:
    lines = (directory / name).read_text().splitlines()
    cells = lines[line - 1].split(",")
    cells[column] = text
    lines[line - 1] = ",".join(cells)
    (directory / name).write_text("\n".join(lines) + "\n")


def change(directory: Path, edit: Callable[[Any], object]) -> None:
    path = directory / "results.json"
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("name", "column", "text", "message"),
    [
        ("chains.csv", 0, "ghost", "chain 'ghost' is not in results.json"),
        ("chains.csv", 1, "one", "chains.csv:3: instance is 'one'; expected a whole number"),
        ("chains.csv", 2, "1_000", "release_ns is '1_000'; expected a whole number"),
        ("chains.csv", 2, "9" * 30, "expected a whole number"),
        ("chains.csv", 2, "9223372036854775808", "expected a whole number"),
        ("chains.csv", 3, "", "completion_ns and response_ns to be given"),
        ("chains.csv", 4, "1", "response_ns is 1; expected completion_ns - release_ns"),
        ("chains.csv", 5, "lost", "status is 'lost'; expected one of completed, late, dropped"),
        ("chains.csv", 5, "pending", "expected completion_ns and response_ns to be empty"),
        ("chains.csv", 6, "0,7", "chains.csv:3: 8 cells; expected 7"),
        ("instances.csv", 1, "ghost", "callback 'ghost' is not in results.json"),
        ("instances.csv", 6, "", "instances.csv:3: start_ns is ''; expected a whole number"),
        ("instances.csv", 8, "1.5", "instances.csv:3: cpu_ns is '1.5'; expected a whole number"),
        ("instances.csv", 10, "slept", "outcome is 'slept'; expected one of ran, buffered, empty"),
    ],
)
def test_a_bad_cell_is_named_by_file_and_line(
    tmp_path: Path, name: str, column: int, text: str, message: str
) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    replace_cell(directory, name, CHAIN_LINE, column, text)
    with pytest.raises(BadInput) as caught:
        merge_runs([Run.load(directory)])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.update(rclrt_results=2), "rclrt_results is 2; expected format version 1"),
        (lambda d: d.pop("chains"), "chains is missing"),
        (lambda d: d.update(chains={}), "chains is {}; expected a list"),
        (lambda d: d["chains"][1].pop("missed"), "chains[1].missed is missing"),
        (lambda d: d["chains"][1].update(missed=-1), "chains[1].missed is -1; expected a count"),
        (lambda d: d["chains"][0].update(deadline_ms=0), "expected a deadline of at least"),
        (lambda d: d["chains"][0].update(deadline_ms="5"), 'deadline_ms is "5"; expected a number'),
        (lambda d: d["chains"][0].update(completed=True), "completed is true; expected a whole"),
        (
            lambda d: d["chains"][0]["response_ms"].pop("p99"),
            "chains[0].response_ms.p99 is missing",
        ),
        (lambda d: d["context"].pop("realtime"), "context.realtime is missing"),
        (lambda d: d["context"].update(versions=[]), "context.versions is []; expected an object"),
        (lambda d: d["application"].update(name=7), "application.name is 7; expected text"),
        (lambda d: d["callbacks"][0].update(node=None), "callbacks[0].node is null; expected text"),
        (lambda d: d.update(chains=[]), "chains is []; expected at least one chain"),
        (
            lambda d: d.update(duration_s=1e300),
            "duration_s is 1e+300; expected a number of at",
        ),
        (
            lambda d: d["chains"][0].update(released=9999, pending=9979),
            "expected the 9999 that results.json",
        ),
        (lambda d: d["chains"][0].update(missed=14), "states 14 missed"),
    ],
)
def test_a_bad_value_in_results_json_is_named_by_its_path(
    tmp_path: Path, edit: Callable[[Any], object], message: str
) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    change(directory, edit)
    with pytest.raises(BadInput) as caught:
        merge_runs([Run.load(directory)])
    assert message in str(caught.value)
    assert str(directory) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "results.json:1:1: Expecting value"),
        (b'{"rclrt_results": 1,\n "x": }', "results.json:2:7: Expecting value"),
        (b"[1, 2]", "expected an object"),
        (b'{"rclrt_results": NaN}', "NaN is not a number of JSON"),
        (b'{"rclrt_results": "\xff"}', "byte 19 is not UTF-8"),
        (b"[" * 100_000, "expected JSON as rclrt writes it"),
    ],
)
def test_json_that_is_none_is_located(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "results.json").write_bytes(content)
    with pytest.raises(BadInput) as caught:
        Run.load(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "chains.csv:1: the header is ''"),
        (b"a,b\n", "chains.csv:1: the header is 'a,b'; expected 'chain,instance,"),
        (b"\xff\xfe", "chains.csv: not UTF-8"),
    ],
)
def test_a_csv_file_that_is_none_is_located(tmp_path: Path, content: bytes, message: str) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    (directory / "chains.csv").write_bytes(content)
    with pytest.raises(BadInput) as caught:
        merge_runs([Run.load(directory)])
    assert message in str(caught.value)


def test_a_csv_file_that_was_cut_short_is_noticed(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    lines = (directory / "chains.csv").read_text().splitlines()
    (directory / "chains.csv").write_text("\n".join(lines[:-5]) + "\n")
    with pytest.raises(BadInput, match="expected the 14 that results"):
        merge_runs([Run.load(directory)])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    (directory / "instances.csv").unlink()
    with pytest.raises(BadInput, match=r"instances\.csv: no such file"):
        merge_runs([Run.load(directory)])


def test_report_on_broken_results_ends_with_exit_code_2_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = write_run(tmp_path / "run", seconds=1.0)
    replace_cell(directory, "chains.csv", CHAIN_LINE, 1, "one")
    before = sorted(directory.iterdir())
    assert main(["report", str(directory)]) == 2
    assert "chains.csv:3: instance is 'one'" in capsys.readouterr().err
    assert sorted(directory.iterdir()) == before


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_flipped_byte_is_either_harmless_or_a_located_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    directory = tmp_path_factory.mktemp("flip") / "run"
    write_run(directory, seconds=0.2)
    path = directory / data.draw(st.sampled_from(["results.json", "chains.csv", "instances.csv"]))
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    error = problem(directory)
    assert error is None or str(directory) in error


def problem(directory: Path) -> str | None:
    """Returns the error for a broken run. Any other exception fails the test."""
    try:
        make_report(load_single_run(directory), directory)
    except BadInput as error:
        return str(error)
    return None

# SPDX-License-Identifier: Apache-2.0
"""`rclrt bench`: its output, and the inputs that it rejects."""

from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
import pytest
from rclrt_cli.main import main
from rclrt_py.bench.plots import BURNER, GROWTH, look, write_plots
from rclrt_py.bench.rows import Benchmark
from rclrt_py.bench.tables import all_tables, latency
from rclrt_py.bench.targets import targets
from rclrt_py.errors import BadInput
from rclrt_py.executors import EXECUTORS
from rclrt_py.testing.synthetic_bench import Document, document
from rclrt_py.testing.workspace import Workspace

SCHEMA = Path(__file__).resolve().parents[3] / "schemas" / "bench.schema.json"


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return read(document(), tmp_path)


def read(made: Document, directory: Path) -> Benchmark:
    path = directory / "bench.json"
    path.write_text(json.dumps(made), encoding="utf-8")
    return Benchmark.load(path)


@pytest.fixture
def ready(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace with a benchmark that prints the made-up document and records its arguments."""
    says(workspace, document())
    for name, value in workspace.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(workspace.root)
    return workspace


def says(workspace: Workspace, what: Document) -> None:
    (workspace.state / "bench.json").write_text(json.dumps(what), encoding="utf-8")
    program(workspace, f"cat '{workspace.state}/bench.json'")


def program(workspace: Workspace, script: str) -> None:
    path = workspace.root / "prefix/lib/rclrt_bench/executors"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho \"$@\" > '{workspace.state}/told'\n{script}\n")
    path.chmod(0o755)


def arguments_of(workspace: Workspace) -> str:
    return (workspace.state / "told").read_text().strip()


def test_the_made_up_document_is_what_the_schema_says() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document())


def test_it_prints_tables_and_writes_the_rows(
    ready: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "executors", "--quick", "--quiet", "--json", "rows.json"]) == 0
    assert arguments_of(ready) == "--quick --quiet"
    assert json.loads((ready.root / "rows.json").read_text()) == document()
    printed = capsys.readouterr().out
    assert "guard condition: trigger to callback" in printed
    assert "targets of preemptive" in printed
    assert "1 round of 100 samples in 12 s; load 0.5 before, steal 30 ms" in printed
    assert all(len(line) <= 120 for line in printed.splitlines())


def test_without_real_time_it_says_so(ready: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    says(ready, document() | {"realtime": False, "realtime_reason": "SCHED_FIFO denied: add ..."})
    assert main(["bench", "executors"]) == 0
    printed = capsys.readouterr().out
    assert "Not real-time: SCHED_FIFO denied: add ..." in printed
    assert "normal priority (realtime: false)" in printed


def test_ratios_are_to_the_floor_and_between_executors(benchmark: Benchmark) -> None:
    cells = {line[0]: line[1:] for line in targets(benchmark).rows}
    assert cells["(a) guard condition, p50 / floor"] == ("≤ 1.2", "1.10 yes", "1.10 yes")  # 2.2 / 2
    assert cells["(b) timer of 1 kHz, p50 / bare nanosleep"][1] == "1.10 NO"  # 11 / 10
    assert cells["(c) publish to callback, p50 / wait_set"][1] == "0.00 yes"  # 1 / 400
    assert cells["(d) beside the burner, p99 / split"][1] == "0.50 yes"  # 1 / 2
    assert cells["(d) p99 of wait_set / p99"] == ("≥ 20", "400.00 yes", "400.00 yes")
    assert cells["(d) releases lost"][1] == "0.00 yes"
    assert cells["(e) our allocations, subscription"][1] == "0.00 yes"  # 3 are the middleware's
    assert cells["(g) timers, p50 of 10 000 / of 10"] == ("≤ 1.5", "1.33 yes", "-")  # 4 / 3.001
    assert "(c) intra-process, p50 / bare futex wake" not in cells  # not measured


def test_every_percentile_stands_beside_its_sample_count(benchmark: Benchmark) -> None:
    for table in all_tables(benchmark):
        if any("p50" in column or "p99" in column for column in table.columns):
            assert any(column.endswith("n") for column in table.columns), table.title
        if ", p50 in" in table.title:
            assert table.title.endswith("(n: 5000)")


def test_a_percentile_of_few_samples_is_left_out(tmp_path: Path) -> None:
    made = document()
    counts = {"wait_set": 4_999, "split": 5_000, "preemptive": 50_000}
    for row in made["rows"]:
        row["n"] = counts.get(row["executor"], 0)
    table = latency(read(made, tmp_path), "timer", "timer", "timer")
    assert {row[0]: row[1:6] for row in table.rows} == {
        "wait_set": ("4999", "4400", "-", "-", "13200"),
        "split": ("5000", "22.0", "44.0", "-", "66.0"),
        "preemptive": ("50000", "11.0", "22.0", "27.5", "33.0"),
    }


def test_a_table_is_the_same_on_a_page(benchmark: Benchmark) -> None:
    table = targets(benchmark)
    page = list(table.markdown())
    assert page[2] == "|  | target | 1 CPU | 2 CPUs |"
    assert page[3] == "| --- | --: | --: | --: |"
    assert len(page) == 4 + len(table.rows)


def test_the_pictures_show_every_executor_and_what_was_lost(
    benchmark: Benchmark, tmp_path: Path
) -> None:
    write_plots(benchmark, tmp_path)
    for name in (BURNER, GROWTH):
        root = ElementTree.fromstring((tmp_path / name).read_text(encoding="utf-8"))
        texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {"wait_set", "split", "preemptive"} <= set(texts), name
        width = float(root.attrib["width"])
        for line in root.iter("{http://www.w3.org/2000/svg}line"):
            assert 0 <= float(line.attrib["x1"]) <= float(line.attrib["x2"]) <= width, name
    burner = (tmp_path / BURNER).read_text(encoding="utf-8")
    assert burner.count("20 of 5020 lost") == 2
    assert burner.count("none lost") == 4


def test_no_two_executors_look_alike(tmp_path: Path) -> None:
    measured = Benchmark.load(Path(__file__).resolve().parents[3] / "bench/executors.json")
    write_plots(measured, tmp_path)
    drawn = ElementTree.fromstring((tmp_path / GROWTH).read_text(encoding="utf-8"))
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "preemptive" in texts
    assert "wait_set_threads" not in texts, "it needs two CPUs, and the picture is of one"
    looks = [look(measured, each) for each in measured.executors]
    assert len(looks) >= len(EXECUTORS)
    for one, other in itertools.combinations(looks, 2):
        # Two of one colour differ in two ways: their lines may lie on each other.
        same = (one.paint == other.paint, one.dash == other.dash or one.mark == other.mark)
        assert same != (True, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bench"], "the following arguments are required: benchmark"),
        (["bench", "executor"], "invalid choice: 'executor' (choose from 'executors')"),
        (["bench", "executors", "--json", "."], "--json .: is a directory"),
        (["bench", "executors", "--json", "no/rows.json"], "--json no/rows.json: no is no dir"),
        (["bench", "executors", "--json", "/proc/rows.json"], "--json /proc/rows.json: is below"),
        (["bench", "executors", "--plots", "no"], "--plots no: no such directory"),
        (["bench", "executors", "--fast"], "unrecognized arguments: --fast"),
        (
            ["bench", "executors", "--seconds", "0"],
            "'0' is not a number of seconds; expected 1 to 86400",
        ),
        (["bench", "executors", "--", "-r", "a:=b"], "bench takes no arguments after --"),
    ],
)
def test_a_wrong_command_line_is_explained(
    ready: Workspace, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    before = sorted(path.name for path in ready.root.iterdir())
    try:
        code: int | str | None = main(arguments)
    except SystemExit as error:
        code = error.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in ready.root.iterdir()) == before
    assert not (ready.state / "told").exists()


def test_what_the_program_refuses_is_passed_on(
    ready: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    program(ready, "echo 'executors: --cases timers: not known; choose from ...' >&2; exit 2")
    wrong = ["--cases", "timers", "--seconds", "900"]
    assert main(["bench", "executors", *wrong, "--json", "rows.json"]) == 2
    assert arguments_of(ready) == "--cases timers --seconds 900"
    assert "--cases timers: not known" in capsys.readouterr().err
    assert not (ready.root / "rows.json").exists()


def test_a_program_that_fails_leaves_no_file(
    ready: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    program(ready, "echo 'something broke' >&2; exit 1")
    assert main(["bench", "executors", "--json", "rows.json"]) == 1
    assert "executors ended with exit code 1 and printed:\n  something broke" in (
        capsys.readouterr().err
    )
    assert not (ready.root / "rows.json").exists()


def test_without_the_package_the_fix_is_named(
    ready: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "/nowhere")
    assert main(["bench", "executors"]) == 2
    assert "the program executors of rclrt_bench was not found (not in /nowhere)" in (
        capsys.readouterr().err
    )


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(document() | {"rclrt_bench": 2}), encoding="utf-8")
    with pytest.raises(BadInput, match="rclrt_bench is 2; expected format version 1"):
        Benchmark.load(path)

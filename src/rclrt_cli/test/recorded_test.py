# SPDX-License-Identifier: Apache-2.0
"""`rclrt report --application`: compares a run that was recorded elsewhere with its bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from measured_overheads import MEASURED
from rclrt_cli.main import main
from rclrt_py.testing.scheduler_model import MS, Callback, Chain
from rclrt_py.testing.synthetic_run import write_run

APP = """
rclrt: 1
name: robot
executors: [{name: main, cpus: [1]}]
nodes: [{name: robot, executor: main}]
callbacks: [{id: work, node: robot, timer: {period_ms: 10}, wcet_ms: WCET}]
chains: [{id: only, callbacks: [work], priority: 1, deadline_ms: 10}]
"""


def recorded(directory: Path, wcet_ms: float = 2) -> tuple[Path, Path]:
    """A robot with one callback of 2 ms, and one that its file does not state."""
    graph = (
        [
            Callback("work", "robot", 2 * MS, 3, (), period=10 * MS),
            Callback("/robot service /reset", "robot", MS, 9, (), period=50 * MS),
        ],
        [Chain("only", ("work",), 3, 10 * MS)],
    )
    app = directory / "robot.yaml"
    app.write_text(APP.replace("WCET", str(wcet_ms)))
    return write_run(directory / "out", "preemptive", 0.5, graph=graph), app


def test_the_bounds_of_the_recorded_priorities_stand_beside_what_was_observed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, app = recorded(tmp_path, wcet_ms=4)
    assert main(["report", str(out), "--application", str(app)]) == 0
    (chain,) = json.loads((out / "results.json").read_text())["chains"]
    # The dispatch time of this machine is not stated.
    assert (chain["bound_ms"], chain["verdict"], chain["exceeded"]) == (4, "conditional", 0)
    (bounds,) = json.loads((out / "bounds.json").read_text())["executors"]["preemptive"]["chains"]
    assert bounds["level"] == 3  # from the robot; the file has 1
    assert "observed against bound" in capsys.readouterr().out
    assert (out / "application.json").is_file()
    assert (out / "report.html").is_file()


def test_what_the_file_does_not_state_is_named_when_a_bound_breaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, app = recorded(tmp_path)
    overheads = tmp_path / "overheads.json"
    overheads.write_text(json.dumps(MEASURED))
    arguments = ("--application", str(app), "--overheads", str(overheads))
    assert main(["report", str(out), *arguments]) == 3
    assert "the application does not state it" in capsys.readouterr().out


def test_a_file_of_another_robot_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, app = recorded(tmp_path)
    app.write_text(app.read_text().replace("id: only", "id: another"))
    before = sorted(path.name for path in out.iterdir())
    assert main(["report", str(out), "--application", str(app)]) == 2
    assert f"{app}: has no chain 'only' of work, which {out} has" in capsys.readouterr().err
    assert sorted(path.name for path in out.iterdir()) == before


def test_overheads_of_another_middleware_than_the_recorded_one_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, app = recorded(tmp_path)  # on rmw_fastrtps_cpp
    overheads = tmp_path / "overheads.json"
    overheads.write_text(json.dumps(MEASURED | {"machine": {"rmw": "rmw_cyclonedds_cpp"}}))
    arguments = ("--application", str(app), "--overheads", str(overheads))
    assert main(["report", str(out), *arguments]) == 2
    told = capsys.readouterr().err
    assert "overheads.json:1:" in told
    assert "machine.rmw is rmw_cyclonedds_cpp" in told
    assert f"expected rmw_fastrtps_cpp, on which {out} was recorded" in told
    assert not (out / "bounds.json").exists()


def test_a_file_with_another_period_than_the_robot_had_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, app = recorded(tmp_path)
    app.write_text(app.read_text().replace("period_ms: 10", "period_ms: 20"))
    before = (out / "results.json").read_text()
    assert main(["report", str(out), "--application", str(app)]) == 2
    assert f"{app}: 'work' has a period of 20 ms, and had 10 ms in {out}" in capsys.readouterr().err
    assert (out / "results.json").read_text() == before


def test_the_directory_of_a_recording_that_goes_on_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, app = recorded(tmp_path)
    results = json.loads((out / "results.json").read_text()) | {"ended": "running"}
    (out / "results.json").write_text(json.dumps(results))
    before = {each.name: each.read_bytes() for each in out.iterdir()}
    for arguments in ((), ("--application", str(app))):
        page = tmp_path / "out.html"
        assert main(["report", str(out), *arguments]) == 0
        said = capsys.readouterr().out
        assert said.endswith(f"\n{page}\n")
        assert ("observed against bound" in said) == bool(arguments)
        assert {each.name: each.read_bytes() for each in out.iterdir()} == before
        page.unlink()
    app.write_text(app.read_text().replace("id: only", "id: another"))
    assert main(["report", str(out), "--application", str(app)]) == 2
    assert f"{app}: has no chain 'only' of work, which {out} has" in capsys.readouterr().err


@pytest.mark.parametrize(("jitter_ms", "code"), [(5, 0), (3, 2)])
def test_an_event_with_jitter_has_come_no_closer_than_its_file_allows(
    jitter_ms: int, code: int, tmp_path: Path
) -> None:
    out, app = recorded(tmp_path)  # the shortest interval that it saw was 10 ms
    event = f"event: {{period_ms: 14, jitter_ms: {jitter_ms}}}"
    app.write_text(app.read_text().replace("timer: {period_ms: 10}", event))
    assert main(["report", str(out), "--application", str(app)]) == code


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--overheads", "o.json"), "--overheads: needs an application"),
        (("--application", "missing.yaml"), "missing.yaml"),
        (("OUT", "--application", "APP"), "--application: works with one recorded run only"),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    out, app = recorded(tmp_path)
    given = [{"OUT": str(out), "APP": str(app)}.get(each, each) for each in arguments]
    assert main(["report", str(out), *given]) == 2
    assert said in capsys.readouterr().err

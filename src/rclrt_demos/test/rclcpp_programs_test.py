# SPDX-License-Identifier: Apache-2.0
"""The exercises on rclcpp run, where rclcpp is, with their flaw and with their fix."""

import os
from pathlib import Path

import pytest
from exercise_runs import measure, run, values

PROGRAMS = Path(os.environ["RCLRT_DEMOS_PROGRAMS"])
BUILT = os.environ["RCLRT_DEMOS_ON_RCLCPP"].split()
EXERCISES = ["3-1", "3-2", "4-1", "4-2"]
SLICES = {"period", "DataLogger", "MessageDelay", "ObjectDetect", "EndToEndDelay", "Actuation"}

pytestmark = pytest.mark.skipif(
    not BUILT, reason="rclcpp was not found when rclrt_rclcpp was built"
)


def program(exercise: str) -> str:
    return str(PROGRAMS / f"exercise_{exercise.replace('-', '_')}_rclcpp")


def test_every_exercise_with_executors_has_a_program() -> None:
    assert [name.replace("_", "-") for name in BUILT] == EXERCISES


@pytest.mark.parametrize("variant", ["baseline", "solution"])
@pytest.mark.parametrize("exercise", EXERCISES)
def test_an_exercise_writes_the_times_of_its_slices_and_a_trace(
    exercise: str, variant: str, tmp_path: Path
) -> None:
    trace = tmp_path / "out.pftrace"
    options = ["--solution"] if variant == "solution" else []
    result = measure(program(exercise), *options, "--trace", str(trace), directory=tmp_path)
    assert (result["exercise"], result["variant"]) == (exercise, variant)
    assert result["interrupted"] is False
    measured = values(result)
    assert measured.keys() == SLICES
    assert result["notes"]["actuations"] == len(measured["EndToEndDelay"])
    assert min(measured["EndToEndDelay"]) >= min(measured["ObjectDetect"]) >= 3_000_000
    assert min(measured["Actuation"]) >= 150_000
    assert "dropped" not in result["notes"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "out.pftrace"]
    # Strings stand in a trace as they are.
    assert all(name.encode() in trace.read_bytes() for name in SLICES)


@pytest.mark.parametrize("exercise", ["3-1", "3-2"])
def test_with_priorities_the_detector_starts_before_the_logger(
    exercise: str, tmp_path: Path
) -> None:
    result = measure(program(exercise), "--solution", directory=tmp_path)
    if not result["real_time"]:
        pytest.skip(result["reason"])
    assert result["notes"]["logged_first"] * 2 < len(values(result)["MessageDelay"])


@pytest.mark.parametrize("options", [[], ["--solution"]])
def test_a_run_that_ends_before_the_executors_have_begun_ends(options: list[str]) -> None:
    ran = run(program("4-2"), *options, "--seconds", "1e-9")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_help_names_the_program_and_its_executors(exercise: str) -> None:
    ran = run(program(exercise), "--help")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"usage: exercise_{exercise.replace('-', '_')}_rclcpp " in ran.stdout
    assert "ThreadedExecutor" in ran.stdout
    assert "rclrt_rclcpp's PreemptiveExecutor" in ran.stdout


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_exercise_refuses_what_it_does_not_know(exercise: str) -> None:
    ran = run(program(exercise), "--priority", "80")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"exercise {exercise}: ")

# SPDX-License-Identifier: Apache-2.0
"""Every exercise runs, with its flaw and with its fix, and writes its measurements."""

import os
import re
import shlex
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import exercise_runs
import pytest
from exercise_runs import TIMEOUT_S, results, run, values

PROGRAMS = Path(os.environ["RCLRT_DEMOS_PROGRAMS"])
HERE = Path(__file__).resolve().parent

PENDULUM = {
    "GetDesiredPosition",
    "ReadSensor",
    "GetCommand",
    "GetPIDConstants",
    "WriteCommand",
    "UpdateQueue",
}
CAMERA = {"period", "DataLogger", "MessageDelay", "ObjectDetect", "EndToEndDelay", "Actuation"}
SLICES = {
    "1": {"Loop", "Sleep", "Wakeup"},
    "2-1": PENDULUM,
    "2-2": PENDULUM,
    "2-3": PENDULUM,
    "3-1": CAMERA,
    "3-2": CAMERA,
    "4-1": CAMERA,
    "4-2": CAMERA,
}


def program(exercise: str) -> str:
    return str(PROGRAMS / f"exercise_{exercise.replace('-', '_')}")


def measure(exercise: str, *options: str, **wanted: Any) -> Any:
    return exercise_runs.measure(program(exercise), *options, **wanted)


@pytest.mark.parametrize("variant", ["baseline", "solution"])
@pytest.mark.parametrize("exercise", SLICES)
def test_an_exercise_writes_the_times_of_its_slices_and_a_trace(
    exercise: str, variant: str, tmp_path: Path
) -> None:
    trace = tmp_path / "out.pftrace"
    options = ["--solution"] if variant == "solution" else []
    result = measure(exercise, *options, "--trace", str(trace), directory=tmp_path)
    assert (result["exercise"], result["variant"]) == (exercise, variant)
    assert result["interrupted"] is False
    assert values(result).keys() == SLICES[exercise]
    assert all(value >= 0 for times in values(result).values() for value in times)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "out.pftrace"]
    # Strings stand in a trace as they are.
    assert all(name.encode() in trace.read_bytes() for name in SLICES[exercise])


@pytest.mark.parametrize("exercise", ["2-1", "2-2", "2-3"])
def test_every_cycle_of_the_pendulum_is_measured_and_one_in_ten_is_a_point(
    exercise: str, tmp_path: Path
) -> None:
    result = measure(exercise, directory=tmp_path)
    cycles = result["notes"]["cycles"]
    assert {len(times) for times in values(result).values()} == {cycles}
    assert 0 < len(result["pendulum"]) <= (cycles + result["notes"]["missed_cycles"] + 9) // 10
    assert result["pendulum"][0][0] == 0
    times = [point[0] for point in result["pendulum"]]
    assert times == sorted(times)
    assert all(abs(position) <= 1.5708 for _, position, _ in result["pendulum"])


def test_exercise_1_measures_one_wakeup_and_one_loop_of_200_us_per_cycle(tmp_path: Path) -> None:
    result = measure("1", "--threads", "1", directory=tmp_path)
    measured = values(result)
    assert len(measured["Loop"]) == len(measured["Wakeup"]) == result["notes"]["cycles"]
    assert min(measured["Loop"]) >= 200_000


# The order of the callbacks is certain only if the image has reached both subscriptions when the
# executor polls. How often it has not depends on the machine, so no test expects a number.
ORDER_S = ("1", "4", "16", "64")


def test_in_order_of_creation_the_detector_waits_until_the_image_is_logged(tmp_path: Path) -> None:
    result = measure(
        "3-1", directory=tmp_path, durations=ORDER_S,
        shown=lambda result: result["notes"]["logged_first"] > 0 or not result["real_time"],
    )  # fmt: skip
    if not result["real_time"]:
        pytest.skip(result["reason"])
    # One thread runs one callback after the other. To log takes 10 draws of 100 us or more, and
    # 1 ms of waiting for the disk.
    waited = [delay for delay in values(result)["MessageDelay"] if delay >= 2_000_000]
    assert len(waited) >= result["notes"]["logged_first"]


@pytest.mark.parametrize("exercise", ["3-1", "3-2"])
def test_with_priorities_the_detector_starts_before_the_logger(
    exercise: str, tmp_path: Path
) -> None:
    def shown(result: Any) -> bool:
        images = len(values(result)["MessageDelay"])
        return not result["real_time"] or result["notes"]["logged_first"] < images

    result = measure(exercise, "--solution", directory=tmp_path, durations=ORDER_S, shown=shown)
    if not result["real_time"]:
        pytest.skip(result["reason"])


def test_what_happens_on_the_way_is_part_of_the_delay_from_end_to_end(tmp_path: Path) -> None:
    result = measure("4-2", "--solution", directory=tmp_path)
    measured = values(result)
    assert result["notes"]["actuations"] == len(measured["EndToEndDelay"])
    assert min(measured["EndToEndDelay"]) >= 3_000_000
    assert min(measured["ObjectDetect"]) >= 3_000_000
    assert min(measured["Actuation"]) >= 150_000
    assert min(measured["DataLogger"]) >= 6_000_000


def test_without_permission_for_real_time_it_runs_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    # Root may do everything as long as it has the capability.
    without = ["setpriv", "--inh-caps=-all", "--bounding-set=-sys_nice"] if os.getuid() == 0 else []
    ran = run(
        *("prlimit", "--rtprio=0", *without, program("2-1")),
        *("--solution", "--seconds", "0.1", "--json", str(file)),
    )
    assert ran.returncode == 0, ran.stderr
    result = results(file)
    assert result["real_time"] is False
    assert result["reason"] in ran.stderr
    assert "rtprio" in result["reason"] or "Sanitizer" in result["reason"]
    assert values(result).keys() == SLICES["2-1"]


@pytest.mark.parametrize("exercise", SLICES)
def test_ctrl_c_ends_it_early_and_writes_what_there_is(exercise: str, tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    command = [program(exercise), "--seconds", "600", "--json", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"exercise {exercise}, baseline: runs for 600 s\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=TIMEOUT_S) == 0
    result = results(file)
    assert result["interrupted"] is True
    assert values(result).keys() == SLICES[exercise]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["file"], "unexpected argument 'file'; see --help"),
        (["--sulution"], "unknown option --sulution; did you mean --solution?"),
        (["--solution", "--solution"], "--solution is given twice; expected it once"),
        (["--seconds", "0"], "expected a number of seconds above 0"),
        (["--seconds"], "--seconds: expected a value after it"),
        (["--json", "/nowhere/out.json"], "expected a file in a directory that exists"),
        (["--trace", "/nowhere/out.pftrace"], "expected a file in a directory that exists"),
    ],
)
def test_a_wrong_option_is_an_error_that_says_what_was_expected(
    options: list[str], problem: str
) -> None:
    ran = run(program("2-1"), *options)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert problem in ran.stderr


@pytest.mark.parametrize("option", ["--json", "--trace"])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_file_is_refused_and_stays_what_it_is(
    option: str, linked: bool, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    named = tmp_path / "link" if linked else fifo
    if linked:
        named.symlink_to(fifo)
    there = sorted(tmp_path.iterdir())
    ran = run(program("2-1"), option, str(named))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{option}: cannot write {named}: is a FIFO; expected a regular file or" in ran.stderr
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.parametrize("exercise", SLICES)
def test_every_exercise_refuses_what_it_does_not_know(exercise: str) -> None:
    ran = run(program(exercise), "--priority", "80")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"exercise {exercise}: ")


def test_more_threads_than_cpus_are_an_error_and_leave_no_file(tmp_path: Path) -> None:
    ran = run(program("1"), "--threads", "100000", "--json", str(tmp_path / "out.json"))
    assert ran.returncode == 2
    assert "expected one for each thread" in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("exercise", SLICES)
def test_the_help_says_what_the_flaw_is_and_what_the_fix(exercise: str) -> None:
    ran = run(program(exercise), "--help")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "the flaw (default): " in ran.stdout
    assert "--solution:         " in ran.stdout


def test_what_is_wrong_is_seen_and_what_is_right_is_not() -> None:
    ran = run(str(PROGRAMS / "whats_wrong"))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    if "does not see calls" in ran.stdout:
        pytest.skip(ran.stdout)
    pieces = re.findall(r"^(\w+)$", ran.stdout, re.MULTILINE)
    assert len(pieces) == 9
    said = re.findall(r"RtGuard: (.*)", ran.stdout)
    assert len(said) == 2 * len(pieces)
    assert "no violation" not in said[::2]
    kinds = dict(zip(pieces, said[::2], strict=True))
    assert "allocation" in kinds["exception"]
    assert "lock" in kinds["lock"]
    assert "sleep" in kinds["sleep"]
    assert "page fault" in kinds["page_fault"]


def test_an_unknown_piece_of_code_is_an_error() -> None:
    ran = run(str(PROGRAMS / "whats_wrong"), "nothing")
    assert ran.returncode == 2
    assert "PIECE nothing: expected one of " in ran.stderr


def test_three_doubles_in_an_atomic_do_not_compile() -> None:
    source = HERE / "must_fail/share_a_struct.cpp"
    found = re.search(r"^// REASON: (.+)$", source.read_text(), re.MULTILINE)
    assert found
    includes = [f"-I{path}" for path in os.environ["RCLRT_DEMOS_INCLUDES"].split(":")]
    compiler = [*shlex.split(os.environ["RCLRT_CXX"]), "-std=c++20", "-fsyntax-only", *includes]
    right = run(*compiler, str(source))
    assert right.returncode == 0, right.stderr
    wrong = run(*compiler, "-DWRONG", str(source))
    assert wrong.returncode != 0
    assert found[1] in wrong.stderr

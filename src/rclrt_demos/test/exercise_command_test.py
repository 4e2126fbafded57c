# SPDX-License-Identifier: Apache-2.0
"""`rclrt exercise` as a user calls it, with the programs of the exercises and with others."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from fake_program import GENEROUS_S, FakeProgram, call, command_line
from rclrt_cli.main import main
from rclrt_demos.exercises import EXERCISES, Exercise

US = 1000
ON_RCLCPP = [exercise.name for exercise in EXERCISES if exercise.on_rclcpp]


def wait_for_end(process_id: int) -> None:
    """Also for a process that is not our child, and for a zombie."""
    with contextlib.suppress(ProcessLookupError):
        descriptor = os.pidfd_open(process_id)
        try:
            assert select.select([descriptor], [], [], GENEROUS_S)[0], f"{process_id} goes on"
        finally:
            os.close(descriptor)


@pytest.fixture(scope="session", autouse=True)
def _own_domain() -> None:
    """Each process of pytest-xdist has a domain of its own: all pendulums have the same topics."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    domain = os.environ.get("ROS_DOMAIN_ID")
    if domain:
        os.environ["ROS_DOMAIN_ID"] = str(int(domain) + worker)


@pytest.fixture
def fake(tmp_path: Path) -> FakeProgram:
    """The program of exercise 2-1, measuring 100 µs and 1 µs."""
    program = FakeProgram(tmp_path / "prefix", "2-1")
    program.measures([1 * US, 100 * US], [1 * US])
    return program


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """An empty current directory."""
    made = tmp_path / "here"
    made.mkdir()
    return made


def measured(
    directory: Path, *arguments: str | Path | float, prefix: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """The command, for as short a time as gives a value of the slice: a busy machine needs more."""
    for seconds in (0.4, 2, 10, 50):
        done = call(directory, *arguments, "--seconds", seconds, prefix=prefix)
        if done.returncode == 0:
            return done
        assert done.returncode == 1
        assert "give it more time" in done.stderr
    pytest.fail("no value of the slice in 50 s")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_each_exercise_measures_its_slice_in_both_variants(exercise: Exercise, here: Path) -> None:
    measured(here, exercise.name, "--compare", "--rounds", 1, "--json", "rows.json")
    rows = json.loads((here / "rows.json").read_text())
    own = [row for row in rows if row["slice"] == exercise.slice_name]
    assert [row["variant"] for row in own] == ["baseline", "solution"]
    for row in rows:
        assert row["exercise"] == exercise.name
        assert row["n"] > 0
        assert row["min_us"] <= row["mean_us"] <= row["max_us"]
        assert row["min_us"] <= row["p99_us"] <= row["max_us"]
    out = here / f"exercise-{exercise.name}"
    made = {"histogram.svg", "baseline.pftrace", "solution.pftrace"}
    if exercise.has_pendulum:
        made.add("pendulum.svg")
    assert {each.name for each in out.iterdir() if not each.name.startswith(".")} == made
    assert all((out / name).stat().st_size > 0 for name in made)
    assert exercise.slice_name.encode() in (out / "baseline.pftrace").read_bytes()


def test_an_exercise_runs_under_stress(here: Path) -> None:
    done = measured(here, "2-1", "--solution", "--stress", "--out", "made")
    assert "under stress (" in done.stdout
    assert not (here / "made" / "baseline.pftrace").exists()
    assert (here / "made" / "solution.pftrace").exists()


def test_without_permission_it_says_what_cannot_be_shown(here: Path) -> None:
    denied = ["prlimit", "--rtprio=0"]
    if os.geteuid() == 0:
        denied += ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    done = measured(here, "2-2", prefix=denied)
    said = " ".join(done.stdout.split())
    assert "Not real-time, so what priorities do cannot be shown: SCHED_FIFO" in said
    assert "CAP_SYS_NICE" in said


def test_flaw_and_fix_alternate_and_share_the_time(fake: FakeProgram, here: Path) -> None:
    arguments = ("2-1", "--compare", "--rounds", 3, "--seconds", 1.5)
    done = call(here, *arguments, environment=fake.environment)
    assert done.returncode == 0, done.stderr
    order = ["baseline", "solution", "solution", "baseline", "baseline", "solution"]
    assert fake.log == [f"{variant} 0.5" for variant in order]
    assert "the largest GetDesiredPosition is 100 µs with std::mutex and 1 µs" in done.stdout


def test_figures_of_all_rounds_are_pooled(fake: FakeProgram, here: Path) -> None:
    arguments = ("2-1", "--compare", "--rounds", 2, "--seconds", 1, "--json", "rows.json")
    assert call(here, *arguments, environment=fake.environment).returncode == 0
    assert json.loads((here / "rows.json").read_text()) == [
        {
            "exercise": "2-1", "variant": "baseline", "slice": "GetDesiredPosition", "n": 4,
            "min_us": 1.0, "mean_us": 50.5, "p99_us": 100.0, "max_us": 100.0,
        },
        {
            "exercise": "2-1", "variant": "solution", "slice": "GetDesiredPosition", "n": 2,
            "min_us": 1.0, "mean_us": 1.0, "p99_us": 1.0, "max_us": 1.0,
        },
    ]  # fmt: skip


def test_a_second_run_replaces_what_the_first_one_wrote(fake: FakeProgram, here: Path) -> None:
    assert call(here, "2-1", "--compare", environment=fake.environment).returncode == 0
    assert call(here, "2-1", "--solution", environment=fake.environment).returncode == 0
    made = {each.name for each in (here / "exercise-2-1").iterdir()}
    assert made == {".rclrt", "histogram.svg", "solution.pftrace"}


def test_the_list_says_what_each_exercise_is_about(here: Path) -> None:
    done = call(here, "list")
    assert done.returncode == 0
    for exercise in EXERCISES:
        assert exercise.title in done.stdout
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["9"], "expected one of: 1, 2-1, 2-2"),
        (["2-4"], "did you mean '"),
        ([], "required: N"),
        (["1", "--solution", "--compare"], "leave out --solution"),
        (["1", "--rounds", "3"], "add --compare"),
        (["1", "--compare", "--rounds", "0"], "expected 1 to"),
        (["1", "--compare", "--rounds", "two"], "expected 1 to"),
        (["1", "--seconds", "0"], "expected a number of seconds above 0"),
        (["1", "--seconds", "nan"], "expected a number of seconds above 0"),
        (["1", "--compare", "--rounds", "100", "--seconds", "0.5"], "fix: more --seconds"),
        (["1", "--json", "no/such/rows.json"], "make it first"),
        (["1", "--json", "."], "expected the name of a file"),
        (["1", "--live"], "run 2-1, 2-2 or 2-3"),
        (["2-1", "--live"], "standard output is none"),
        (["1", "--loud"], "unrecognized arguments: --loud"),
        (["3-1", "--client", "rclpy"], "invalid choice: 'rclpy'"),
        (["2-1", "--client", "rclcpp"], "run one of: 3-1, 3-2, 4-1, 4-2"),
    ],
)
def test_a_wrong_option_ends_with_2_and_nothing_is_written(
    arguments: list[str],
    said: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(here)
    try:
        code: object = main(["exercise", *arguments])
    except SystemExit as ended:  # as argparse ends it
        code = ended.code
    assert code == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
    assert list(here.iterdir()) == []


def test_a_directory_of_somebody_else_is_left_alone(fake: FakeProgram, here: Path) -> None:
    (here / "exercise-2-1").mkdir()
    (here / "exercise-2-1" / "letter.txt").write_text("mine")
    done = call(here, "2-1", environment=fake.environment)
    assert done.returncode == 2
    assert "was not written by rclrt" in done.stderr
    assert fake.log == []


def test_a_program_that_is_not_there_is_named(here: Path) -> None:
    done = call(here, "2-1", environment=os.environ | {"AMENT_PREFIX_PATH": "/nowhere"})
    assert done.returncode == 2
    assert "exercise_2_1 of rclrt_demos was not found" in done.stderr
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("name", ON_RCLCPP)
def test_without_rclcpp_the_error_says_why_and_what_to_do(name: str, here: Path) -> None:
    environment = os.environ | {"AMENT_PREFIX_PATH": "/nowhere"}
    done = call(here, name, "--client", "rclcpp", "--compare", environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"exercise_{name.replace('-', '_')}_rclcpp of rclrt_demos was not found" in done.stderr
    assert "built only where rclcpp is" in done.stderr
    assert "fix: source a ROS 2 installation, or set UNDERLAY" in done.stderr
    assert list(here.iterdir()) == []


def test_on_rclcpp_it_runs_that_program_and_names_its_executors(here: Path, tmp_path: Path) -> None:
    program = FakeProgram(tmp_path / "prefix", "3-1", "rclcpp")
    program.measures([20_000 * US], [3_000 * US])
    arguments = ("3-1", "--client", "rclcpp", "--compare", "--json", "rows.json")
    done = call(here, *arguments, environment=program.environment)
    assert done.returncode == 0, done.stderr
    assert sorted(set(program.log)) == ["baseline 2", "solution 2"]
    said = " ".join(done.stdout.split())
    assert "Exercise 3-1, the order of callbacks in one executor, on rclcpp" in said
    assert "20000 µs with SingleThreadedExecutor and 3000 µs with PreemptiveExecutor" in said
    assert {row["exercise"] for row in json.loads((here / "rows.json").read_text())} == {"3-1"}
    assert {path.name for path in here.iterdir()} == {"exercise-3-1-rclcpp", "rows.json"}


def test_a_program_that_fails_leaves_no_results(fake: FakeProgram, here: Path) -> None:
    fake.fails("no more memory")
    done = call(here, "2-1", "--json", "rows.json", environment=fake.environment)
    assert done.returncode == 1
    assert "exercise_2_1 ended with exit code 1" in done.stderr
    assert "no more memory" in done.stderr
    assert list(here.iterdir()) == []


def test_a_run_without_a_value_of_the_slice_says_so(fake: FakeProgram, here: Path) -> None:
    fake.measures([], [])
    done = call(here, "2-1", environment=fake.environment)
    assert done.returncode == 1
    assert "measured no GetDesiredPosition" in done.stderr
    assert "--seconds" in done.stderr
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
        (signal.SIGHUP, 129),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_program_and_stress_end_with_the_command(
    number: int, code: int, fake: FakeProgram, here: Path
) -> None:
    fake.hangs()
    # Without stress-ng: this test would not recognise its processes.
    environment = fake.environment | {"PATH": "/nowhere"}
    command = subprocess.Popen(
        command_line("2-1", "--stress"),
        cwd=here, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with command:
        limit = time.monotonic() + GENEROUS_S
        while not fake.log:
            assert time.monotonic() < limit
            assert command.poll() is None, command.communicate()[1]
            os.sched_yield()
        children = children_of(command.pid)
        busy = [each for each, line in children.items() if "busy_process.py" in line]
        assert len(busy) == len(os.sched_getaffinity(0))
        command.send_signal(number)
        for each in children:
            wait_for_end(each)
        command.wait(GENEROUS_S)
    assert command.returncode == code
    if number != signal.SIGKILL:
        assert list(here.iterdir()) == []


def test_the_pendulum_is_drawn_on_a_terminal(here: Path) -> None:
    pytest.importorskip("rclpy")
    terminal, its_end = pty.openpty()
    command = subprocess.Popen(
        command_line("2-1", "--live", "--seconds", 600), cwd=here, stdout=its_end
    )
    os.close(its_end)
    shown = b""
    limit = time.monotonic() + GENEROUS_S
    while b"from upright" not in shown:
        assert time.monotonic() < limit, shown
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536)
    command.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # the end of a terminal without users
        while made := os.read(terminal, 65536):
            shown += made
    os.close(terminal)
    assert command.wait(GENEROUS_S) == 130
    assert b"std::mutex" in shown
    assert shown.rstrip().endswith(b"\033[?25h")  # the cursor is there again
    assert list(here.iterdir()) == []


def children_of(parent: int) -> dict[int, str]:
    """Their command lines by process id."""
    found = {}
    for task in Path(f"/proc/{parent}/task").iterdir():
        for child in (task / "children").read_text().split():
            found[int(child)] = Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
    return found

# SPDX-License-Identifier: Apache-2.0
"""`ros2 rt` and the check of `ros2 doctor`: with the real ros2cli if it is installed, and
without."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from types import ModuleType

import pytest
from rclrt_cli.ros2 import doctor
from rclrt_cli.ros2.command import RtCommand
from rclrt_py.doctor import checks
from rclrt_py.testing.command import Answer, Rclrt, python_path
from sources import PACKAGE

NO_ROS2CLI = "ros2cli is not installed"
NO_ROS2DOCTOR = "ros2doctor is not installed"
GROUPS = ("ros2cli.command", "ros2doctor.checks", "ros2doctor.report")


def declared() -> dict[str, dict[str, str]]:
    """Returns the entry points in setup.cfg, by group."""
    setup = ConfigParser()
    setup.read(PACKAGE / "setup.cfg", encoding="utf-8")
    result = {}
    for group, lines in setup["options.entry_points"].items():
        pairs = (line.split("=") for line in lines.strip().splitlines())
        result[group] = {name.strip(): value.strip() for name, value in pairs}
    return result


def test_the_entry_points_load_without_ros2cli() -> None:
    assert tuple(declared()) == GROUPS
    code = (
        "import sys; from importlib.metadata import EntryPoint\n"
        "sys.modules.update(dict.fromkeys(('ros2cli', 'ros2doctor', 'argcomplete')))\n"
        "for group, points in eval(sys.argv[1]).items():\n"
        "  for name, value in points.items():\n"
        "    print(EntryPoint(name, value, group).load().__name__)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-P", "-c", code, repr(declared())],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.stdout.split() == ["RtCommand", "RealTimeCheck", "RealTimeReport"], answer.stderr


def test_the_installed_entry_points_are_those_of_the_sources() -> None:
    try:
        found = importlib.metadata.distribution("rclrt_cli").entry_points
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("rclrt_cli is not installed")
    assert {(point.group, point.name, point.value) for point in found} == {
        (group, name, value)
        for group, points in declared().items()
        for name, value in points.items()
    }


# ---- as ros2cli calls them ----


@pytest.fixture
def ros2(capsys: pytest.CaptureFixture[str]) -> Rclrt:
    """`ros2("rt", ...)` does with the extension what ros2cli does."""

    def answer(*arguments: object) -> Answer:
        command = RtCommand()
        root = argparse.ArgumentParser(prog="ros2")
        commands = root.add_subparsers(dest=" command")
        parser = commands.add_parser(
            command.NAME, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        capsys.readouterr()
        try:
            command.add_arguments(parser, "ros2 rt")
            code = command.main(
                parser=root, args=root.parse_args([str(each) for each in arguments])
            )
        except SystemExit as error:
            code = int(error.code or 0)
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return answer


COMMAND_LINES = [
    ["--version"],
    ["--help"],
    ["run", "--help"],
    ["analyze", "--help"],
    [],
    ["analyze", "absent.yaml"],
    ["report", "absent"],
    ["report", "absent", "--", "-r", "a:=b"],
    ["run", "absent.yaml", "--executor", "preemptive", "--out", "out", "--", "-r", "a:=b"],
]


def words(text: str, program: str) -> list[str]:
    """Returns the words of a text, with `rclrt` as the program. Line breaks do not matter."""
    return text.replace(program, "rclrt").split()


@pytest.mark.parametrize("arguments", COMMAND_LINES)
def test_ros2_rt_answers_as_rclrt_does(
    rclrt: Rclrt, ros2: Rclrt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ours, theirs = rclrt(*arguments), ros2("rt", *arguments)
    assert theirs.code == ours.code
    assert words(theirs.out, "ros2 rt") == words(ours.out, "rclrt")
    assert words(theirs.err, "ros2 rt") == words(ours.err, "rclrt")


# ---- the check and the report ----


class Result:
    """As in ros2doctor.api."""

    def __init__(self) -> None:
        self.error = 0
        self.warning = 0

    def add_error(self) -> None:
        self.error += 1

    def add_warning(self) -> None:
        self.warning += 1


class Report:
    """As in ros2doctor.api."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.items: list[tuple[str, str]] = []

    def add_to_report(self, item_name: str, item_info: str) -> None:
        self.items.append((item_name, item_info))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lines that a made-up ros2doctor printed about three findings."""
    lines: list[str] = []
    package, api, output = (
        ModuleType(name) for name in ("ros2doctor", "ros2doctor.api", "ros2doctor.api.format")
    )
    vars(api).update(Result=Result, Report=Report)
    vars(output).update(
        doctor_error=lambda text: lines.append(f"error: {text}"),
        doctor_warn=lambda text: lines.append(f"warning: {text}"),
    )
    for module in (package, api, output):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    findings = [
        checks.ok("clock source", "tsc"),
        checks.warning("kernel", "6.1, without PREEMPT_RT", "install one"),
        checks.blocker("scheduling", "denied", "allow it"),
    ]
    monkeypatch.setattr(doctor, "examine", lambda root, environment: findings)
    return lines


def test_a_blocker_is_an_error_and_a_warning_a_warning(said: list[str]) -> None:
    result = doctor.RealTimeCheck().check()
    assert (result.error, result.warning) == (1, 1)
    assert said == [
        "warning: kernel: 6.1, without PREEMPT_RT; fix: install one",
        "error: scheduling: denied; fix: allow it",
    ]


@pytest.mark.usefixtures("said")
def test_the_report_has_every_finding_and_the_category_of_the_check() -> None:
    report = doctor.RealTimeReport().report()
    assert report.items == [
        ("clock source", "tsc"),
        ("kernel", "warning: 6.1, without PREEMPT_RT; fix: install one"),
        ("scheduling", "blocker: denied; fix: allow it"),
    ]
    assert doctor.RealTimeReport().category() == doctor.RealTimeCheck().category()


# ---- the real ros2cli and ros2doctor ----


@pytest.fixture
def metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with the entry points of setup.cfg, as an installation has them."""
    information = tmp_path / "site/rclrt_cli-0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: rclrt_cli\nVersion: 0\n")
    lines = []
    for group, points in declared().items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(information.parent)
    return information.parent


@pytest.mark.usefixtures("metadata")
def test_ros2cli_finds_and_instantiates_the_command() -> None:
    pytest.importorskip("ros2cli.plugin_system", reason=NO_ROS2CLI)
    from ros2cli.command import get_command_extensions

    extensions = get_command_extensions("ros2cli.command")
    assert type(extensions["rt"]).__name__ == "RtCommand"
    assert extensions["rt"].NAME == "rt"


def test_the_real_ros2_rt_answers_as_rclrt_does(
    rclrt: Rclrt, metadata: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ros2cli.cli", reason=NO_ROS2CLI)
    monkeypatch.chdir(tmp_path)
    code = "import sys; sys.argv[0] = 'ros2'; from ros2cli.cli import main; sys.exit(main())"
    for arguments in COMMAND_LINES:
        theirs = subprocess.run(
            [sys.executable, "-P", "-c", code, "rt", *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(metadata), python_path()])},
            capture_output=True,
            text=True,
            check=False,
        )
        ours = rclrt(*arguments)
        assert theirs.returncode == ours.code, arguments
        assert words(theirs.stdout, "ros2 rt") == words(ours.out, "rclrt")
        assert words(theirs.stderr, "ros2 rt") == words(ours.err, "rclrt")


@pytest.mark.usefixtures("metadata")
def test_ros2doctor_counts_what_rclrt_doctor_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    api = pytest.importorskip("ros2doctor.api", reason=NO_ROS2DOCTOR)
    findings = [checks.warning("kernel", "old", "renew it"), checks.blocker("x", "y", "z")]
    monkeypatch.setattr(doctor, "examine", lambda root, environment: findings)
    (check,) = importlib.metadata.entry_points(group=GROUPS[1], name="RealTimeCheck")
    (report,) = importlib.metadata.entry_points(group=GROUPS[2], name="RealTimeReport")
    with pytest.warns(UserWarning, match="fix: "):
        result = check.load()().check()
    assert type(result) is api.Result
    assert (result.error, result.warning) == (1, 1)
    made = report.load()().report()
    assert type(made) is api.Report
    assert made.items == [("kernel", "warning: old; fix: renew it"), ("x", "blocker: y; fix: z")]

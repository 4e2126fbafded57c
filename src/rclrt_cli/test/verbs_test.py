# SPDX-License-Identifier: Apache-2.0
"""Verbs that other packages add by entry points, with small packages on the path."""

from __future__ import annotations

import argparse
import configparser
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rclrt_cli.commands import analyze
from rclrt_cli.main import VERBS
from rclrt_cli.ros2.command import RtCommand
from rclrt_cli.verbs import PACKAGES, added_verbs
from rclrt_py.testing.command import Rclrt, python_path

IMAGINE = """
import argparse

HELP = "make a random application"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--nodes", type=int, default=3)


def run(arguments: argparse.Namespace) -> int:
    print(f"{arguments.nodes} nodes")
    return 1
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of installed packages."""
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def install(site: Path, package: str, verb: str, source: str | None = None) -> None:
    """Writes what pip leaves of a package with one verb in one module."""
    metadata = site / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[rclrt.verbs]\n{verb} = {package}\n")
    if source is not None:
        (site / f"{package}.py").write_text(source)


def test_the_verb_of_another_package_runs(site: Path, rclrt: Rclrt) -> None:
    install(site, "tiny_generator", "imagine", IMAGINE)
    answer = rclrt("imagine", "--nodes", "7")
    assert (answer.code, answer.out, answer.err) == (1, "7 nodes\n", "")
    assert "make a random application" in rclrt("imagine", "--help").out


def test_it_stands_in_the_help_and_is_suggested(site: Path, rclrt: Rclrt) -> None:
    install(site, "tiny_help", "imagine", IMAGINE)
    help_line = next(line for line in rclrt("--help").out.splitlines() if "imagine" in line)
    assert help_line.split() == ["imagine", "make", "a", "random", "application"]
    answer = rclrt("imagin")
    assert (answer.code, answer.out) == (2, "")
    assert "unknown command 'imagin'; did you mean 'imagine'?" in answer.err
    known = ", ".join([*VERBS, *sorted({*added_verbs(VERBS), *PACKAGES})])
    assert answer.err.endswith(f"  expected one of: {known}\n")


def test_without_a_command_all_of_them_are_listed(rclrt: Rclrt) -> None:
    answer = rclrt()
    assert (answer.code, answer.out) == (2, "")
    assert VERBS.keys() <= {line.split()[0] for line in answer.err.splitlines() if line.strip()}


def test_an_unknown_option_gives_one_message_with_the_similar_option_and_the_way_to_the_help(
    rclrt: Rclrt,
) -> None:
    answer = rclrt("analyze", "app.yaml", "--executer=edf")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "rclrt analyze: error: unrecognized arguments: --executer=edf; did you mean '--executor'?\n"
        "  help: rclrt analyze --help\n"
    )


def test_a_verb_of_a_package_that_is_not_built_names_the_command_that_builds_it(
    rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    monkeypatch.setenv("RCLRT_ROOT", "/a folder/rclrt")
    monkeypatch.setenv("RCLRT_PRESET", "release")
    for verb, package in PACKAGES.items():
        answer = rclrt(verb, "anything")
        assert (answer.code, answer.out) == (2, "")
        assert answer.err == (
            f"rclrt: '{verb}' is a command of {package}, which is not built\n"
            f"  fix: make -C '/a folder/rclrt' build PACKAGES={package} PRESET=release\n"
        )
    monkeypatch.delenv("RCLRT_ROOT")
    assert "colcon build --packages-up-to rclrt_demos" in rclrt("exercise").err


def test_the_verbs_of_the_packages_of_this_source_tree_are_known() -> None:
    stated: dict[str, str] = {}
    for file in Path(__file__).resolve().parents[2].glob("*/setup.cfg"):
        config = configparser.ConfigParser()
        config.read(file)
        points = config.get("options.entry_points", "rclrt.verbs", fallback="")
        stated |= {
            line.split("=")[0].strip(): file.parent.name for line in points.split("\n") if line
        }
    assert stated == PACKAGES


def test_a_verb_of_ours_cannot_be_replaced(site: Path, rclrt: Rclrt) -> None:
    install(site, "tiny_thief", "analyze", IMAGINE)
    assert analyze.HELP in " ".join(rclrt("analyze", "--help").out.split())
    assert "make a random application" not in rclrt("--help").out


def test_a_verb_that_cannot_be_loaded_spoils_only_itself(site: Path, rclrt: Rclrt) -> None:
    install(site, "tiny_absent", "imagine")
    install(site, "tiny_partial", "picture", 'HELP = "nothing"\n')
    answer = rclrt("imagine")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == (
        "rclrt: the verb imagine of tiny_absent cannot be loaded from tiny_absent "
        "(ModuleNotFoundError: No module named 'tiny_absent')\n"
        "  fix: install a version of tiny_absent that fits this rclrt, or remove it\n"
    )
    assert "(it has no add_arguments, no run)" in rclrt("picture").err
    listed = rclrt("--help")
    assert listed.code == 0
    assert listed.err.count("cannot be loaded") == 2
    assert "analyze" in listed.out


@pytest.mark.parametrize(
    "wrong",
    [["--seconds", "soon"], ["--executor", "fastest"], ["--unknown"], ["too", "much"], []],
)
def test_help_is_shown_whatever_else_is_wrong(rclrt: Rclrt, wrong: list[str]) -> None:
    for arguments in ([*wrong, "--help"], ["-h", *wrong]):
        answer = rclrt("run", *arguments)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.startswith("usage: rclrt run ")


def test_a_word_behind_the_dashes_is_not_for_the_verb(rclrt: Rclrt) -> None:
    answer = rclrt("run", "absent.yaml", "--executor", "preemptive", "--", "--help")
    assert answer.code == 2
    assert "the following arguments are required: --out" in answer.err


def test_a_verb_of_ours_starts_without_looking_for_others(
    rclrt: Rclrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise AssertionError("looked for entry points")

    monkeypatch.setattr(importlib.metadata, "entry_points", refuse)
    assert rclrt("analyze", "absent.yaml").code == 2
    assert rclrt("--version").code == 0
    with pytest.raises(AssertionError):
        rclrt("imagine")


def test_ros2_rt_has_it_too(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "tiny_ros2", "imagine", IMAGINE)
    command = RtCommand()
    parser = argparse.ArgumentParser(prog="ros2 rt")
    command.add_arguments(parser, "ros2")
    assert command.main(parser=parser, args=parser.parse_args(["imagine"])) == 1
    assert capsys.readouterr().out == "3 nodes\n"


# ---- without the native modules ----

WITHOUT = """
import sys
sys.modules.update({name: None for name in ("rclrt_model", "rclrt_analysis")})
import rclrt_cli.main
sys.exit(rclrt_cli.main.main(sys.argv[1:]))
"""


def without_modules(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT, *arguments],
        env={**os.environ, "PYTHONPATH": python_path()},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_starts_without_the_native_modules() -> None:
    answer = without_modules("--version")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout.startswith("rclrt ")


def test_what_needs_them_says_so(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text("rclrt: 1\nname: small\nnodes: [{name: a}]\ncallbacks: []\nchains: []\n")
    answer = without_modules("synthesize", "--nodes", str(app))
    assert answer.returncode == 1
    assert answer.stderr.startswith("rclrt: rclrt_")
    assert "cannot be loaded" in answer.stderr
    assert "fix: make build PACKAGES=rclrt_" in answer.stderr

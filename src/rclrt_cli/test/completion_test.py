# SPDX-License-Identifier: Apache-2.0
"""The completions of the shells, requested in the way of the shells."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rclrt_cli.completion import complete
from rclrt_cli.main import VERBS
from rclrt_cli.verbs import added_verbs
from rclrt_py.executors import EXECUTORS
from rclrt_py.testing.command import python_path
from rclrt_py.testing.workspace import app_yaml
from sources import PACKAGE, PROGRAM

HOOKS = PACKAGE / "environment"
ASK_BASH = """
set -eu
. "$1"
COMP_LINE=$2
COMP_POINT=${#2}
COMP_TYPE=9
function=$(complete -p rclrt | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
set +eu
"$function" rclrt
printf '%s\\n' "${COMPREPLY[@]}"
"""


def shell(
    directory: Path, *command: str, path: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a shell with `rclrt` and argcomplete on its path."""
    if path is None:
        (directory / "bin").mkdir()
        (directory / "bin/rclrt").symlink_to(PROGRAM)
        path = os.pathsep.join(
            [str(directory / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
        )
    return subprocess.run(
        command,
        cwd=directory,
        env={**os.environ, "PATH": path, "PYTHONPATH": python_path(), "HOME": str(directory)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def offered(directory: Path, line: str) -> list[str]:
    """Returns the words that bash offers at the end of a line."""
    pytest.importorskip("argcomplete", reason="argcomplete is not installed")
    (directory / "app.yaml").write_text(app_yaml(), encoding="utf-8")
    (directory / "apple.txt").touch()
    (directory / "results").mkdir()
    answer = shell(
        directory, "bash", "-c", ASK_BASH, "bash", str(HOOKS / "rclrt-argcomplete.bash"), line
    )
    assert answer.returncode == 0, answer.stderr
    return sorted(word.strip() for word in answer.stdout.split("\n") if word)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rclrt ", [*VERBS, *added_verbs(VERBS)]),
        ("rclrt an", ["analyze"]),
        ("rclrt run app.yaml --exec", ["--executor"]),
        ("rclrt compare app.yaml --ro", ["--rounds"]),
        ("rclrt run app.yaml --executor ", list(EXECUTORS)),
        ("rclrt analyze app.yaml --executor pre", ["preemptive"]),
        (
            "rclrt compare app.yaml --executors wait_set,p",
            [
                f"wait_set,{name}"
                for name in ("per_group", "picas", "preemptive", "producer_consumer")
            ],
        ),
        ("rclrt compare app.yaml --executors al", ["all"]),
        ("rclrt compare app.yaml --executors preemptive,pre", []),
        ("rclrt synthesize app.yaml --from p", ["picas"]),
        ("rclrt run app", ["app.yaml"]),
        ("rclrt run app.yaml --out ", ["bin/", "results/"]),
        ("rclrt report re", ["results/"]),
        ("rclrt run absent.yaml --fail-on-miss ob", []),
    ],
)
def test_bash_offers_what_fits(tmp_path: Path, line: str, words: list[str]) -> None:
    assert offered(tmp_path, line) == sorted(words)


def test_bash_offers_the_chains_of_the_application(tmp_path: Path) -> None:
    pytest.importorskip("rclrt_model", reason="rclrt_model is not installed")
    words = offered(tmp_path, "rclrt run app.yaml --fail-on-miss ")
    assert words == ["mapping", "obstacle", "planning"]


def test_zsh_registers_the_completion(tmp_path: Path) -> None:
    pytest.importorskip("argcomplete", reason="argcomplete is not installed")
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    hook = str(HOOKS / "rclrt-argcomplete.zsh")
    answer = shell(tmp_path, "zsh", "-f", "-c", 'source "$1"; print "${_comps[rclrt]}"', "", hook)
    assert "argcomplete" in answer.stdout, answer.stderr


def test_without_argcomplete_the_hook_does_nothing(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    hook = str(HOOKS / "rclrt-argcomplete.bash")
    script = 'set -eu; . "$1"; ! complete -p rclrt 2>/dev/null'
    answer = shell(tmp_path, bash, "-c", script, "bash", hook, path=str(tmp_path))
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_without_argcomplete_the_command_works_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    complete(argparse.ArgumentParser())

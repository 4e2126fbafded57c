# SPDX-License-Identifier: Apache-2.0
"""The installed command in a shell that has sourced the workspace, with its completion."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from installed import our_prefixes, prefix_of, ros_prefixes, run, users_environment

GENEROUS_S = 600.0


def setup_file() -> Path:
    """Returns the file to source, in a merged or in an isolated install folder."""
    prefix = prefix_of("rclrt_cli")
    for folder in (prefix, prefix.parent):
        if (folder / "local_setup.bash").is_file():
            return folder / "local_setup.bash"
    raise AssertionError(f"no local_setup.bash in {prefix} or {prefix.parent}")


def environment_before(home: Path) -> dict[str, str]:
    """Returns the environment of a user who has sourced ROS 2, but not yet the workspace."""
    environment = users_environment(home, [path / "lib" for path in ros_prefixes()])
    for variable in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "PATH", "PYTHONPATH"):
        kept = [
            path
            for path in environment.get(variable, "").split(os.pathsep)
            if path and not any(Path(path).is_relative_to(ours) for ours in our_prefixes())
        ]
        environment[variable] = os.pathsep.join(kept)
    return environment


class Terminal:
    """An interactive bash on its own terminal, without the user's startup files."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.screen = ""
        self._pid, self._descriptor = pty.fork()
        if self._pid == 0:
            os.chdir(environment["HOME"])
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], environment)

    def type(self, keys: str) -> None:
        self.screen = ""
        os.write(self._descriptor, keys.encode())

    def wait_for(self, text: str) -> None:
        """Waits until the terminal shows the text, counted from the last keys."""
        deadline = time.monotonic() + GENEROUS_S
        while text not in self.screen:
            assert time.monotonic() < deadline, (
                f"expected {text!r}, the terminal has\n{self.screen}"
            )
            if select.select([self._descriptor], [], [], 1.0)[0]:
                self.screen += os.read(self._descriptor, 4096).decode(errors="replace")

    def close(self) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._descriptor)


@pytest.fixture
def terminal(outside: Path) -> Iterator[Terminal]:
    environment = environment_before(outside / "home")
    assert shutil.which("rclrt", path=environment["PATH"]) is None
    shell = Terminal(
        {**environment, "TERM": "dumb", "INPUTRC": "/dev/null", "HISTFILE": "", "LC_ALL": "C.UTF-8"}
    )
    yield shell
    shell.close()


@pytest.mark.skipif(
    not any(shutil.which(f"register-python-argcomplete{n}") for n in ("", "3")),
    reason="argcomplete is not installed",
)
def test_the_tabulator_completes_verbs_and_options(terminal: Terminal) -> None:
    # The typed words do not contain the texts that the test waits for.
    terminal.type(f". '{setup_file()}'; echo sourced: $((40 + 2))\n")
    terminal.wait_for("sourced: 42")
    terminal.type("rclrt ana\t")
    terminal.wait_for("rclrt analyze ")
    terminal.type("--hel\t")
    terminal.wait_for("--help ")
    terminal.type("\n")
    terminal.wait_for("say whether the deadlines of an application or a task set hold")


def test_the_command_is_on_the_path_once_the_workspace_is_sourced(outside: Path) -> None:
    environment = environment_before(outside / "home")
    script = '. "$1" && rclrt --help && command -v rclrt'
    answer = run(
        *("bash", "--norc", "-c", script, "bash", setup_file()),
        environment=environment,
        directory=outside,
    )
    assert answer.stdout.startswith("usage: rclrt ")
    assert answer.stdout.splitlines()[-1] == str(prefix_of("rclrt_cli") / "bin/rclrt")


def test_ros2_run_finds_the_command(outside: Path) -> None:
    """`ros2 run rclrt_cli rclrt` starts lib/rclrt_cli/rclrt."""
    program = prefix_of("rclrt_cli") / "lib/rclrt_cli/rclrt"
    script = '. "$1" && exec "$2" --version'
    answer = run(
        *("bash", "--norc", "-c", script, "bash", setup_file(), program),
        environment=environment_before(outside / "home"),
        directory=outside,
    )
    assert answer.stdout.startswith("rclrt ")

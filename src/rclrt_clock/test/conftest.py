# SPDX-License-Identifier: Apache-2.0
"""The program of this build, and the command of this source tree."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from rclrt_py.testing.command import Answer, Rclrt

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]


@pytest.fixture(scope="session")
def program() -> Path:
    return Path(os.environ["RCLRT_CLOCK"])


@pytest.fixture
def rclrt(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Rclrt:
    """`rclrt(*arguments)` runs the command in this process, with the verb of this source tree."""
    from rclrt_cli import main as command
    from rclrt_clock import clock_command

    monkeypatch.setitem(command.VERBS, "clock", clock_command)

    def answer(*arguments: object) -> Answer:
        capfd.readouterr()
        try:
            code = command.main([str(argument) for argument in arguments])
        except SystemExit as error:  # from argparse
            code = int(error.code or 0)
        said = capfd.readouterr()
        return Answer(code, said.out, said.err)

    return answer

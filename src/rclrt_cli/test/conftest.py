# SPDX-License-Identifier: Apache-2.0
"""The package under test is the one in the source tree beside this directory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from rclrt_py.testing.command import Answer, Rclrt
from rclrt_py.testing.comparisons import comparison, comparison_directory  # noqa: F401
from rclrt_py.testing.properties import let_properties_take_their_time
from rclrt_py.testing.workspace import Workspace

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from rclrt_cli.main import main  # noqa: E402

let_properties_take_their_time()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.make(tmp_path)


@pytest.fixture
def rclrt(capsys: pytest.CaptureFixture[str]) -> Rclrt:
    """`rclrt(*arguments)` runs the command in this process."""

    def answer(*arguments: object) -> Answer:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:  # from argparse
            code = int(error.code or 0)
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return answer

# SPDX-License-Identifier: Apache-2.0
"""The package under test is the one in the source tree beside this directory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from rclrt_cli.comparison import Comparison, merge_directory  # noqa: E402
from rclrt_cli.main import main  # noqa: E402
from synthetic_run import EXECUTORS, write_run  # noqa: E402
from workspace import Workspace  # noqa: E402

# A busy machine is no failure of a test.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@pytest.fixture(scope="session")
def comparison_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rounds of every executor, as the runner would have left them. Read it only."""
    directory = tmp_path_factory.mktemp("comparison")
    for number in (1, 2):
        for executor in EXECUTORS:
            write_run(directory / executor / f"round-{number}", executor, 3.0, seed=number)
    return directory


@pytest.fixture(scope="session")
def comparison(comparison_directory: Path) -> Comparison:
    return merge_directory(comparison_directory, EXECUTORS, 2, 6.0)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace.make(tmp_path)


@dataclass(frozen=True)
class Answer:
    """Of one command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Rclrt = Callable[..., Answer]


@pytest.fixture
def rclrt(capsys: pytest.CaptureFixture[str]) -> Rclrt:
    """`rclrt(*arguments)` runs the command in this process."""

    def answer(*arguments: object) -> Answer:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:  # of argparse
            code = int(error.code or 0)
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return answer

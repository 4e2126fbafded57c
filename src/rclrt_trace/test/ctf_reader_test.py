# SPDX-License-Identifier: Apache-2.0
"""The reader finds in generated traces the events that were written, as babeltrace2 does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ctf_traces import Generator

SEEDS = range(60)
DUMP = os.environ.get("RCLRT_CTF_DUMP", "")
"""Path of the program of ctf_dump.cpp, set by ctest."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, list[str]]:
    """Returns directories of generated traces, and the lines expected from each."""
    made = {}
    root = tmp_path_factory.mktemp("traces")
    for seed in SEEDS:
        trace = Generator(seed).trace()
        trace.save(root / str(seed))
        made[root / str(seed)] = trace.expected
    return made


def test_the_reader_finds_what_was_written(traces: dict[Path, list[str]]) -> None:
    done = subprocess.run(
        [DUMP, *map(str, traces)], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = [
        line for path, lines in traces.items() for line in [f"trace: {path}", *lines, "lost: 0 0"]
    ]
    assert done.stdout.splitlines() == expected


@pytest.mark.skipif(shutil.which("babeltrace2") is None, reason="there is no babeltrace2")
def test_babeltrace2_finds_the_same(traces: dict[Path, list[str]]) -> None:
    for path, lines in list(traces.items())[:20]:
        done = subprocess.run(
            ["babeltrace2", "--clock-cycles", "--no-delta", str(path)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found = []
        for line in done.stdout.splitlines():
            match = re.match(r"\[0*(\d+)\] (?:robot )?(\w+): ", line)
            assert match is not None, line
            numbers = re.findall(r"\b(s_\d+) = (-?\d+)", line)
            texts = re.findall(r'\b(t_\d+) = "([^"]*)"', line)
            lists = [
                (name, re.sub(r"\[\d+\] = | ", "", values))
                for name, values in re.findall(
                    r"\b(l_\d+) = \[ ?((?:\[\d+\] = -?\d+,? ?)*)\]", line
                )
            ]
            values = [f"{name}={value}" for name, value in [*numbers, *texts, *lists]]
            found.append(" ".join([match[1], match[2], *values]))
        assert found == lines, path

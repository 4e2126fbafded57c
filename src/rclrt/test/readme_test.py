# SPDX-License-Identifier: Apache-2.0
"""The node in the README is the one that was compiled, and it runs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import textwrap
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
README = HERE.parents[2] / "README.md"


def test_the_readme_shows_the_node_that_was_compiled() -> None:
    if not README.exists():
        pytest.skip("the package was taken out of its repository")
    block = re.search(r"```cpp\n(.*?)```", README.read_text(), re.DOTALL)
    assert block is not None
    source = (HERE / "readme_sample.cpp").read_text().splitlines(keepends=True)
    assert "".join(source[2:]) == block.group(1)


def test_the_package_readme_shows_code_that_was_compiled() -> None:
    source = (HERE / "readme_snippets.cpp").read_text()
    blocks = re.findall(r"```cpp\n(.*?)```", (HERE.parent / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        assert textwrap.indent(block, "  ") in source


def wait_for_worker(pid: int) -> None:
    """Waits until the executor has a worker: for one priority or, without real time, for all."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # it may have ended
                if (task / "comm").read_text().startswith(("executor L", "executor run")):
                    return
        time.sleep(0.05)
    pytest.fail("no worker has started")


def test_the_node_runs_until_ctrl_c() -> None:
    process = subprocess.Popen([os.environ["README_SAMPLE"]])
    try:
        wait_for_worker(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()

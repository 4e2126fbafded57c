# SPDX-License-Identifier: Apache-2.0
"""The node in the README is the one that was compiled, and it runs."""

from __future__ import annotations

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
    assert len(blocks) == 3
    for block in blocks:
        assert textwrap.indent(block, "  ") in source


def test_the_node_runs_until_ctrl_c() -> None:
    process = subprocess.Popen([os.environ["README_SAMPLE"]])
    try:
        end = time.monotonic() + 120
        threads = Path(f"/proc/{process.pid}/task")
        while time.monotonic() < end and not any(
            (task / "comm").read_text().startswith("executor L") for task in threads.iterdir()
        ):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
    finally:
        process.kill()

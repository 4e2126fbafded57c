# SPDX-License-Identifier: Apache-2.0
"""How much of their stacks the runner's threads use."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import GENEROUS_S, RUNNER

WORKLOADS = (
    *("adpcm", "chacha", "chase", "edges", "fft"),
    *("huffman", "lexer", "matrix", "shortest_paths", "sort"),
)
MARGIN = 40 * 1024  # bytes that stay unused, of 112 KiB
APPLICATION = """\
rclrt: 1
name: stacks
nodes: [{name: front}, {name: back}]
topics: [{name: image, size_bytes: 100000}]
callbacks:
  - {id: take, node: front, timer: {period_ms: 20}, wcet_ms: 0.2, publishes: [image]}
  - {id: find, node: back, subscription: {topic: image}, wcet_ms: 0.2, calls: [planned]}
  - {id: plan, node: front, service: {name: /plan}, wcet_ms: 0.2}
  - {id: planned, node: back, client: {service: /plan}, wcet_ms: 0.2}
"""
CHAINS = """\
chains:
  - {id: chain, callbacks: [take, find, plan, planned], priority: 100}
"""


def application() -> str:
    callbacks = "".join(
        f"  - {{id: {name}, node: back, timer: {{period_ms: 50}}, wcet_ms: 1,"
        f" workload: {{name: {name}, iterations: 1}}}}\n"
        for name in WORKLOADS
    )
    chains = "".join(
        f"  - {{id: c_{name}, callbacks: [{name}], priority: {priority}}}\n"
        for priority, name in enumerate(WORKLOADS, start=1)
    )
    return APPLICATION + callbacks + CHAINS + chains


def stack_of(process: int, thread: str) -> tuple[int, int] | None:
    """Returns the begin and the end of the stack on which a thread sleeps."""
    state = Path(f"/proc/{process}/task/{thread}/syscall").read_text().split()
    if len(state) < 3:
        return None  # it runs
    pointer = int(state[-2], 16)
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        begin, end = (int(each, 16) for each in line.split()[0].split("-"))
        if begin <= pointer < end:
            return begin, end
    return None


def unused(process: int, prefix: str) -> Iterator[tuple[str, int]]:
    """Yields the names of sleeping threads, and the bytes at the end of their stacks that are zero.

    A new stack is zero, so that part was never used. Touching the stack before the run leaves an
    address at its depth, which is 48 KiB.
    """
    for task in Path(f"/proc/{process}/task").iterdir():
        name = (task / "comm").read_text().strip()
        stack = stack_of(process, task.name) if name.startswith(prefix) else None
        if stack is None:
            continue
        with Path(f"/proc/{process}/mem").open("rb", buffering=0) as memory:
            memory.seek(stack[0])
            content = memory.read(stack[1] - stack[0])
        yield name, len(content) - len(content.lstrip(b"\0"))


@pytest.mark.skipif(
    os.environ.get("RCLRT_PRESET") in {"asan", "tsan"}, reason="a sanitizer adds to stacks"
)
def test_workloads_messages_and_services_leave_a_margin_of_the_stack(tmp_path: Path) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(application())
    command = [RUNNER, str(app), "--executor", "preemptive", "--seconds", "3"]
    least: dict[str, int] = {}
    with subprocess.Popen([*command, "--out", str(tmp_path / "out")]) as running:
        until = time.monotonic() + GENEROUS_S
        while running.poll() is None:
            assert time.monotonic() < until
            try:
                for name, count in unused(running.pid, "main "):
                    least[name] = min(least.get(name, count), count)
            except OSError:
                pass  # a thread has ended meanwhile
            time.sleep(0.05)
    assert running.returncode == 0
    assert least, "no thread of the executor was seen"
    assert min(least.values()) >= MARGIN, least

# SPDX-License-Identifier: Apache-2.0
"""Sets the thread priorities of TIER IV's callback_isolated_executor with its own tool."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from robots import find, running

CONFIGURATOR = "lib/cie_thread_configurator/thread_configurator_node"
PATIENCE_S = 20.0
BASE_PRIORITY = 90  # the priorities of rclrt's executors are below 95
GROUP = re.compile(
    r"(?P<id>^ *- id: /(?P<node>\w+)@.*\n *affinity: .*\n)( *)policy: .*\n *priority: .*$", re.M
)


def config_of(template: str, priorities: Mapping[str, int]) -> str:
    """Returns its template with each group at the SCHED_FIFO priority of its node, by node name."""

    def at_priority(group: re.Match[str]) -> str:
        priority = priorities.get(group["node"])
        if priority is None:
            return group[0]
        return f"{group['id']}{group[3]}policy: SCHED_FIFO\n{group[3]}priority: {priority}"

    return GROUP.sub(at_priority, template)


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(f"error: {what}: was not ready after {PATIENCE_S:.0f} s")
        time.sleep(0.1)


def write_config(command: list[str], is_running: Callable[[Path], bool], folder: Path) -> Path:
    """Runs a command that prints `priority NODE N` for its nodes, to learn its callback groups."""
    log, template = folder / "log", folder / "template.yaml"
    learning = ["env", "-C", str(folder), str(find(CONFIGURATOR)), "--prerun"]
    with running(learning, folder / "prerun"), running(command, log):
        wait_for(lambda: is_running(log), command[0])
    said = re.findall(r"^priority (\w+) (\d+)$", log.read_text(errors="replace"), re.M)
    config = folder / "config.yaml"
    priorities = {node: BASE_PRIORITY + int(priority) for node, priority in said}
    text = config_of(template.read_text(), priorities)
    config.write_text(text)
    stated = {group["node"] for group in GROUP.finditer(text) if "SCHED_FIFO" in group[0]}
    if missing := sorted(priorities.keys() - stated):
        sys.exit(f"error: callback_isolated: its template has no group of {', '.join(missing)}")
    return config


def realtime_threads(pid: int) -> int:
    return sum(
        os.sched_getscheduler(int(task.name)) == os.SCHED_FIFO
        for task in Path(f"/proc/{pid}/task").iterdir()
    )


@contextmanager
def configurator(config: Path, folder: Path) -> Iterator[Callable[[], bool]]:
    """Runs the configurator; yields a function that returns whether it has applied the config."""
    log = folder / "configurator"
    with running([str(find(CONFIGURATOR)), "--config-file", str(config)], log):
        yield lambda: "All of the configurations are applied" in log.read_text(errors="replace")

# SPDX-License-Identifier: Apache-2.0
"""Reads the log lines of generated programs and of the thesis's tool: the results of the chains."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rclrt_py.errors import BadInput

_BODY = re.compile(rb"\{([a-z]+: -?[0-9]{1,18}(?:, [a-z]+: -?[0-9]{1,18})*)\}")
KEYS = frozenset({"executor", "chain", "start", "duration"})


@dataclass(frozen=True)
class Run:
    """A run of a callback of a chain, in microseconds."""

    chain: int
    callback: int
    start_us: int
    end_us: int


@dataclass
class ChainLog:
    """The content of a log: durations of chains, or runs of callbacks. In microseconds."""

    durations: dict[int, list[int]]
    runs: list[Run]


def read_chain_log(lines: Iterable[tuple[int, bytes]], name: str) -> ChainLog:
    """Reads the runs and durations in a log: the parts `{executor: 0, chain: 1, start: 2, duration:
    3}` of lines. Those of callbacks also have `callback: 4`. Text around such a part, and lines
    without one, come from syslog and are ignored. Throws BadInput with the line if a part lacks a
    key or has a negative duration."""
    log = ChainLog({}, [])
    for number, line in lines:
        found = _BODY.search(line)
        if found is None:
            continue
        pairs = (pair.split(": ") for pair in found[1].decode("ascii").split(", "))
        values = {key: int(value) for key, value in pairs}
        if not values.keys() >= KEYS:
            if not KEYS & values.keys():
                continue  # from another program
            missing = ", ".join(sorted(KEYS - values.keys()))
            raise BadInput(f"{name}:{number}: no {missing}; expected {{executor: 0, ...")
        if values["duration"] < 0:
            raise BadInput(f"{name}:{number}: duration is {values['duration']}; expected 0 or more")
        if "callback" in values:
            start = values["start"]
            end = start + values["duration"]
            log.runs.append(Run(values["chain"], values["callback"], start, end))
        else:
            log.durations.setdefault(values["chain"], []).append(values["duration"])
    return log


def durations_of_runs(runs: Iterable[Run], chain: int, path: Sequence[int]) -> list[int]:
    """Returns, for each instance of a chain, the time in microseconds from the start of its first
    callback to the end of its last callback.

    There is an instance for each run of the last callback. Each run is assigned to the instance
    with the oldest message that can have released it. The assignment is exact if no message was
    dropped, because messages of a topic keep their order.
    """
    of_callback: dict[int, list[Run]] = {callback: [] for callback in path}
    for run in runs:
        if run.chain == chain and run.callback in of_callback:
            of_callback[run.callback].append(run)
    instances = deque(
        (run.start_us, run.end_us) for run in sorted(of_callback[path[0]], key=_by_start)
    )
    for callback in path[1:]:
        following: deque[tuple[int, int]] = deque()
        for run in sorted(of_callback[callback], key=_by_start):
            if instances and instances[0][1] <= run.end_us:
                following.append((instances.popleft()[0], run.end_us))
        instances = following
    return [end_us - start_us for start_us, end_us in instances]


def _by_start(run: Run) -> int:
    return run.start_us

# SPDX-License-Identifier: Apache-2.0
"""The lines that generated programs log, and the thesis's tool's: what became of each chain."""

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
    """Of a callback of a chain, in microseconds."""

    chain: int
    callback: int
    start_us: int
    end_us: int


@dataclass
class ChainLog:
    """What a log says: durations of chains, or runs of callbacks. Microseconds."""

    durations: dict[int, list[int]]
    runs: list[Run]


def read_chain_log(lines: Iterable[tuple[int, bytes]], name: str) -> ChainLog:
    """The bodies `{executor: 0, chain: 1, start: 2, duration: 3}` of the lines, with `callback: 4`
    those of callbacks; what stands around them, and lines without one, belongs to syslog. Throws
    BadInput, with the line, for a body without its keys or with a negative duration."""
    log = ChainLog({}, [])
    for number, line in lines:
        found = _BODY.search(line)
        if found is None:
            continue
        pairs = (pair.split(": ") for pair in found[1].decode("ascii").split(", "))
        values = {key: int(value) for key, value in pairs}
        if not values.keys() >= KEYS:
            if not KEYS & values.keys():
                continue  # somebody else's
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
    """From the start of the first callback of a chain to the end of its last one, an instance for
    each run of the last. A run belongs to the instance whose message is the oldest that can have
    released it: exact while nothing is dropped, since messages of a topic keep their order."""
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

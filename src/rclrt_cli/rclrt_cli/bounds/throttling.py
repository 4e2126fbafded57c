# SPDX-License-Identifier: Apache-2.0
"""Whether an application may need more of a CPU than the kernel leaves to real-time threads."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rclrt_cli.bounds.machine import Overheads

if TYPE_CHECKING:
    from rclrt_model import Application

PERIOD_S = 1.0
"""Of the kernel's limit, by default."""
MOST_RELEASES = 100_000
"""That are looked at; of more the limit is taken to be reached."""


@dataclass(frozen=True)
class Work:
    """What one callback may take of a CPU, in seconds."""

    rate: float
    """Releases a second."""
    each: float
    more: int
    """Instances that may have been released before and arrive late: through another CPU."""

    def before(self, seconds: float) -> float:
        """Of what is released in so long, but not at its end, if one is released at its begin."""
        return self.each * (math.ceil(seconds * self.rate - 1e-9) + self.more)


def held_back(application: Application, machine: Overheads) -> str:
    """What bounds are conditional on when the kernel may hold its threads back; otherwise empty."""
    if not machine.is_held_back:
        return ""
    background = machine.background_ns / 1e6
    share = max(
        (busiest(works, background, machine.rt_share) for works in _by_cpus(application, machine)),
        default=0.0,
    )
    if share <= machine.rt_share:
        return ""
    return (
        f"the kernel does not hold back real-time threads that may need {100 * share:.1f} % of a "
        f"second of a CPU; on this machine they get {100 * machine.rt_share:.1f} % (sysctl -w "
        "kernel.sched_rt_runtime_us=-1; from Linux 6.12 on the fair server, too)"
    )


def busiest(works: Sequence[Work], background: float, limit: float) -> float:
    """The largest share of a second that the threads of one CPU may take; where they have nothing
    to do often enough for `limit`, it may be any share below.

    Let h(x) be the work released within x from a time at which the CPU had nothing to do, less x.
    What runs in the second from d on was released before some x in it, or runs after x: at most
    h(x) + 1 s, so at most the least of these for x from d to d + 1 s; and of all d the largest is
    looked for. (The demand is that of Baruah, Rosier and Howell, "Algorithms and complexity
    concerning the preemptive scheduling of periodic, real-time tasks on one processor", 1990.) What
    follows on a callback counts as released with the first of its chain.
    """
    load = background + sum(work.rate * work.each for work in works)
    if load >= limit:
        return min(load, 1.0)
    once = sum(work.each * (1 + work.more) for work in works)
    # The work is at most `once` + `load` * x, so no second that begins later is above the limit.
    last = (once + PERIOD_S * (1 - limit)) / (1 - load)
    if sum((last + PERIOD_S) * work.rate for work in works) > MOST_RELEASES:
        return 1.0

    def less_than_released(x: float) -> float:
        return sum(work.before(x) for work in works) - (1 - background) * x

    # h falls but where something is released, so its least values are right before that.
    places = sorted({0.0, *_releases(works, last + PERIOD_S)})
    least = [less_than_released(x) for x in places]
    most = 0.0
    # Places in the second from one on that are less than all later ones in it.
    within: deque[int] = deque()
    end = 1
    for number, begin in enumerate(places):
        if begin > last:
            break
        while end < len(places) and places[end] <= begin + PERIOD_S:
            while within and least[within[-1]] >= least[end]:
                within.pop()
            within.append(end)
            end += 1
        while within and within[0] <= number:
            within.popleft()
        found = less_than_released(begin + PERIOD_S)
        if within:
            found = min(found, least[within[0]])
        most = max(most, found + PERIOD_S)
    return min(most / PERIOD_S, 1.0)


def _releases(works: Sequence[Work], last: float) -> Iterator[float]:
    """How long after one release of all there is another, up to `last` seconds."""
    for rate in {work.rate for work in works if work.rate > 0}:
        for number in range(1, math.floor(last * rate) + 1):
            yield number / rate


def _by_cpus(application: Application, machine: Overheads) -> list[list[Work]]:
    """What may run on several CPUs counts as if it had one."""
    each_ns = machine.dispatch_ns + machine.scheduler_ns + machine.polling_ns
    cpus = [
        tuple(application.executors[application.executor_of(index)].cpus)
        for index in range(len(application.callbacks))
    ]
    from_others = {
        index
        for chain in application.chains
        for place, index in enumerate(chain.callbacks)
        if any(cpus[before] != cpus[index] for before in chain.callbacks[:place])
    }
    found: defaultdict[tuple[int, ...], list[Work]] = defaultdict(list)
    each_callback = zip(application.callbacks, application.rates(), strict=True)
    for index, (callback, rate) in enumerate(each_callback):
        # While a message is on its way the CPU may have nothing to do.
        hop_ns = 0 if callback.kind == "timer" else machine.hop_ns
        seconds = (callback.wcet_ns + each_ns + hop_ns) / 1e9
        found[cpus[index]].append(Work(rate, seconds, int(index in from_others)))
    return list(found.values())

# SPDX-License-Identifier: Apache-2.0
"""Whether an application needs more of a CPU than the kernel leaves to real-time threads."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rclrt_cli.bounds.machine import Overheads

if TYPE_CHECKING:
    from rclrt_model import Application


def load_with_overheads(application: Application, machine: Overheads) -> float:
    """Of the CPU that has most to do; what may run on several counts as if it had one."""
    each = machine.dispatch_ns + machine.scheduler_ns + machine.polling_ns
    loads: defaultdict[tuple[int, ...], float] = defaultdict(float)
    each_callback = zip(application.callbacks, application.rates(), strict=True)
    for index, (callback, rate) in enumerate(each_callback):
        executor = application.executors[application.executor_of(index)]
        loads[tuple(executor.cpus)] += rate * (callback.wcet_ns + each) / 1e9
    return max(loads.values(), default=0.0) + machine.background_ns / 1e6


def held_back(application: Application, machine: Overheads) -> str:
    """What bounds are conditional on when it does; otherwise empty."""
    if not machine.is_held_back:
        return ""
    load = load_with_overheads(application, machine)
    if load <= machine.rt_share:
        return ""
    return (
        f"the kernel does not hold back real-time threads that need {100 * load:.1f} % of a CPU; "
        f"on this machine they get {100 * machine.rt_share:.1f} % (sysctl -w "
        "kernel.sched_rt_runtime_us=-1; from Linux 6.12 on the fair server, too)"
    )

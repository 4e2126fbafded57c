# SPDX-License-Identifier: Apache-2.0
"""The machine that bounds are made for, from the file that `rclrt calibrate` writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rclrt_py.errors import BadInput
from rclrt_py.native import analysis

if TYPE_CHECKING:
    from rclrt_analysis import Machine, StatedOverheads
    from rclrt_model import Application

STATISTICS = ("max", "max_undisturbed", "p99", "p50")
"""Statistics that a bound can use. `max` includes the time during which the host stalled."""
HOPS = ("intra_process", "same_host")
"""Kinds of hops between executors: within one process, or between two processes."""


class OverheadsFile:
    """A file of overheads, and the statistic that bounds use of it."""

    def __init__(self, path: Path, statistic: str = STATISTICS[0]) -> None:
        """Loads the file. Throws BadInput if it cannot be read or is wrong."""
        self.path = path
        self.statistic = statistic
        module = analysis()
        try:
            self._file = module.load_overheads(path)
        except module.FileError as error:
            raise BadInput(str(error)) from error

    def require_middleware(self, rmw: str, where: str) -> None:
        """Throws BadInput if the overheads were measured on another middleware than `rmw`. `where`
        states what runs on that one. A file that does not state its middleware, as one written by
        hand may, is used for each."""
        if self._file.rmw and self._file.rmw != rmw:
            line, column = self._file.rmw_place
            raise BadInput(
                f"{self.path}:{line}:{column}: machine.rmw is {self._file.rmw}, on which these "
                f"overheads were measured; expected {rmw}, {where}\n  fix: measure on it: "
                f"RMW_IMPLEMENTATION={rmw} rclrt calibrate -o {self.path.stem}-{rmw}.json"
            )

    def machine(
        self,
        application: Application,
        executor: str,
        hops: str | None = None,
        stated: StatedOverheads | None = None,
    ) -> Machine:
        """Returns the overheads of the machine for this application under this executor.

        `hops` states whether a message between executors stays in one process or goes to another.
        None: the processes in the application decide. `stated` replaces times of the overheads
        file. Throws BadInput if the file does not have the needed values.
        """
        module = analysis()
        try:
            machine: Machine = self._file.machine(
                application,
                executor,
                statistic=self.statistic,
                hops=hops,
                stated=stated or module.StatedOverheads(),
            )
        except module.FileError as error:
            raise BadInput(str(error)) from error
        return machine


def machine_of(application: Application, executor: str, file: OverheadsFile | None) -> Machine:
    """Returns the machine of the file. Without a file, every bound is conditional."""
    if file is not None:
        return file.machine(application, executor)
    machine: Machine = analysis().Machine.unmeasured()
    return machine


def overheads_us(machine: Machine) -> dict[str, float]:
    """Returns the overheads in microseconds, as in the output of --json."""
    overheads = machine.overheads
    return {
        "dispatch_us": overheads.dispatch_ns / 1e3,
        "timer_lateness_us": overheads.timer_jitter_ns / 1e3,
        "scheduler_us": overheads.scheduler_ns / 1e3,
        "polling_us": overheads.polling_ns / 1e3,
        "hop_us": overheads.far_hop_ns[1] / 1e3,
        "background_us": overheads.background_ns / 1e3,
        "handover_us": overheads.handover_ns / 1e3,
    }

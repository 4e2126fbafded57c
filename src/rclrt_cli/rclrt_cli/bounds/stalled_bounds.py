# SPDX-License-Identifier: Apache-2.0
"""The bounds for a CPU that was measured to stand still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from rclrt_py.native import analysis, chain_bounds

from rclrt_cli.bounds.machine import Overheads

if TYPE_CHECKING:
    from rclrt_analysis import ChainBound, QueueBound
    from rclrt_analysis import Overheads as NativeOverheads
    from rclrt_model import Application


class StalledBounds:
    """Bounds of one executor if something above every priority takes the CPU once, for a time.

    Timers continue during that time, so a bound grows by more than the time itself.
    """

    def __init__(self, application: Application, executor: str, overheads: Overheads) -> None:
        self._application = application
        self._executor = executor
        self._overheads = overheads
        self._places = {chain.id: place for place, chain in enumerate(application.chains)}
        self._bounds = cache(self._analyse)
        self._queues = cache(self._analyse_queues)

    def bound_ns(self, chain: str, stalled_ns: int) -> int | None:
        """Returns the bound on a chain's response. None: no bound was found."""
        found: int | None = self._bounds(stalled_ns)[self._places[chain]].bound_ns
        return found

    def may_drop(self, chain: str, stalled_ns: int) -> bool:
        """Returns whether an instance of the chain may be dropped because a queue is full."""
        queues = self._queues(stalled_ns)
        callbacks = self._application.chains[self._places[chain]].callbacks
        return any(not queues[callback].holds for callback in callbacks)

    def _analyse(self, stalled_ns: int) -> Sequence[ChainBound]:
        with_stall = self._with(stalled_ns)
        bounds: Sequence[ChainBound] = chain_bounds(self._application, self._executor, with_stall)
        return bounds

    def _analyse_queues(self, stalled_ns: int) -> Sequence[QueueBound]:
        with_stall = self._with(stalled_ns)
        bounds: Sequence[QueueBound] = analysis().queue_bounds(
            self._application, self._executor, with_stall
        )
        return bounds

    def _with(self, stalled_ns: int) -> NativeOverheads:
        return replace(self._overheads, stall_ns=stalled_ns).native()

# SPDX-License-Identifier: Apache-2.0
"""The queues in the answer of `rclrt analyze`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rclrt_py.native import analysis

if TYPE_CHECKING:
    from rclrt_analysis import Machine
    from rclrt_model import Application


class Queue(TypedDict):
    """Whether a callback's queue is deep enough."""

    id: str
    pending_bound: int | None
    depth: int
    holds: bool


def queues(application: Application, executor: str, machine: Machine) -> list[Queue]:
    """Returns the queues of all callbacks; none under an executor without bounds."""
    module = analysis()
    if module.why_no_bounds(executor) is not None:
        return []
    found = module.queue_bounds(application, executor, machine.overheads)
    return [
        {
            "id": callback.id,
            "pending_bound": queue.pending,
            "depth": queue.depth,
            "holds": queue.holds,
        }
        for callback, queue in zip(application.callbacks, found, strict=True)
    ]

# SPDX-License-Identifier: Apache-2.0
"""The queues in the answer of `rclrt analyze`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from rclrt_analysis import Judgement
    from rclrt_model import Application


class Queue(TypedDict):
    """Whether a callback's queue is deep enough."""

    id: str
    pending_bound: int | None
    depth: int
    holds: bool


def queues(application: Application, judgement: Judgement) -> list[Queue]:
    """Returns the queues of all callbacks; none under an executor without bounds."""
    return [
        {
            "id": callback.id,
            "pending_bound": queue.pending,
            "depth": queue.depth,
            "holds": queue.holds,
        }
        for callback, queue in zip(application.callbacks, judgement.queues, strict=False)
    ]

# SPDX-License-Identifier: Apache-2.0
"""The bounds of links between hosts as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rclrt_py.stats import ms_or_none

if TYPE_CHECKING:
    from rclrt_analysis import LinkBound
    from rclrt_model import Application


class Link(TypedDict):
    """The bounds of one direction of a link between hosts."""

    link: str
    sender: str
    receiver: str
    load: float
    delay_ms: float | None
    backlog_bytes: int | None
    note: str


def link_of(application: Application, bound: LinkBound) -> Link:
    """Returns the bounds of one direction of a link."""
    return {
        "link": application.links[bound.link].name,
        "sender": application.hosts[bound.from_].name,
        "receiver": application.hosts[bound.to].name,
        "load": bound.load,
        "delay_ms": ms_or_none(bound.delay_ns),
        "backlog_bytes": bound.backlog_bytes,
        "note": bound.note,
    }

# SPDX-License-Identifier: Apache-2.0
"""The properties of a kind of executor that Python uses. See rclrt/model/executor_kind.hpp."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ExecutorKind:
    """A kind in the registry of executors."""

    name: str
    class_name: str = ""
    on_rclcpp: bool = False
    has_levels: bool = False
    has_scheduler_thread: bool = False
    polls: bool = False
    one_at_a_time: bool = False
    by_deadline: bool = False
    orders_executors: bool = False

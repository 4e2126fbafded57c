# SPDX-License-Identifier: Apache-2.0
"""The registry of executors, made by tools/executor_kinds.py: do not edit it."""

from __future__ import annotations

from rclrt_py.executor_kind import ExecutorKind

KINDS = (
    ExecutorKind(
        name="wait_set",
        class_name="WaitSetExecutor",
        polls=True,
        one_at_a_time=True,
    ),
    ExecutorKind(
        name="producer_consumer",
        class_name="ProducerConsumerExecutor",
        on_rclcpp=True,
        has_levels=True,
        has_scheduler_thread=True,
    ),
    ExecutorKind(
        name="thread_dispatch",
        class_name="ThreadDispatchExecutor",
        on_rclcpp=True,
        has_levels=True,
        has_scheduler_thread=True,
    ),
    ExecutorKind(
        name="preemptive",
        class_name="PreemptiveExecutor",
        on_rclcpp=True,
        has_levels=True,
    ),
    ExecutorKind(
        name="edf",
        class_name="EdfExecutor",
        on_rclcpp=True,
        by_deadline=True,
    ),
    ExecutorKind(
        name="events",
        class_name="EventsExecutor",
        one_at_a_time=True,
    ),
    ExecutorKind(
        name="picas",
        class_name="PicasExecutor",
        on_rclcpp=True,
        one_at_a_time=True,
        orders_executors=True,
    ),
    ExecutorKind(
        name="per_group",
        class_name="PerGroupExecutor",
        on_rclcpp=True,
        has_levels=True,
    ),
    ExecutorKind(
        name="static_order",
        class_name="StaticOrderExecutor",
        on_rclcpp=True,
        one_at_a_time=True,
    ),
    ExecutorKind(
        name="workshop",
        class_name="WorkshopExecutor",
        on_rclcpp=True,
        has_levels=True,
    ),
)
OPTIONS_HELP = (
    "threads=N (1 to 64), static, order=arbitrary, seed=N of wait_set; timers_thread of events;"
    " trigger=all, trigger_on=CALLBACK, let of static_order"
)

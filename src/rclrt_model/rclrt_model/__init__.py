# SPDX-License-Identifier: Apache-2.0
"""The model of an rclrt application: reads and validates app.yaml.

    application = rclrt_model.load("app.yaml")
    for chain in application.chains:
        print(chain.id, chain.deadline_ns)

The objects cannot be changed. Times are whole nanoseconds (suffix _ns), enumerations are the words
of app.yaml. Each access to a list such as `application.callbacks` makes a new tuple: keep it in a
variable to loop over it.
"""

from rclrt_model._native import (
    EXECUTOR_KINDS,
    EXECUTOR_OPTIONS_HELP,
    Application,
    Callback,
    CallbackPlace,
    CauseEffectChain,
    Chain,
    CrossTraffic,
    Event,
    Executor,
    ExecutorOption,
    ExecutorTraits,
    LinkDirection,
    LinkMessage,
    ModelError,
    NetworkHost,
    NetworkLink,
    Node,
    NodeTiming,
    Segment,
    Shaper,
    Subscription,
    Sync,
    ThreadRule,
    Timer,
    Topic,
    canonical_executor,
    link_messages,
    load,
    load_node_timings,
    order_warnings,
    places_of,
    read_yaml,
    to_yaml,
)

__all__ = [
    "EXECUTOR_KINDS",
    "EXECUTOR_OPTIONS_HELP",
    "Application",
    "Callback",
    "CallbackPlace",
    "CauseEffectChain",
    "Chain",
    "CrossTraffic",
    "Event",
    "Executor",
    "ExecutorOption",
    "ExecutorTraits",
    "LinkDirection",
    "LinkMessage",
    "ModelError",
    "NetworkHost",
    "NetworkLink",
    "Node",
    "NodeTiming",
    "Segment",
    "Shaper",
    "Subscription",
    "Sync",
    "ThreadRule",
    "Timer",
    "Topic",
    "canonical_executor",
    "link_messages",
    "load",
    "load_node_timings",
    "order_warnings",
    "places_of",
    "read_yaml",
    "to_yaml",
]

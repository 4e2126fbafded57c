# SPDX-License-Identifier: Apache-2.0
"""The nodes of a running robot, and what monitored processes publish about their callbacks."""

from __future__ import annotations

import importlib
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

NAME = re.compile(r"(/[A-Za-z0-9_]+)+")
PLACE = re.compile(
    r"rclrt: (?P<node>[A-Za-z0-9_/]+)(?: group (?P<group>\d{1,6}))?"
    r" (?P<kind>timer|subscription|service|client|waitable) (?P<name>[A-Za-z0-9_/]+)",
    re.ASCII,
)
PROCESS = re.compile(r"rclrt: process (\S+) (\d{1,9})", re.ASCII)
HIGHEST_NUMBER = 1_000_000
LONGEST_MS = 3_600_000
"""The highest index and priority, and the longest time, of a robot.yaml."""
EVERY_NODE = frozenset(
    {
        "describe_parameters",
        "get_logger_levels",
        "get_parameter_types",
        "get_parameters",
        "get_type_description",
        "list_parameters",
        "set_logger_levels",
        "set_parameters",
        "set_parameters_atomically",
    }
)
PARAMETER_EVENTS = "/parameter_events"
FAST_DDS = ("rmw_fastrtps_cpp", "rmw_fastrtps_dynamic_cpp")
HOST_OF_GID = slice(2, 4)
PID_OF_GID = slice(4, 6)
"""Where the identifiers of Fast DDS's endpoints have the 16 low bits of the process number."""


@dataclass(frozen=True, order=True)
class Entity:
    """A callback by its names in the ROS graph. Timers and waitables have an index."""

    kind: str
    name: str
    group: int = 0


@dataclass
class Monitored:
    """Values that the monitor of a process publishes about a callback."""

    priority: int
    deadline_ms: str = ""
    is_age: bool = False


@dataclass
class FoundNode:
    """A node. `processes`: the low 16 bits of the numbers of processes that may have it."""

    name: str
    entities: set[Entity] = field(default_factory=set)
    short_pids: set[int] = field(default_factory=set)


@dataclass
class Graph:
    """The nodes by name, and by process what its monitor has published."""

    nodes: dict[str, FoundNode] = field(default_factory=dict)
    monitored: dict[int, dict[tuple[str, Entity], Monitored]] = field(default_factory=dict)
    problem: str = ""
    """Why there is no graph; empty: there is one."""


def read_graph(seconds: float) -> Graph:
    """Listens to the ROS graph for a time. Names that no ROS 2 gives are left out."""
    graph = Graph()
    try:
        rclpy = importlib.import_module("rclpy")
        signals = importlib.import_module("rclpy.signals")
    except ImportError as error:
        graph.problem = f"rclpy is missing ({error})"
        return graph
    try:
        rclpy.init(args=[], signal_handler_options=signals.SignalHandlerOptions.NO)
        node = rclpy.create_node(
            f"rclrt_robot_init_{os.getpid()}", enable_rosout=False, start_parameter_services=False
        )
        _listen(node, graph)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            rclpy.spin_once(node, timeout_sec=0.1)
        _read_nodes(node, graph)
        node.destroy_node()
    except RuntimeError as error:  # rclpy's RCLError is one, and has no public name
        graph.problem = f"ROS 2 cannot start here ({error})"
    finally:
        with suppress(Exception):
            rclpy.try_shutdown()
    return graph


def _listen(node: Any, graph: Graph) -> None:
    try:
        message = importlib.import_module("diagnostic_msgs.msg").DiagnosticArray
    except ImportError:
        return
    node.create_subscription(
        message, "/diagnostics", lambda each: take_diagnostics(each.status, graph), 100
    )


def take_diagnostics(statuses: Any, graph: Graph) -> None:
    """Takes the values of one message: those that a monitor of a process on this host publishes and
    a robot.yaml can state. Any program may publish there."""
    pid = 0
    found: dict[tuple[str, Entity], Monitored] = {}
    for status in statuses:
        name = str(status.name)
        process, place = PROCESS.fullmatch(name), PLACE.fullmatch(name)
        if process and process[1] == os.uname().nodename:
            pid = int(process[2])
        elif place and (entity := _entity(place)):
            values = {str(each.key): str(each.value) for each in status.values}
            if (monitored := _monitored(values)) is not None:
                found[place["node"], entity] = monitored
    if pid:
        graph.monitored.setdefault(pid, {}).update(found)


def _entity(place: re.Match[str]) -> Entity | None:
    """Returns the callback of a status. None: no callback has such names."""
    name, group = place["name"], int(place["group"] or 0)
    if place["kind"] in ("timer", "waitable"):
        fits = name.isdigit() and len(name) <= 7 and int(name) <= HIGHEST_NUMBER
        name = str(int(name)) if fits else name
    else:
        fits = NAME.fullmatch(name) is not None
    if not fits or not NAME.fullmatch(place["node"]):
        return None
    return Entity(place["kind"], name, group)


def _monitored(values: dict[str, str]) -> Monitored | None:
    priority, limit = values.get("priority", ""), values.get("deadline_ms", "")
    if not re.fullmatch(r"\d{1,7}", priority, re.ASCII) or int(priority) > HIGHEST_NUMBER:
        return None
    is_time = re.fullmatch(r"\d{1,7}(\.\d{1,6})?", limit, re.ASCII) is not None
    if not is_time or not 0 < float(limit) <= LONGEST_MS:
        limit = ""
    return Monitored(int(priority), limit, values.get("limit_of") == "age")


def _read_nodes(node: Any, graph: Graph) -> None:
    for name, namespace in node.get_node_names_and_namespaces():
        full = f"{namespace.rstrip('/')}/{name}"
        if name == node.get_name() or name.startswith("_ros2cli") or not NAME.fullmatch(full):
            continue
        graph.nodes[full] = found = FoundNode(full)
        for kind, read in (
            ("subscription", node.get_subscriber_names_and_types_by_node),
            ("service", node.get_service_names_and_types_by_node),
            ("client", node.get_client_names_and_types_by_node),
        ):
            found.entities |= _entities(kind, full, read, name, namespace)
    _read_processes(node, graph)


def _entities(
    kind: str, full: str, read: Callable[..., Any], name: str, namespace: str
) -> set[Entity]:
    with suppress(Exception):  # the node has ended meanwhile
        return {
            Entity(kind, each)
            for each, _ in read(name, namespace)
            if NAME.fullmatch(each) and not is_of_every_node(full, kind, each)
        }
    return set()


def is_of_every_node(node: str, kind: str, name: str) -> bool:
    """Returns whether the client library makes such a callback for every node, or an action hides
    it behind a waitable."""
    if kind == "subscription":
        return name == PARAMETER_EVENTS or "/_action/" in name
    if kind == "service":
        return (
            "/_action/" in name
            or name.startswith(f"{node}/_container/")
            or (name.startswith(f"{node}/") and name[len(node) + 1 :] in EVERY_NODE)
        )
    return "/_action/" in name


def _read_processes(node: Any, graph: Graph) -> None:
    """Finds by their endpoints which process has a node, if the middleware is Fast DDS: its
    identifiers have the host and the 16 low bits of the process."""
    utilities = importlib.import_module("rclpy.utilities")
    if utilities.get_rmw_implementation_identifier() not in FAST_DDS:
        return
    own = _own_host(node)
    for topic, _ in node.get_topic_names_and_types():
        with suppress(Exception):
            for each in (
                *node.get_publishers_info_by_topic(topic),
                *node.get_subscriptions_info_by_topic(topic),
            ):
                full = f"{each.node_namespace.rstrip('/')}/{each.node_name}"
                gid = bytes(each.endpoint_gid)
                if full in graph.nodes and gid[HOST_OF_GID] == own:
                    short = int.from_bytes(gid[PID_OF_GID], "little")
                    graph.nodes[full].short_pids.add(short)


def _own_host(node: Any) -> bytes:
    """Returns the bytes of the host in the identifiers of this process's endpoints."""
    for each in node.get_subscriptions_info_by_topic("/diagnostics"):
        if each.node_name == node.get_name():
            return bytes(each.endpoint_gid)[HOST_OF_GID]
    return b""

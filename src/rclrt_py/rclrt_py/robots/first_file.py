# SPDX-License-Identifier: Apache-2.0
"""The first robot.yaml of a running robot: every thread and callback that was found, as it is."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Sequence

from rclrt_py.errors import RclrtError
from rclrt_py.native import model
from rclrt_py.robots.graph import Entity, Graph, Monitored
from rclrt_py.robots.names import MIDDLEWARE, as_yaml, pattern_of, process_name
from rclrt_py.robots.threads import FoundProcess, FoundThread, ThreadScheduling, widest_affinity
from rclrt_py.text import clean, exact, shorten

OWN_THREADS = ("executor ", "rclrt ")
"""Beginnings of the names of rclrt's own threads, which no rule changes."""
FAST_DDS_THREADS = "dds."
"""Beginning of the names of Fast DDS's threads. The rest, as a port, differs from run to run."""
HIGHEST_OF_RULES = 98
NOT_UTF_8 = "\N{REPLACEMENT CHARACTER}"
"""In place of bytes of a name that are no UTF-8. The kernel may cut a name within a character."""
INDEXED = ("timer", "waitable")
WIDTH = 100


def first_file(processes: Sequence[FoundProcess], graph: Graph) -> str:
    """Returns the text of a robot.yaml, with several processes of a file of all processes of a
    host. Its comments tell what was found, and what was not."""
    cpus = widest_affinity(processes)
    homes = nodes_of(processes, graph)
    several = len(processes) > 1
    lines = _head(processes, graph, homes)
    lines.append("rclrt: 1")
    if several:
        lines.append("processes:")
    taken: set[str] = set()
    for process in processes:
        own = _process_lines(process, graph, homes[process.pid], cpus)
        about = f"# Process {process.pid}: {shorten(' '.join(process.command), WIDTH)}"
        if several:
            name = process_name(process.program, taken)
            taken.add(name)
            lines += ["  " + about, f"  - name: {as_yaml(name)}", *("    " + each for each in own)]
        else:
            lines += [about, *own]
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    try:
        model().robot_warnings(text, "robot.yaml", host=several)
    except model().ModelError as error:
        raise RclrtError(f"the robot.yaml that was made is not valid: {error}") from error
    return text


def nodes_of(processes: Sequence[FoundProcess], graph: Graph) -> dict[int, list[str]]:
    """Returns the names of the nodes of each process, as far as that is known: by its monitor, by
    the middleware's identifiers, or by its command line."""
    shorts = [process.pid & 0xFFFF for process in processes]
    result = {}
    for process in processes:
        found = {node for node, _ in graph.monitored.get(process.pid, {})}
        if shorts.count(process.pid & 0xFFFF) == 1:
            found |= {
                name
                for name, node in graph.nodes.items()
                if process.pid & 0xFFFF in node.short_pids
            }
        stated = {
            word.partition(":=")[2] for word in process.command if word.startswith("__node:=")
        }
        found |= {name for name in graph.nodes if name.rpartition("/")[2] in stated}
        result[process.pid] = sorted(found)
    return result


def _head(
    processes: Sequence[FoundProcess], graph: Graph, homes: dict[int, list[str]]
) -> list[str]:
    threads = sum(len(process.threads) for process in processes)
    known = {node for nodes in homes.values() for node in nodes}
    lines = _comment(
        f"Found on this host by rclrt robot init: processes: {len(processes)}, "
        f"threads: {threads}, nodes: {len(graph.nodes)}. "
        "As it is, threads keep their scheduling, and callbacks below priority 1 have normal "
        "scheduling. Give a priority of 1 or more to the urgent callbacks; "
        "docs/reference/robot-yaml.md explains each key."
    )
    if graph.problem:
        lines += _comment(f"The ROS graph was not read: {graph.problem}.")
    else:
        lines += _comment(
            f"Nodes are those of the ROS domain {os.environ.get('ROS_DOMAIN_ID') or 0}. The ROS "
            "graph has no timers and no callback groups. With the line write_priorities, "
            "the container writes every callback with its group to that file."
        )
    missing = sorted(set(graph.nodes) - known)
    if missing:
        lines += _comment(
            f"Nodes of which the process is not known: {', '.join(missing)}. Move their entries to "
            "the process that has them:"
        )
        for node in missing:
            lines += [f"#   {entry}" for entry in _entries(node, graph, {})]
    return lines


def _process_lines(
    process: FoundProcess, graph: Graph, nodes: Sequence[str], cpus: tuple[int, ...]
) -> list[str]:
    monitored = graph.monitored.get(process.pid, {})
    lines = ["executor: {kind: preemptive, best_effort_below: 1}"]
    entries = []
    for node in nodes:
        own = {entity: each for (name, entity), each in monitored.items() if name == node}
        found = _entries(node, graph, own)
        entries += [f"  {each}" for each in found] or [f"  # {node}: no callback with a name"]
    if any(not each.lstrip().startswith("#") for each in entries):
        lines.append("callbacks:")
    lines += entries or ["# No node of this process is known."]
    lines += _thread_lines(process.threads, cpus)
    if monitored or any(each.name.startswith(OWN_THREADS) for each in process.threads):
        lines += _comment(
            "This process runs rclrt already. Its executor, memory, monitor and recording cannot "
            "be seen from outside, and its callbacks without a deadline have priorities, too: keep "
            "its own robot.yaml, and take from this file what that one lacks."
        )
    lines.append("# write_priorities: found.yaml")
    return lines


def _entries(node: str, graph: Graph, monitored: dict[Entity, Monitored]) -> list[str]:
    """Returns the entries of a node: the monitored callbacks, and those that only the graph has."""
    entries = []
    for entity, each in sorted(monitored.items(), key=lambda item: item[0]):
        group = f", group: {entity.group}" if entity.group or entity.kind in INDEXED else ""
        limit = ""
        if each.deadline_ms:
            may_age = entity.kind in ("subscription", "timer")
            if not each.is_age or may_age:
                limit = f", {'max_age_ms' if each.is_age else 'deadline_ms'}: {each.deadline_ms}"
        entries.append(
            f"- {{node: {node}{group}, {entity.kind}: {entity.name}, "
            f"priority: {each.priority}{limit}}}"
        )
    named = {(entity.kind, entity.name) for entity in monitored}
    in_graph = graph.nodes[node].entities if node in graph.nodes else set()
    for entity in sorted(in_graph):
        if (entity.kind, entity.name) not in named:
            entries.append(f"- {{node: {node}, {entity.kind}: {entity.name}, priority: 0}}")
    return entries


def _thread_lines(threads: Iterable[FoundThread], cpus: tuple[int, ...]) -> list[str]:
    by_name: dict[str, list[ThreadScheduling]] = {}
    middleware: list[str] = []
    for thread in threads:
        name = thread.name
        if name.startswith(FAST_DDS_THREADS):
            middleware.append(name)
            name = FAST_DDS_THREADS
        by_name.setdefault(name, []).append(thread.scheduling)
    own, nameless, rules = list[str](), list[str](), list[str]()
    for name, found in by_name.items():
        remark = f"{len(found)} thread{'' if len(found) == 1 else 's'}: {_words(found, cpus)}"
        if name.startswith(OWN_THREADS):
            own.append(f"#   {clean(name)}: {remark}")
        elif not name or NOT_UTF_8 in name:
            nameless.append(f"#   {clean(name) or 'an empty name'}: {remark}")
        elif name == FAST_DDS_THREADS:
            names = ", ".join(dict.fromkeys(map(clean, middleware)))
            rules.append(f"  - {{name: {MIDDLEWARE}, {_rule(found, cpus)}}}  # {remark} ({names})")
        else:
            rules.append(f"  - {{name: {pattern_of(name)}, {_rule(found, cpus)}}}  # {remark}")
    lines = ["threads:", *rules] if rules else []
    if own:
        lines += ["# Threads of rclrt, which have the scheduling of the executor:", *own]
    if nameless:
        lines += [
            "# Threads that no name identifies; state a rule by library or function:",
            *nameless,
        ]
    return lines


def _rule(found: list[ThreadScheduling], cpus: tuple[int, ...]) -> str:
    """Returns the scheduling that all these threads have, as keys of a rule."""
    first = found[0]
    if any(each != first for each in found):
        return "policy: keep"
    place = f", cpus: [{', '.join(map(str, first.cpus))}]" if first.cpus != cpus else ""
    if first.policy == "SCHED_OTHER" and (first.nice or place):
        return f"policy: other, nice: {first.nice}{place}"
    if first.policy in ("SCHED_FIFO", "SCHED_RR") and first.priority <= HIGHEST_OF_RULES:
        word = "fifo" if first.policy == "SCHED_FIFO" else "rr"
        return f"policy: {word}, priority: {first.priority}{place}"
    if first.policy == "SCHED_DEADLINE" and first.runtime_ns:
        times = (("runtime", first.runtime_ns), ("deadline", first.deadline_ns),
                 ("period", first.period_ns or first.deadline_ns))  # fmt: skip
        return "policy: deadline, " + ", ".join(f"{key}_ms: {exact(ns / 1e6)}" for key, ns in times)
    return "policy: keep"


def _words(found: list[ThreadScheduling], cpus: tuple[int, ...]) -> str:
    return "; ".join(_scheduling_in_words(each, cpus) for each in sorted(set(found)))


def _scheduling_in_words(scheduling: ThreadScheduling, cpus: tuple[int, ...]) -> str:
    words = scheduling.policy
    if scheduling.policy in ("SCHED_FIFO", "SCHED_RR"):
        words += f" {scheduling.priority}"
    elif scheduling.policy in ("SCHED_OTHER", "SCHED_BATCH"):
        words += f" nice {scheduling.nice}"
    where = "all CPUs" if scheduling.cpus == cpus else f"CPUs {ranges(scheduling.cpus)}"
    return f"{words}, {where}"


def ranges(cpus: Sequence[int]) -> str:
    """Returns ascending numbers as the kernel writes them: "0-3,5"."""
    parts: list[list[int]] = []
    for cpu in cpus:
        if parts and cpu == parts[-1][1] + 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(clean(text), WIDTH, break_on_hyphens=False)]

# SPDX-License-Identifier: Apache-2.0
"""Makes a robot.yaml from the configuration of callback_isolated_executor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rclrt_py.errors import BadInput
from rclrt_py.native import model
from rclrt_py.robots.cie import DEADLINE, REAL_TIME, CieCallback, CieFile, CieThread
from rclrt_py.robots.graph import is_of_every_node
from rclrt_py.robots.kernel_scale import KernelScale
from rclrt_py.robots.names import NAME_LENGTH, as_yaml, cut, pattern_of
from rclrt_py.robots.remarks import Remark
from rclrt_py.text import clean, exact

FIRST_RESERVED_LEVEL = 101
"""Numbers of levels with a budget. They only identify the levels; SCHED_FIFO ends at 99."""


@dataclass(frozen=True)
class Converted:
    """A robot.yaml, and what the user must know about it."""

    text: str
    remarks: list[Remark]
    warnings: list[str]
    """Those of the project's own reader about the text."""


@dataclass
class _Process:
    """The part of the file for one process. Without a name: the file is for one process."""

    name: str = ""
    groups: list[CieThread] = field(default_factory=list)
    threads: list[CieThread] = field(default_factory=list)


def robot_from_cie(
    file: CieFile, processes: Mapping[str, Sequence[str]], domain: int | None = None
) -> Converted:
    """Converts a file. `processes`: for each process the nodes and the threads without ROS that it
    has; empty: all are in one process. `domain`: the ROS domain of the groups that count, if the
    file has several.

    Throws BadInput if `processes` does not place everything, and if the result would not be valid.
    """
    groups = _of_domain(file, domain)
    scale = KernelScale(each.priority for each in groups if each.policy in REAL_TIME)
    if not scale.fits:
        raise BadInput(
            f"{file.remarks.source.name}: the callback groups have {len(scale.levels)} different "
            f"priorities of SCHED_FIFO; expected at most {scale.top - 1}, because the levels of an "
            f"executor are below its top_priority, here {scale.top}"
        )
    parts = _placed(file, groups, processes)
    names = _names_of(file, groups)
    lines: list[str] = []
    for part in parts:
        lines += _process_lines(file, part, scale, names)
    if processes:
        lines.insert(0, "processes:\n")
    head = _head(file, groups, scale)
    remarks = sorted(file.remarks.remarks, key=lambda each: (each.line, each.column))
    text = "".join([*head, "rclrt: 1\n", *lines])
    try:
        warnings = model().robot_warnings(text, "robot.yaml", host=bool(processes))
    except model().ModelError as error:
        raise BadInput(
            f"{file.remarks.source.name}: no robot.yaml can state this configuration:\n  {error}"
        ) from error
    return Converted(text, remarks, warnings)


def _of_domain(file: CieFile, domain: int | None) -> list[CieThread]:
    stated = sorted({each.domain for each in file.groups if each.domain is not None})
    if domain is not None and domain not in stated:
        raise BadInput(
            f"--domain {domain}: no callback group of {file.remarks.source.name} is in this domain"
        )
    if domain is None and len(stated) > 1:
        raise BadInput(
            f"{file.remarks.source.name}: has callback groups of the ROS domains "
            f"{', '.join(map(str, stated))}; choose one with --domain, because a robot.yaml is for "
            "processes of one domain"
        )
    if stated:
        first = next(each for each in file.groups if each.domain is not None)
        used = domain if domain is not None else stated[0]
        file.remarks.note(
            first.at,
            f"domain_id is not in a robot.yaml; start the process with ROS_DOMAIN_ID={used}",
        )
    return [each for each in file.groups if domain is None or each.domain in (None, domain)]


def _placed(
    file: CieFile, groups: list[CieThread], processes: Mapping[str, Sequence[str]]
) -> list[_Process]:
    if not processes:
        nodes = {each.node for each in groups}
        if len(nodes) > 1:
            file.remarks.note(
                groups[0].at,
                f"all {len(nodes)} nodes are taken to be in one process; if they are in several, "
                "name them with --process, because then their priorities need a common scale",
            )
        return [_Process("", groups, file.threads)]
    parts = {name: _Process(name) for name in processes}
    home = {each: name for name, members in processes.items() for each in members}
    homeless = []
    for thread in [*groups, *file.threads]:
        what = thread.node or thread.name
        if what not in home:
            homeless.append(f"{what} (line {file.remarks.line(thread.at)})")
        elif thread.node:
            parts[home[what]].groups.append(thread)
        else:
            parts[home[what]].threads.append(thread)
    if homeless:
        raise BadInput(
            f"--process: {clean(homeless[0])} of {file.remarks.source.name} is in no process"
            + (f", and {len(homeless) - 1} more" if len(homeless) > 1 else "")
            + "; add it to one, as in --process control=/controller,/planner"
        )
    known = {each.node for each in groups} | {each.name for each in file.threads}
    for each, name in home.items():
        if each not in known:
            raise BadInput(
                f"--process {name}: {file.remarks.source.name} has no node or thread '{each}'"
            )
    return list(parts.values())


@dataclass(frozen=True)
class _Names:
    """The callback by which an entry names each group, by the identity of the group."""

    own: dict[int, CieCallback]
    """A callback that only this group has."""
    shared: dict[int, CieCallback]
    """A callback that other groups have, too. Their entries come later, and count there."""
    overriding: set[int]
    """Groups that need an entry because a shared name is also theirs."""


def _names_of(file: CieFile, groups: list[CieThread]) -> _Names:
    holders: dict[tuple[str, CieCallback], list[CieThread]] = {}
    for group in groups:
        for each in dict.fromkeys(filter(_can_name, group.callbacks)):
            holders.setdefault((group.node, each), []).append(group)
    names = _Names({}, {}, set())
    for group in groups:
        candidates = sorted(
            filter(_can_name, group.callbacks),
            key=lambda each: is_of_every_node(group.node, each.kind, each.name),
        )
        for each in candidates:
            if len(holders[group.node, each]) == 1:
                names.own.setdefault(id(group), each)
    for group in groups:
        if group.is_default or id(group) in names.own:
            continue
        for each in filter(_can_name, group.callbacks):
            others = [other for other in holders[group.node, each] if other is not group]
            if all(id(other) in names.own for other in others):
                names.shared[id(group)] = each
                names.overriding.update(map(id, others))
                break
        else:
            file.remarks.lost(
                group.at,
                f"nothing in the id identifies this group of {group.node} alone; state its "
                "settings by 'group: N', with the numbers that write_priorities writes",
            )
    return names


def _can_name(callback: CieCallback) -> bool:
    return callback.kind != "timer" or 0 < callback.period_ns <= 3_600_000_000_000


def _process_lines(file: CieFile, part: _Process, scale: KernelScale, names: _Names) -> list[str]:
    reserved: list[CieThread] = []
    first: list[str] = []
    entries: list[str] = []
    for group in part.groups:
        named = names.own.get(id(group)) or names.shared.get(id(group))
        if named is None:
            continue
        if group.policy in REAL_TIME:
            priority = group.priority
        elif group.policy == DEADLINE:
            reserved.append(group)
            priority = FIRST_RESERVED_LEVEL - 1 + len(reserved)
        else:
            priority = 0
            _note_time_sharing(file, group)
        if group.policy == "SCHED_RR":
            file.remarks.lost(
                group.at,
                "SCHED_RR is SCHED_FIFO here: at one priority, callbacks run in the order of their "
                "releases, without time slices",
            )
        if priority > 0 or id(group) in names.overriding:
            lines = entries if id(group) in names.own else first
            lines.append(_entry(group, named, priority))
    lines = [f"executor: {_executor(file, part, scale, reserved)}\n"]
    if first or entries:
        lines += ["callbacks:\n", *first, *entries]
    rules = _rules(file, part, scale)
    if rules:
        lines += ["threads:\n", *rules]
    if not part.name:
        return lines
    return [f"  - name: {as_yaml(part.name)}\n", *(f"    {line}" for line in lines)]


def _rules(file: CieFile, part: _Process, scale: KernelScale) -> list[str]:
    """Returns the rules of the threads without ROS. The kernel keeps the beginning of a name only,
    so names may be equal there."""
    rules: list[str] = []
    lines: dict[str, int] = {}
    for thread in part.threads:
        name = cut(thread.name)
        if name in lines:
            file.remarks.lost(
                thread.at,
                f"the kernel keeps {NAME_LENGTH} bytes of a name; in these it is that of "
                f"line {lines[name]}; state a rule by its function",
            )
            continue
        lines[name] = file.remarks.line(thread.at)
        rules.append(_rule(file, thread, scale))
    return rules


def _note_time_sharing(file: CieFile, group: CieThread) -> None:
    if group.policy != "SCHED_OTHER" or group.nice:
        file.remarks.lost(
            group.at,
            f"{group.policy} with nice {group.nice}: callbacks without an entry have normal "
            "scheduling and the nice value of the process",
        )


def _entry(group: CieThread, named: CieCallback, priority: int) -> str:
    if named.kind == "timer":
        callback = f"timer_period_ms: {exact(named.period_ns / 1e6)}"
    else:
        callback = f"{named.kind}: {named.name}"
    return f"  - {{node: {group.node}, {callback}, whole_group: true, priority: {priority}}}\n"


def _executor(file: CieFile, part: _Process, scale: KernelScale, reserved: list[CieThread]) -> str:
    settings = ["kind: preemptive", f"top_priority: {scale.top}", "best_effort_below: 1"]
    cpus = _cpus(file, part, bool(reserved))
    if cpus:
        settings.append(f"cpus: [{', '.join(map(str, cpus))}]")
    if reserved:
        budgets = ", ".join(
            f"{{priority: {FIRST_RESERVED_LEVEL + index}, {_times(group)}}}"
            for index, group in enumerate(reserved)
        )
        settings.append(f"reservations: [{budgets}]")
    return f"{{{', '.join(settings)}}}"


def _cpus(file: CieFile, part: _Process, reserves: bool) -> tuple[int, ...]:
    """Returns the CPUs of the executor: those of all groups with settings, if they agree."""
    configured = [each for each in part.groups if not each.is_default]
    stated = [each for each in configured if each.affinity]
    if not stated:
        return ()
    if reserves:
        for each in stated:
            file.remarks.lost(
                each.at,
                f"affinity {list(each.affinity)}: an executor with a budget under SCHED_DEADLINE "
                "may use every CPU, as the kernel requires without a cpuset",
            )
        return ()
    if {each.affinity for each in configured} == {stated[0].affinity}:
        rest = len(part.groups) - len(configured)
        if rest:
            file.remarks.note(
                stated[0].at,
                f"'cpus' pins all groups of the process, also the {rest} without an affinity",
            )
        return stated[0].affinity
    for each in stated:
        file.remarks.lost(
            each.at,
            f"affinity {list(each.affinity)}: all groups of a process run on the 'cpus' of its "
            "executor; put nodes with other CPUs into processes of their own (--process)",
        )
    return ()


def _times(thread: CieThread) -> str:
    return (
        f"runtime_ms: {exact(thread.runtime_ns / 1e6)}, "
        f"deadline_ms: {exact(thread.deadline_ns / 1e6)}, "
        f"period_ms: {exact(thread.period_ns / 1e6)}"
    )


def _rule(file: CieFile, thread: CieThread, scale: KernelScale) -> str:
    file.remarks.note(
        thread.at,
        f"the rule is for the thread that the kernel knows as '{cut(thread.name)}': let "
        "the thread call pthread_setname_np, which spawn_non_ros2_thread does not, or state its "
        "function in the rule",
    )
    settings = [f"name: {pattern_of(thread.name)}"]
    if thread.policy in REAL_TIME:
        priority, in_order = scale.of_thread(thread.priority)
        settings.append(f"policy: {'fifo' if thread.policy == 'SCHED_FIFO' else 'rr'}")
        settings.append(f"priority: {priority}")
        if not in_order:
            why = "the highest priority of a rule is lower"
            if scale.levels:
                why = (
                    "it is between or below those of callback groups, where the levels of an "
                    "executor leave none"
                )
            file.remarks.lost(
                thread.at, f"priority {thread.priority}: {why}; the thread gets {priority}"
            )
    elif thread.policy == DEADLINE:
        settings += ["policy: deadline", _times(thread)]
    else:
        settings += ["policy: other", f"nice: {thread.nice}"]
        if thread.policy != "SCHED_OTHER":
            file.remarks.lost(thread.at, f"{thread.policy} is SCHED_OTHER here")
    if thread.affinity and thread.policy != DEADLINE:
        settings.append(f"cpus: [{', '.join(map(str, thread.affinity))}]")
    elif thread.affinity:
        file.remarks.lost(
            thread.at,
            f"affinity {list(thread.affinity)}: a thread under SCHED_DEADLINE may use every CPU, "
            "as the kernel requires without a cpuset",
        )
    return f"  - {{{', '.join(settings)}}}\n"


def _head(file: CieFile, groups: list[CieThread], scale: KernelScale) -> list[str]:
    lines = [
        f"# From {clean(file.remarks.source.name)} of callback_isolated_executor, "
        "by rclrt robot import."
    ]
    if file.hardware:
        lines.append("# It was made for this machine:")
        lines += [f"#   {clean(key)}: {clean(value)}" for key, value in file.hardware.items()]
    defaults = sum(each.is_default for each in groups)
    if defaults:
        lines.append(f"# Groups with normal scheduling, which need no entry: {defaults}.")
    if scale.levels:
        lines.append("# SCHED_FIFO priorities, there and here, when all groups are loaded:")
        lines += [f"#   {each}: {scale.of_level(each)}" for each in scale.levels]
    lost = sorted(
        (each for each in file.remarks.remarks if each.lost),
        key=lambda each: (each.line, each.column),
    )
    if lost:
        lines.append("# Not carried over:")
        lines += [f"#   line {each.line}: {clean(each.text)}" for each in lost]
    return [f"{line}\n" for line in lines]

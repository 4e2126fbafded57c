# SPDX-License-Identifier: Apache-2.0
"""Reads the configuration of callback_isolated_executor's thread configurator.

The format is that of the packages cie_thread_configurator and agnocast_cie_thread_configurator, in
all their versions: a nice value is `nice`, or `priority` in older files; an id may end in
`@Waitable`; a non-ROS thread has an `id`, in Agnocast a `name`. Input is untrusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rclrt_py.errors import BadInput, did_you_mean
from rclrt_py.native import LARGEST, model
from rclrt_py.plan.yaml_text import Span, YamlText
from rclrt_py.robots.remarks import Remarks

TIME_SHARING = ("SCHED_OTHER", "SCHED_BATCH", "SCHED_IDLE")
REAL_TIME = ("SCHED_FIFO", "SCHED_RR")
DEADLINE = "SCHED_DEADLINE"
POLICIES = (*TIME_SHARING, *REAL_TIME, DEADLINE)
SECTIONS = ("hardware_info", "rt_throttling", "callback_groups", "non_ros_threads")
KEYS = ("affinity", "policy", "priority", "nice", "runtime", "deadline", "period")
NAME = re.compile(r"(/[A-Za-z0-9_]+)+")
CALLBACK = re.compile(r"(Subscription|Service|Client)\(([^()]*)\)|Timer\((\d{1,19})\)", re.ASCII)
WHOLE = re.compile(r"-?\d{1,18}", re.ASCII)
HIGHEST_CPU = 1023
SHORTEST_RUNTIME_NS = 1024
"""The kernel's shortest runtime of SCHED_DEADLINE (sched(7))."""
LONGEST_NS = 3_600_000_000_000
"""The longest time of a robot.yaml, an hour."""


@dataclass(frozen=True)
class CieCallback:
    """A callback in the id of a group. `name` is a topic or service; a timer has a period."""

    kind: str
    name: str = ""
    period_ns: int = 0


@dataclass
class CieThread:
    """The scheduling of the thread of a group, or of a thread without ROS."""

    at: Span
    node: str = ""
    """The node of a group; empty: a thread without ROS."""
    callbacks: tuple[CieCallback, ...] = ()
    name: str = ""
    """The name of a thread without ROS."""
    domain: int | None = None
    affinity: tuple[int, ...] = ()
    policy: str = "SCHED_OTHER"
    priority: int = 0
    """With SCHED_FIFO and SCHED_RR: 1 to 99."""
    nice: int = 0
    runtime_ns: int = 0
    deadline_ns: int = 0
    period_ns: int = 0

    @property
    def is_default(self) -> bool:
        """True: the entry states what the thread has without it."""
        return self.policy == "SCHED_OTHER" and not self.nice and not self.affinity


@dataclass
class CieFile:
    """A whole file, and remarks about what in it is not for a robot.yaml."""

    remarks: Remarks
    groups: list[CieThread] = field(default_factory=list)
    threads: list[CieThread] = field(default_factory=list)
    hardware: dict[str, str] = field(default_factory=dict)


def read_cie(text: bytes, name: str) -> CieFile:
    """Reads a file from its bytes. Throws BadInput with every mistake and its place."""
    if len(text) > LARGEST:
        raise BadInput(f"{name}: larger than {LARGEST >> 20} MiB; expected a configuration")
    if not text.strip():
        raise BadInput(f"{name}: is empty; expected callback_groups: and non_ros_threads:")
    try:
        source = YamlText(text.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: byte {error.start} is not UTF-8; expected UTF-8 text") from error
    except model().ModelError as error:
        raise BadInput(str(error)) from error
    file = CieFile(Remarks(source))
    if not source.root.is_mapping:
        file.remarks.wrong_value(source.root, "the file", "callback_groups: and non_ros_threads:")
    else:
        _read_sections(file, source.root)
    if file.remarks.has_problems:
        file.remarks.raise_problems()
    file.groups = _last_of_each(file, file.groups)
    file.threads = _last_of_each(file, file.threads)
    return file


def _last_of_each(file: CieFile, threads: list[CieThread]) -> list[CieThread]:
    """Returns the entries without those for which a later one has the same id."""
    last = {(each.domain, each.node, each.callbacks, each.name): each for each in threads}
    kept = {id(each) for each in last.values()}
    for each in threads:
        if id(each) not in kept:
            file.remarks.note(
                each.at,
                "a later entry has the same id, and callback_isolated_executor uses only the last",
            )
    return [each for each in threads if id(each) in kept]


def _read_sections(file: CieFile, root: Span) -> None:
    remarks = file.remarks
    if root.find("callback_groups") is None and root.find("non_ros_threads") is None:
        remarks.problem(
            root,
            "the file has neither callback_groups nor non_ros_threads",
            "a configuration of callback_isolated_executor, such as its template.yaml",
        )
    for key, value in root.pairs:
        if key.text not in SECTIONS:
            _unknown_key(remarks, key, "this format", SECTIONS)
        elif key.text == "hardware_info":
            _read_hardware(file, key, value)
        elif key.text == "rt_throttling":
            remarks.lost(
                key,
                "rt_throttling is not part of a robot.yaml; `rclrt doctor` checks the throttling "
                "of this machine",
            )
    for item in _items(remarks, root.find("callback_groups"), "callback_groups"):
        thread = _read_thread(remarks, item, ("id", "domain_id"))
        if thread is not None and _read_group(remarks, item, thread):
            file.groups.append(thread)
    for item in _items(remarks, root.find("non_ros_threads"), "non_ros_threads"):
        thread = _read_thread(remarks, item, ("id", "name"))
        if thread is not None and _read_name(remarks, item, thread):
            file.threads.append(thread)
    if not (file.groups or file.threads or remarks.has_problems):
        remarks.problem(
            root,
            "the file has no entry, so there is nothing to convert",
            "an entry in callback_groups or non_ros_threads",
        )


def _unknown_key(remarks: Remarks, key: Span, place: str, known: tuple[str, ...]) -> None:
    """A key that is like a known one is a mistake. Any other one may be of a newer version."""
    found = f"'{_clean(key)}' is no key of {place}"
    hint = did_you_mean(key.text, known)
    if hint:
        remarks.problem(key, found, f"one of {', '.join(known)}{hint}")
    else:
        remarks.lost(key, f"{found}; its value has no effect")


def _read_hardware(file: CieFile, key: Span, value: Span) -> None:
    if value.is_mapping:
        for name, each in value.pairs:
            if not each.is_list and not each.is_mapping:
                file.hardware[name.text] = each.text
    elif not _is_null(value):
        file.remarks.wrong_value(value, "hardware_info", "a mapping")
        return
    file.remarks.note(
        key,
        "hardware_info becomes a comment: a robot.yaml is read on any machine; calibrated "
        "overheads and recordings name theirs",
    )


def _read_thread(remarks: Remarks, item: Span, names: tuple[str, ...]) -> CieThread | None:
    """Reads all of an entry but its name."""
    if not item.is_mapping:
        remarks.wrong_value(item, "the entry", "a mapping with id, affinity and policy")
        return None
    for key, _ in item.pairs:
        if key.text not in KEYS and key.text not in names:
            _unknown_key(remarks, key, "an entry", (*KEYS, *names))
    thread = CieThread(item)
    thread.affinity = _read_affinity(remarks, item)
    policy = item.find("policy")
    if policy is None:
        remarks.problem(item, "the entry has no policy", "policy: SCHED_OTHER")
    elif policy.is_list or policy.is_mapping or policy.text not in POLICIES:
        remarks.wrong_value(policy, "policy", f"one of {', '.join(POLICIES)}")
    else:
        thread.policy = policy.text
        _read_values(remarks, item, thread)
    return thread


def _read_values(remarks: Remarks, item: Span, thread: CieThread) -> None:
    used: tuple[str, ...]
    if thread.policy == DEADLINE:
        used = ("runtime", "deadline", "period")
        times = [
            _number(remarks, item, key, SHORTEST_RUNTIME_NS, LONGEST_NS, "nanoseconds")
            for key in used[:2]
        ]
        # The kernel takes a period of 0 for the deadline (sched_setattr(2)).
        times.append(_number(remarks, item, "period", 0, LONGEST_NS, "nanoseconds") or times[1])
        thread.runtime_ns, thread.deadline_ns, thread.period_ns = times
        if 0 not in times and not times[0] <= times[1] <= times[2]:
            remarks.problem(
                item,
                f"runtime {times[0]}, deadline {times[1]} and period {times[2]} are not in order",
                "runtime <= deadline <= period, as the kernel requires",
            )
    elif thread.policy in REAL_TIME:
        used = ("priority",)
        thread.priority = _number(remarks, item, "priority", 1, 99)
    else:
        used = ("nice",) if item.find("nice") is not None else ("priority",)
        thread.nice = _number(remarks, item, used[0], -20, 19)
    for key, _ in item.pairs:
        if key.text in KEYS[2:] and key.text not in used:
            remarks.note(
                key,
                f"{key.text} has no meaning with {thread.policy}, and callback_isolated_executor "
                "ignores it, too",
            )


def _number(remarks: Remarks, item: Span, key: str, least: int, most: int, unit: str = "") -> int:
    value = item.find(key)
    expected = f"{least} to {most}{' ' + unit if unit else ''}"
    if value is None:
        remarks.problem(item, f"the entry has no {key}", f"{key}: {expected}")
        return 0
    number = _whole(value)
    if number is None or not least <= number <= most:
        remarks.wrong_value(value, key, expected)
        return 0
    return number


def _read_affinity(remarks: Remarks, item: Span) -> tuple[int, ...]:
    value = item.find("affinity")
    if value is None or _is_null(value):
        return ()
    if not value.is_list:
        remarks.wrong_value(value, "affinity", "a list of CPUs, or ~ for all")
        return ()
    cpus = []
    for each in value.items:
        cpu = _whole(each)
        if cpu is None or not 0 <= cpu <= HIGHEST_CPU:
            remarks.wrong_value(each, "a CPU", f"0 to {HIGHEST_CPU}")
        else:
            cpus.append(cpu)
    return tuple(sorted(set(cpus)))


def _read_group(remarks: Remarks, item: Span, thread: CieThread) -> bool:
    """Reads the id and the domain of a group. Returns whether the id can be used."""
    value = item.find("id")
    if value is None or value.is_list or value.is_mapping:
        remarks.problem(value or item, "the entry has no id", "id: /node@Subscription(/topic)")
        return False
    if item.find("domain_id") is not None:
        thread.domain = _number(remarks, item, "domain_id", 0, 232)
    node, *callbacks = value.text.split("@")
    if not NAME.fullmatch(node):
        remarks.wrong_value(
            value, "the node in the id", "a fully qualified name, like /robot/lidar"
        )
        return False
    thread.node = node
    found = []
    for each in callbacks:
        if each == "Waitable":
            continue
        match = CALLBACK.fullmatch(each)
        if match is None or (match[1] and not NAME.fullmatch(match[2])):
            remarks.wrong_value(
                value,
                "the id",
                "/node@Subscription(/topic)@Service(/service)@Client(/service)@Timer(nanoseconds)",
            )
            return False
        kind = (match[1] or "Timer").lower()
        found.append(CieCallback(kind, match[2] or "", int(match[3] or 0)))
    thread.callbacks = tuple(found)
    return True


def _read_name(remarks: Remarks, item: Span, thread: CieThread) -> bool:
    value = item.find("id") or item.find("name")
    if value is None or value.is_list or value.is_mapping or not value.text:
        remarks.problem(value or item, "the entry has no id", "id: the name of the thread")
        return False
    if not value.text.isprintable():
        remarks.wrong_value(value, "the id", "a name without control characters")
        return False
    thread.name = value.text
    return True


def _items(remarks: Remarks, value: Span | None, section: str) -> Iterator[Span]:
    if value is None or _is_null(value):
        return
    if not value.is_list:
        remarks.wrong_value(value, section, "a list")
        return
    yield from value.items


def _is_null(value: Span) -> bool:
    return value.kind == "plain" and value.text in ("", "~", "null", "Null", "NULL")


def _whole(value: Span) -> int | None:
    if value.is_list or value.is_mapping or not WHOLE.fullmatch(value.text):
        return None
    return int(value.text)


def _clean(key: Span) -> str:
    return Remarks.shown(key).strip("'")

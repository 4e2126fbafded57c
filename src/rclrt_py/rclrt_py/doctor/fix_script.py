# SPDX-License-Identifier: Apache-2.0
"""Makes a shell script with the fixes of the doctor. It is printed; this program never runs it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rclrt_py.doctor import checks, cpu_lists, limits, preemption, tuning
from rclrt_py.doctor.checks import Level
from rclrt_py.doctor.login import Login
from rclrt_py.processes.realtime import RTPRIO
from rclrt_py.text import shorten

GROUP = "realtime"
UDEV_FILE = "/etc/udev/rules.d/60-rclrt.rules"
GRUB_FILE = "/etc/default/grub.d/60-rclrt.cfg"
DEVICE = "/dev/cpu_dma_latency"
ISOLATING = ("isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity")
SAFE_VALUE = re.compile(r"[\w,:.-]+")
"""Values of boot parameters that may be written again. Any other value is replaced."""
HEAD = """\
#!/bin/sh
# Made by `rclrt doctor --fix-script`. Read it, remove what you do not want, then run it as root.
# It may be run several times. A reboot undoes steps marked (until reboot): run it at each boot.
# If a step fails, the script prints that, continues, and ends with exit code 1.
set -u
[ "$(id -u)" = 0 ] || { echo "run this as root" >&2; exit 1; }
"""
COUNTING = """
failed=0
fail() {
  echo "failed: $1" >&2
  failed=1
}
"""
END = """
exit "$failed"
"""
NOTHING = "\n# Nothing to set right was found.\n"


@dataclass(frozen=True)
class Step:
    """Commands, and the reason for them. Every command states what happens if it fails."""

    why: str
    commands: tuple[str, ...]

    def text(self) -> str:
        comment = textwrap.wrap(shorten(self.why, 2000), 98)
        return "\n".join(["", *(f"# {line}" for line in comment), *self.commands, ""])


def in_turn(what: str, *commands: str) -> tuple[str, ...]:
    """Joins commands that each need the one before. `what` names them if one fails."""
    return (
        "{",
        *(f"  {line} &&" for line in commands[:-1]),
        f"  {commands[-1]}",
        f"}} || {_fail(what)}",
    )


def each(commands: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Returns independent commands. Each comes with the message for its failure."""
    return tuple(f"{command} || {_fail(what)}" for command, what in commands)


def _fail(what: str) -> str:
    return f"fail {quote(what)}"


def fix_script(root: Path, login: Login) -> str:
    """Returns the whole script. `root` is /, except in tests."""
    steps = [*_permissions(root, login), *_kernel(root), *_devices(root)]
    if not steps:
        return HEAD + NOTHING
    return HEAD + COUNTING + "".join(step.text() for step in steps) + END


def _permissions(root: Path, login: Login) -> Iterator[Step]:
    if not login.root and not limits.granted(root, login).enough:
        entries = (f"{login.domain} - rtprio {RTPRIO}", f"{login.domain} - memlock unlimited")
        whom = login.user if login.account else f"the uid {login.user}"
        yield Step(
            f"Lets {whom} use SCHED_FIFO up to {RTPRIO}, which the stall probe of rclrt latency "
            "needs, and lock memory, so that no page fault stops a real-time thread. From the "
            "next login on.",
            in_turn("the entries in limits.d", *_file(login.limits_file, *entries)),
        )
    if not login.root and tuning.deep_idle(root).level is not Level.OK:
        member = (f"usermod --append --groups {GROUP} {quote(login.user)}",)
        without = (
            f" The uid {login.user} has no account that could be a member: give its container "
            f"(--group-add) or its service (SupplementaryGroups=) the group {GROUP}."
        )
        yield Step(
            f"Lets the group {GROUP} write {DEVICE}: a program that holds it open with 0 in it "
            "keeps CPUs out of idle states that take long to leave."
            + ("" if login.account else without),
            in_turn(
                f"the permission to write {DEVICE}",
                f"groupadd --force {GROUP}",
                *(member if login.account else ()),
                *_file(UDEV_FILE, f'KERNEL=="cpu_dma_latency", MODE="0660", GROUP="{GROUP}"'),
                "udevadm control --reload",
                "udevadm trigger --name-match=cpu_dma_latency",
            ),
        )
    budget = tuning.cgroup_budget(root)
    if budget is not None and tuning.cgroup(root).level is not Level.OK:
        groups = [budget, *(above / budget.name for above in budget.parent.parents)]
        files = [file for file in groups if file.is_file()]
        yield Step(
            "Gives real-time threads of this control group, and of those above it, their share of "
            "the CPU time (until reboot).",
            each(
                (
                    f"echo 950000 > {_place(root, file)}",
                    "a control group's real-time budget: the group above may have less left",
                )
                for file in reversed(files)
            ),
        )


def _kernel(root: Path) -> Iterator[Step]:
    parameters = boot_parameters(root)
    if parameters:
        stated = " ".join(parameters)
        grub = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {stated}"'
        yield Step(
            "Keeps CPUs free for real-time threads: nothing is scheduled there on its own "
            "(isolcpus), no periodic tick (nohz_full), no deferred work of the kernel "
            "(rcu_nocbs), no interrupts of devices (irqaffinity). After the next boot. These CPUs "
            "are lost for everything else: choose others if you like.",
            (
                "if command -v update-grub >/dev/null; then",
                *(
                    f"  {line}"
                    for line in in_turn(
                        "the kernel command line", *_file(GRUB_FILE, grub), "update-grub"
                    )
                ),
                "else",
                f"  {_fail(f'no update-grub here, add to the kernel command line: {stated}')}",
                "fi",
            ),
        )
    if preemption.preemption(root).level is not Level.OK and preemption.is_switchable(root):
        yield Step(
            "Real-time threads preempt the system calls of other threads (until reboot; the boot "
            "parameter preempt=full lasts).",
            each([(f"echo full > /{preemption.SWITCH}", "the kernel's preemption model")]),
        )
    if checks.throttling(root).level is not Level.OK:
        yield Step(
            "Real-time threads have 95 % of each second of a CPU. Without this limit a runaway "
            "one can hang the machine, so it stays: take the # away if your threads need more.",
            ("# sysctl -w kernel.sched_rt_runtime_us=-1",),
        )
    if tuning.huge_pages(root).level is not Level.OK:
        yield Step(
            "Huge pages only for programs that ask: otherwise the kernel moves pages of running "
            "programs, which stops their threads (until reboot).",
            each([(f"echo madvise > /{tuning.HUGE_PAGES}", "the mode of huge pages")]),
        )


def boot_parameters(root: Path) -> list[str]:
    """Returns the boot parameters that isolate CPUs, as "name=value" texts. Empty: all of them are
    already in force, or there is only one CPU.

    The parameters are for the CPUs that are isolated now or, if none is, for the last CPU. If one
    parameter is missing, all are returned: together they replace a file that an earlier script may
    have written.
    """
    online = cpu_lists.online(root)
    isolated = cpu_lists.isolated(root)
    wanted = isolated or (set(sorted(online)[-1:]) if len(online) > 1 else set())
    if not wanted or not online - wanted:
        return []
    stated = {name: cpu_lists.boot_parameter(root, name) for name in ISOLATING}
    missing = (
        not isolated,
        not wanted <= cpu_lists.parse(stated["nohz_full"]),
        tuning.rcu(root).level is not Level.OK,
        stated["irqaffinity"] is None,
    )
    if not any(missing):
        return []
    cpus, others = cpu_lists.written(wanted), cpu_lists.written(online - wanted)
    made = dict.fromkeys(ISOLATING, cpus) | {"irqaffinity": others}
    for (name, text), wrong in zip(stated.items(), missing, strict=True):
        if not wrong and text is not None and SAFE_VALUE.fullmatch(text):
            made[name] = text
    return [f"{name}={text}" for name, text in made.items()]


def _devices(root: Path) -> Iterator[Step]:
    services = tuning.running(root)
    for service in services:
        yield Step(
            f"{service} {tuning.DISTURBING[service]}. The units that would start it again, such as "
            "its socket, are disabled before it.",
            (
                f"units=$(systemctl show --property=TriggeredBy --value {service}.service)",
                f"for unit in $units {service}.service; do",
                '  systemctl disable --now "$unit" || fail "$unit could not be disabled"',
                "done",
            ),
        )
    isolated = cpu_lists.isolated(root)
    others = cpu_lists.written(cpu_lists.online(root) - isolated)
    found = tuning.interrupts_on(root, isolated)
    if found and others:
        yield Step(
            f"Interrupts of devices go to the CPUs {others} (until reboot). An interrupt that "
            "cannot be moved is reported.",
            each(
                (
                    f"echo {others} > /proc/irq/{line.number}/smp_affinity_list",
                    f"IRQ {line.number} cannot be moved",
                )
                for line in found
            ),
        )
    if checks.governor(root).level is not Level.OK:
        yield Step(
            "CPUs always run at their full frequency, so that none must speed up first (until "
            "reboot).",
            (
                f"for governor in /{checks.CPUS}/cpu[0-9]*/cpufreq/scaling_governor; do",
                '  echo performance > "$governor" || fail "$governor"',
                "done",
            ),
        )


def _file(path: str, *lines: str) -> tuple[str, ...]:
    """Returns shell commands that write a new file with these lines. The lines are quoted, so the
    shell expands nothing in them."""
    content = " ".join(quote(line) for line in lines)
    return (
        f"mkdir -p {quote(str(Path(path).parent))}",
        f"printf '%s\\n' {content} > {quote(path)}",
    )


def _place(root: Path, file: Path) -> str:
    return quote(f"/{file.relative_to(root)}")

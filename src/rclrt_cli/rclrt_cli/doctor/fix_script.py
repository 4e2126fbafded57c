# SPDX-License-Identifier: Apache-2.0
"""A shell script that sets right what the doctor found. It is printed, and run by nobody here."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rclrt_cli.doctor import checks, cpu_lists, limits, tuning
from rclrt_cli.doctor.checks import Level
from rclrt_cli.doctor.limits import Login
from rclrt_cli.doctor.privileges import LIMITS_FILE, RTPRIO
from rclrt_cli.table import shorten

GROUP = "realtime"
UDEV_FILE = "/etc/udev/rules.d/60-rclrt.rules"
GRUB_FILE = "/etc/default/grub.d/60-rclrt.cfg"
DEVICE = "/dev/cpu_dma_latency"
ISOLATING = ("isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity")
SAFE_VALUE = re.compile(r"[\w,:.-]+")
"""What a boot parameter may be to be written again; anything else is replaced."""
HEAD = """\
#!/bin/sh
# Made by `rclrt doctor --fix-script`. Read it, remove what you do not want, then run it as root.
# Every step may be run again. Steps marked (until reboot) do not outlive one: run it at each boot.
set -eu
[ "$(id -u)" = 0 ] || { echo "run this as root" >&2; exit 1; }
"""
NOTHING = "\n# Nothing to set right was found.\n"


@dataclass(frozen=True)
class Step:
    """Commands, and the reason for them."""

    why: str
    commands: tuple[str, ...]

    def text(self) -> str:
        comment = textwrap.wrap(shorten(self.why, 2000), 98)
        return "\n".join(["", *(f"# {line}" for line in comment), *self.commands, ""])


def fix_script(root: Path, login: Login) -> str:
    """The whole script. `root` is / but in tests."""
    steps = [*_permissions(root, login), *_kernel(root), *_devices(root)]
    return HEAD + ("".join(step.text() for step in steps) or NOTHING)


def _permissions(root: Path, login: Login) -> Iterator[Step]:
    user = quote(login.user)
    if not login.root and not limits.granted(root, login).enough:
        entries = (f"{login.user} - rtprio {RTPRIO}", f"{login.user} - memlock unlimited")
        yield Step(
            f"Lets {login.user} use SCHED_FIFO up to {RTPRIO}, below the kernel's own threads at "
            "99, and lock memory, so that no page fault stops a real-time thread. From the next "
            "login on.",
            _file(LIMITS_FILE, *entries),
        )
    if not login.root and tuning.deep_idle(root).level is not Level.OK:
        yield Step(
            f"Lets the group {GROUP} write {DEVICE}: a program that holds it open with 0 in it "
            "keeps CPUs out of idle states that take long to leave.",
            (
                f"groupadd --force {GROUP}",
                f"usermod --append --groups {GROUP} {user}",
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
            tuple(
                f"echo 950000 > {_place(root, file)} || "
                'echo "the group above has not that much left" >&2'
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
                *(f"  {each}" for each in _file(GRUB_FILE, grub)),
                "  update-grub",
                "else",
                f"  echo {quote(f'add to the kernel command line: {stated}')} >&2",
                "fi",
            ),
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
            (f"echo madvise > /{tuning.HUGE_PAGES}",),
        )


def boot_parameters(root: Path) -> list[str]:
    """All that the isolated CPUs need if one is missing; for the last CPU if none is isolated.

    All, because they go into a file that this script made before.
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
            f"{service} {tuning.DISTURBING[service]}.",
            (
                "if command -v systemctl >/dev/null; then",
                f"  systemctl disable --now {quote(service)}.service",
                "fi",
            ),
        )
    isolated = cpu_lists.isolated(root)
    others = cpu_lists.written(cpu_lists.online(root) - isolated)
    found = tuning.interrupts_on(root, isolated)
    if found and others:
        yield Step(
            f"Interrupts of devices go to the CPUs {others} (until reboot). Some cannot be moved, "
            "which is said.",
            tuple(
                f"echo {others} > /proc/irq/{each.number}/smp_affinity_list || "
                f'echo "IRQ {each.number} cannot be moved" >&2'
                for each in found
            ),
        )
    if checks.governor(root).level is not Level.OK:
        yield Step(
            "CPUs always run at their full frequency, so that none must speed up first (until "
            "reboot).",
            (
                f"for governor in /{checks.CPUS}/cpu[0-9]*/cpufreq/scaling_governor; do",
                '  echo performance > "$governor"',
                "done",
            ),
        )


def _file(path: str, *lines: str) -> tuple[str, ...]:
    """Commands that make the file anew with these lines, of which no shell expands anything."""
    content = " ".join(quote(line) for line in lines)
    return (
        f"mkdir -p {quote(str(Path(path).parent))}",
        f"printf '%s\\n' {content} > {quote(path)}",
    )


def _place(root: Path, file: Path) -> str:
    return quote(f"/{file.relative_to(root)}")

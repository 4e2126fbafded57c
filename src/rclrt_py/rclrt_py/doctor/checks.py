# SPDX-License-Identifier: Apache-2.0
"""The type of a check's finding, and the checks that read files of the kernel."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

CPUS = "sys/devices/system/cpu"
SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit")


class Level(enum.Enum):
    OK = "ok"
    WARNING = "warning"
    BLOCKER = "blocker"


@dataclass(frozen=True)
class Finding:
    """One line of the doctor. Every finding that is not ok has a fix."""

    name: str
    level: Level
    found: str
    fix: str | None = None

    def to_json(self) -> dict[str, str | None]:
        return {
            "name": self.name,
            "level": self.level.value,
            "found": self.found,
            "fix": self.fix,
        }


def ok(name: str, found: str) -> Finding:
    return Finding(name, Level.OK, found)


def warning(name: str, found: str, fix: str) -> Finding:
    return Finding(name, Level.WARNING, found, fix)


def blocker(name: str, found: str, fix: str) -> Finding:
    return Finding(name, Level.BLOCKER, found, fix)


def read(path: Path) -> str | None:
    """Returns the file's text without blanks at its ends. None: it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def release(root: Path) -> str:
    """Returns the kernel's release, such as 6.12.0."""
    return read(root / "proc/sys/kernel/osrelease") or "unknown"


def version(root: Path) -> str:
    """Returns the text that says how the kernel was built."""
    return read(root / "proc/sys/kernel/version") or ""


def is_preempt_rt(root: Path) -> bool:
    return read(root / "sys/kernel/realtime") == "1" or "PREEMPT_RT" in version(root)


def kernel(root: Path) -> Finding:
    if is_preempt_rt(root):
        return ok("kernel", f"{release(root)}, PREEMPT_RT")
    return warning(
        "kernel",
        f"{release(root)}, without PREEMPT_RT",
        "install a PREEMPT_RT kernel (Debian: linux-image-rt-amd64); without it, work of the "
        "kernel itself can delay a real-time thread by milliseconds",
    )


def throttling(root: Path) -> Finding:
    name = "RT throttling"
    text = read(root / "proc/sys/kernel/sched_rt_runtime_us")
    period = read(root / "proc/sys/kernel/sched_rt_period_us") or "1000000"
    if text is None:
        return ok(name, "not limited by this kernel")
    if text == "-1":
        return ok(name, "off")
    fix = "sysctl -w kernel.sched_rt_runtime_us=-1"
    if text == "0":
        return blocker(name, "real-time threads may not run at all (0 µs)", fix)
    return warning(
        name,
        f"real-time threads may use {text} µs of every {period} µs",
        f"{fix} (a runaway real-time thread can then hang the machine)",
    )


def governor(root: Path) -> Finding:
    name = "CPU governor"
    files = sorted((root / CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor"))
    used = sorted({text for file in files if (text := read(file))})
    if not used:
        return ok(name, "frequency is not controlled here")
    if used == ["performance"]:
        return ok(name, "performance")
    return warning(
        name,
        ", ".join(used),
        "cpupower frequency-set -g performance, so that no CPU must speed up first",
    )


def isolation(root: Path) -> Finding:
    name = "isolated CPUs"
    isolated = read(root / CPUS / "isolated")
    if isolated:
        return ok(name, isolated)
    return warning(
        name,
        "none",
        "boot with isolcpus=1 nohz_full=1 rcu_nocbs=1 (for CPU 1) and give those CPUs to the "
        "executor in app.yaml",
    )


def clocksource(root: Path) -> Finding:
    name = "clock source"
    current = read(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")
    if current is None:
        return warning(name, "unknown", "mount /sys")
    if current in SLOW_CLOCKS:
        return warning(
            name,
            f"{current}: every reading of the time takes about a microsecond",
            "boot with clocksource=tsc tsc=reliable if the processor's TSC is invariant",
        )
    return ok(name, current)


def smt(root: Path) -> Finding:
    name = "SMT"
    active = read(root / CPUS / "smt/active")
    if active != "1":
        return ok(name, "off" if active == "0" else "not known to this kernel")
    return warning(
        name,
        "on: two threads of one core slow each other down",
        "echo off > /sys/devices/system/cpu/smt/control, or boot with nosmt",
    )


def virtualised(root: Path) -> Finding:
    name = "virtual machine"
    flags = read(root / "proc/cpuinfo") or ""
    hypervisor = any(
        "hypervisor" in line.split() for line in flags.splitlines() if line.startswith("flags")
    )
    if not hypervisor and not read(root / "sys/hypervisor/type"):
        return ok(name, "no")
    return warning(
        name,
        f"yes; the host has taken {_steal(root)} of the CPU time since boot",
        "measure on a machine of its own: no scheduler in here can prevent stalls of the host "
        "(results mark the misses they explain)",
    )


def _steal(root: Path) -> str:
    """Returns the share of stolen time, from the first line of /proc/stat."""
    text = read(root / "proc/stat") or ""
    fields = text.splitlines()[0].split()[1:9] if text else []
    if len(fields) < 8 or not all(field.isdigit() for field in fields):
        return "an unknown share"
    ticks = [int(field) for field in fields]
    return f"{100 * ticks[7] / max(1, sum(ticks)):.2g} %"

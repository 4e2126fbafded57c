# SPDX-License-Identifier: Apache-2.0
"""Checks how a real-time machine is tuned: CPUs that are kept free, and their disturbances."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rclrt_py.doctor import cpu_lists
from rclrt_py.doctor.checks import CPUS, Finding, blocker, ok, read, warning

HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
LONG_WAY_OUT_US = 20
"""An idle state with a longer exit latency counts as deep."""
DISTURBING = {
    "irqbalance": "moves interrupts to other CPUs, the isolated ones too",
    "multipathd": "runs at real-time priority 99, also where no disk has several paths",
}
"""Services that disturb, by the name of their process."""
SOCKETS = {"multipathd": "multipathd.socket"}
"""Units that restart a service if it is only disabled."""
NOTHING_ISOLATED = "no CPU is isolated"


def tick(root: Path) -> Finding:
    """Checks that isolated CPUs run without the kernel's periodic tick."""
    name = "nohz_full"
    wanted = cpu_lists.isolated(root)
    active = cpu_lists.parse(read(root / CPUS / "nohz_full"))
    missing = wanted - active
    if not missing:
        return ok(name, cpu_lists.written(active) or NOTHING_ISOLATED)
    stated = cpu_lists.parse(cpu_lists.boot_parameter(root, "nohz_full"))
    cpus = cpu_lists.written(missing)
    if missing <= stated:
        return warning(
            name,
            f"stated at boot for CPUs {cpus}, but not active",
            "take a kernel with CONFIG_NO_HZ_FULL",
        )
    return warning(
        name,
        f"the tick interrupts the isolated CPUs {cpus}",
        f"boot with nohz_full={cpu_lists.written(wanted)}, so that a thread alone on its CPU "
        "has no tick",
    )


def rcu(root: Path) -> Finding:
    """Checks that the kernel's deferred work (RCU callbacks) is kept off the isolated CPUs."""
    name = "rcu_nocbs"
    wanted = cpu_lists.isolated(root)
    text = cpu_lists.boot_parameter(root, "rcu_nocbs")
    everywhere = cpu_lists.online(root) if text == "all" else set()
    # nohz_full implies rcu_nocbs.
    active = cpu_lists.parse(text) | everywhere
    active |= cpu_lists.parse(read(root / CPUS / "nohz_full"))
    missing = wanted - active
    if not missing:
        return ok(name, cpu_lists.written(active) or NOTHING_ISOLATED)
    return warning(
        name,
        "deferred work of the kernel (RCU callbacks) runs on the isolated CPUs "
        f"{cpu_lists.written(missing)}",
        f"boot with rcu_nocbs={cpu_lists.written(wanted)}",
    )


@dataclass(frozen=True)
class Interrupt:
    """One interrupt line, and the devices on it."""

    number: int
    devices: tuple[str, ...]
    cpus: frozenset[int]


def interrupts_on(root: Path, cpus: set[int]) -> list[Interrupt]:
    """Returns the device interrupts that the kernel may handle on one of `cpus`."""
    return [each for each in _interrupts(root) if each.devices and each.cpus & cpus]


def _interrupts(root: Path) -> Iterator[Interrupt]:
    directories = [path for path in (root / "proc/irq").glob("[0-9]*") if path.name.isdecimal()]
    for directory in sorted(directories, key=lambda path: int(path.name)):
        # The effective affinity is the real target. Older kernels have only the permitted one.
        text = read(directory / "effective_affinity_list")
        text = text or read(directory / "smp_affinity_list")
        devices = tuple(sorted(path.name for path in directory.glob("*") if path.is_dir()))
        yield Interrupt(int(directory.name), devices, frozenset(cpu_lists.parse(text)))


def interrupts(root: Path) -> Finding:
    name = "IRQ affinity"
    isolated = cpu_lists.isolated(root)
    if not isolated:
        return ok(name, NOTHING_ISOLATED)
    found = interrupts_on(root, isolated)
    if not found:
        return ok(name, f"no device interrupts CPUs {cpu_lists.written(isolated)}")
    named = ", ".join(f"{each.number} ({', '.join(each.devices)})" for each in found[:4])
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    others = cpu_lists.written(cpu_lists.online(root) - isolated) or "0"
    return warning(
        name,
        f"isolated CPUs serve IRQ {named}{more}",
        f"echo {others} > /proc/irq/NUMBER/smp_affinity_list for each, and boot with "
        f"irqaffinity={others}",
    )


def running(root: Path) -> list[str]:
    """Returns the disturbing services that run, from the names of all processes."""
    names = {read(path) for path in (root / "proc").glob("[0-9]*/comm")}
    return [service for service in DISTURBING if service in names]


def _units(found: list[str]) -> list[str]:
    """Returns the units to stop. Sockets come first: a connection would start the service again."""
    return [*(SOCKETS[service] for service in found if service in SOCKETS), *found]


def services(root: Path) -> Finding:
    name = "services"
    found = running(root)
    if not found:
        return ok(name, "none that is known to disturb")
    return warning(
        name,
        "; ".join(f"{service} {DISTURBING[service]}" for service in found),
        f"systemctl disable --now {' '.join(_units(found))}",
    )


def deep_idle(root: Path) -> Finding:
    """Checks which enabled idle state has the longest exit latency."""
    name = "C-states"
    deepest: tuple[int, str] | None = None
    for state in sorted((root / CPUS).glob("cpu[0-9]*/cpuidle/state[0-9]*")):
        latency = read(state / "latency") or ""
        if latency.isdecimal() and read(state / "disable") in (None, "0"):
            called = read(state / "name") or state.name
            deepest = max(deepest or (0, ""), (int(latency), called))
    if deepest is None:
        return ok(name, "none known to this kernel")
    found = f"{deepest[1]}, {deepest[0]} µs to leave"
    if deepest[0] <= LONG_WAY_OUT_US:
        return ok(name, f"the deepest is {found}")
    return warning(
        name,
        f"CPUs may enter the idle state {found}",
        "hold /dev/cpu_dma_latency open with 0 in it while the application runs, as "
        "rclrt_realtime's prepare_process does",
    )


def huge_pages(root: Path) -> Finding:
    name = "huge pages"
    text = read(root / HUGE_PAGES)
    if text is None:
        return ok(name, "not transparent in this kernel")
    if "[always]" not in text:
        return ok(name, "transparent only for programs that ask" if "[madvise]" in text else "off")
    return warning(
        name,
        "transparent for all programs: the kernel moves their pages while they run",
        f"echo madvise > /{HUGE_PAGES}",
    )


def cgroup_budget(root: Path) -> Path | None:
    """Returns the path of cpu.rt_runtime_us for the cgroup (version 1) of this process, in the file
    system below `root`. None: there is no such file."""
    for line in (read(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if "cpu" in controllers.split(","):
            for mount in ("cpu,cpuacct", "cpu"):
                # Parts of the path that would lead out of the mounted cgroups are dropped.
                parts = [part for part in path.split("/") if part not in ("", ".", "..")]
                # In a container, the path may be the host's while the mount begins at the
                # container's group: so the root of the mount is tried as well.
                for group in (parts, []):
                    file = (root / "sys/fs/cgroup" / mount).joinpath(*group, "cpu.rt_runtime_us")
                    if file.is_file():
                        return file
    return None


def cgroup(root: Path) -> Finding:
    """Checks the real-time budget of this process's control group."""
    name = "cgroup RT budget"
    file = cgroup_budget(root)
    text = read(file) if file else None
    if file is None or text is None or not text.lstrip("-").isdecimal():
        return ok(name, "not limited by a control group")
    place = f"/{file.relative_to(root)}"
    period = read(file.with_name("cpu.rt_period_us")) or "1000000"
    if int(text) != 0:
        return ok(name, "unlimited" if int(text) < 0 else f"{text} µs of every {period} µs")
    return blocker(
        name,
        "real-time threads of this control group may not run (0 µs)",
        f"echo 950000 > {place}, after the same in the groups above it; for a container, start "
        "dockerd and docker run with --cpu-rt-runtime=950000",
    )

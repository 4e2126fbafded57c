# SPDX-License-Identifier: Apache-2.0
"""Checks whether an urgent thread may interrupt the system calls of other threads.

A kernel without PREEMPT_RT has one of four preemption models. With `none` and `voluntary`, a thread
that is in a system call keeps its CPU until the call ends, sleeps, or comes to one of the few
places that let others go first. With `full` and `lazy`, a real-time thread preempts it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from rclrt_py.doctor import cpu_lists
from rclrt_py.doctor.checks import Finding, is_preempt_rt, ok, read, release, version, warning

SWITCH = "sys/kernel/debug/sched/preempt"
"""Shows the model in parentheses, as in "none voluntary (full)". Root changes it by writing."""
CONFIGURED = {
    "CONFIG_PREEMPT_NONE": "none",
    "CONFIG_PREEMPT_VOLUNTARY": "voluntary",
    "CONFIG_PREEMPT": "full",
    "CONFIG_PREEMPT_LAZY": "lazy",
}
PREEMPTS = ("full", "lazy")
LARGEST_CONFIG = 1 << 22
"""No more bytes of a kernel's configuration are read."""


def preemption(root: Path) -> Finding:
    name = "preemption"
    if is_preempt_rt(root):
        return ok(name, "PREEMPT_RT: also within the kernel")
    model = preemption_model(root)
    source = "" if shown_model(root) else " by boot parameter or configuration"
    if model is None:
        return ok(
            name, "model not known: the kernel shows neither its switch nor its configuration"
        )
    if model in PREEMPTS:
        return ok(name, f"{model}{source}: real-time threads preempt system calls")
    return warning(
        name,
        f"{model}{source}: a real-time thread waits until the system call of another thread lets "
        "it run",
        _fix(root),
    )


def preemption_model(root: Path) -> str | None:
    """Returns none, voluntary, lazy or full: what the switch shows, else what was stated at boot,
    else how the kernel was configured. None: the model is not known."""
    shown = shown_model(root)
    if shown:
        return shown
    stated = cpu_lists.boot_parameter(root, "preempt")
    if stated in CONFIGURED.values() and is_switchable(root):
        return stated
    for text in _configurations(root):
        for key, model in CONFIGURED.items():
            if f"{key}=y" in text.splitlines():
                return model
    return None


def shown_model(root: Path) -> str | None:
    """Returns the model that the switch shows. None: it does not exist, or may not be read."""
    shown = re.search(r"\((\w+)\)", read(root / SWITCH) or "")
    return shown[1] if shown else None


def is_switchable(root: Path) -> bool:
    """Returns whether the model of this kernel can be changed, at boot or while it runs."""
    # Only root may look into debugfs.
    return "PREEMPT_DYNAMIC" in version(root) or read(root / SWITCH) is not None


def _configurations(root: Path) -> Iterator[str]:
    """Returns the kernel's configuration, from the files that may have it."""
    yield read(root / f"boot/config-{Path(release(root)).name}") or ""
    try:
        packed = (root / "proc/config.gz").read_bytes()
        text = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(packed, LARGEST_CONFIG)
    except (OSError, zlib.error):
        return
    yield text.decode(errors="replace")


def _fix(root: Path) -> str:
    if is_switchable(root):
        return f"boot with preempt=full, or as root echo full > /{SWITCH} until reboot"
    return "take a kernel with CONFIG_PREEMPT_DYNAMIC, and boot with preempt=full"

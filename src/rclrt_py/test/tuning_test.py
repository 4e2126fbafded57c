# SPDX-License-Identifier: Apache-2.0
"""The doctor's checks of how a real-time machine is tuned, on a made-up /proc and /sys."""

from __future__ import annotations

from pathlib import Path

import pytest
from rclrt_py.doctor import cpu_lists, limits, tuning
from rclrt_py.doctor.limits import Granted
from rclrt_py.doctor.login import Login
from rclrt_py.testing.made_up_machine import BUDGET, CPU, LIMITS, USER, isolating, level_of, machine


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", set()),
        (None, set()),
        ("0-2,5", {0, 1, 2, 5}),
        ("domain,managed_irq,2-3", {2, 3}),
        ("(null)", set()),
        ("7-5", set()),
    ],
)
def test_lists_of_cpus(text: str | None, cpus: set[int]) -> None:
    assert cpu_lists.parse(text) == cpus


def test_a_written_list_reads_as_the_same_cpus() -> None:
    assert cpu_lists.written({5, 0, 1, 2, 9, 8}) == "0-2,5,8-9"
    assert cpu_lists.parse(cpu_lists.written(range(3, 70))) == set(range(3, 70))


def test_the_last_of_several_boot_parameters_counts(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/cmdline": "quiet rcu_nocbs=1 rcu_nocbs=2 -- rcu_nocbs=3"})
    assert cpu_lists.boot_parameter(root, "rcu_nocbs") == "2"
    assert cpu_lists.boot_parameter(root, "quiet") is None


@pytest.mark.parametrize(
    ("cmdline", "active", "level", "found"),
    [
        ("nohz_full=2-3", "2-3", "ok", "2-3"),
        ("nohz_full=2-3", "", "warning", "stated at boot for CPUs 2-3, but not active"),
        ("nohz_full=2", "2", "warning", "the tick interrupts the isolated CPUs 3"),
        ("", "", "warning", "the tick interrupts the isolated CPUs 2-3"),
    ],
)
def test_the_tick(tmp_path: Path, cmdline: str, active: str, level: str, found: str) -> None:
    finding = tuning.tick(machine(tmp_path, isolating(cmdline, active)))
    assert (level_of(finding), finding.found) == (level, found)


@pytest.mark.parametrize(
    ("cmdline", "active", "level"),
    [
        ("rcu_nocbs=2-3", "", "ok"),
        ("rcu_nocbs=all", "", "ok"),
        ("", "2-3", "ok"),  # nohz_full implies it
        ("rcu_nocbs=2", "", "warning"),
        ("", "", "warning"),
    ],
)
def test_deferred_work_of_the_kernel(tmp_path: Path, cmdline: str, active: str, level: str) -> None:
    assert level_of(tuning.rcu(machine(tmp_path, isolating(cmdline, active)))) == level


def test_without_isolated_cpus_nothing_must_be_kept_off_them(tmp_path: Path) -> None:
    root = machine(tmp_path, isolating("", isolated=""))
    machine(root, {"proc/irq/24/smp_affinity_list": "0-3", "proc/irq/24/eth0/x": ""})
    for check in (tuning.tick, tuning.rcu, tuning.interrupts):
        assert level_of(check(root)) == "ok"


def test_interrupts_of_devices_belong_on_the_other_cpus(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        isolating("")
        | {
            "proc/irq/24/smp_affinity_list": "0-3",
            "proc/irq/24/eth0/x": "",
            "proc/irq/25/smp_affinity_list": "0-3",
            "proc/irq/25/effective_affinity_list": "1",
            "proc/irq/25/nvme0/x": "",
            "proc/irq/26/smp_affinity_list": "0-3",  # no device uses it
            "proc/irq/default_smp_affinity": "f",
        },
    )
    finding = tuning.interrupts(root)
    assert level_of(finding) == "warning"
    assert finding.found == "isolated CPUs serve IRQ 24 (eth0)"
    assert finding.fix is not None
    assert "echo 0-1 > /proc/irq/NUMBER/smp_affinity_list" in finding.fix
    machine(root, {"proc/irq/24/smp_affinity_list": "0-1"})
    assert level_of(tuning.interrupts(root)) == "ok"


def test_services_that_disturb_are_found_by_their_processes(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/1/comm": "systemd", "proc/77/comm": "irqbalance"})
    finding = tuning.services(root)
    assert level_of(finding) == "warning"
    assert finding.found.startswith("irqbalance moves interrupts")
    assert finding.fix == "systemctl disable --now irqbalance"
    machine(root, {"proc/77/comm": "multipathd"})
    assert tuning.services(root).fix == "systemctl disable --now multipathd.socket multipathd"
    (root / "proc/77/comm").unlink()
    assert level_of(tuning.services(root)) == "ok"


def test_the_deepest_enabled_idle_state_counts(tmp_path: Path) -> None:
    states = f"{CPU}/cpu0/cpuidle"
    root = machine(
        tmp_path,
        {
            f"{states}/state0/name": "POLL",
            f"{states}/state0/latency": "0",
            f"{states}/state0/disable": "0",
            f"{states}/state1/name": "C6",
            f"{states}/state1/latency": "133",
            f"{states}/state1/disable": "0",
        },
    )
    finding = tuning.deep_idle(root)
    assert level_of(finding) == "warning"
    assert finding.found == "CPUs may enter the idle state C6, 133 µs to leave"
    machine(root, {f"{states}/state1/disable": "1"})
    assert level_of(tuning.deep_idle(root)) == "ok"
    assert level_of(tuning.deep_idle(tmp_path / "nothing")) == "ok"


@pytest.mark.parametrize(
    ("text", "level"),
    [("[always] madvise never", "warning"), ("always [madvise] never", "ok"),
     ("always madvise [never]", "ok")],
)  # fmt: skip
def test_transparent_huge_pages(tmp_path: Path, text: str, level: str) -> None:
    assert level_of(tuning.huge_pages(machine(tmp_path, {tuning.HUGE_PAGES: text}))) == level
    assert level_of(tuning.huge_pages(tmp_path / "nothing")) == "ok"


@pytest.mark.parametrize(("budget", "level"), [("950000", "ok"), ("0", "blocker"), ("-1", "ok")])
def test_the_budget_of_the_control_group(tmp_path: Path, budget: str, level: str) -> None:
    groups = "12:cpu,cpuacct:/robot\n3:cpuset:/other\n0::/"
    root = machine(tmp_path, {"proc/self/cgroup": groups, BUDGET: budget})
    assert level_of(tuning.cgroup(root)) == level


def test_a_control_group_without_a_budget_is_ok(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/self/cgroup": "0::/user.slice"})
    assert level_of(tuning.cgroup(root)) == "ok"


def test_in_a_container_the_group_is_the_root_of_its_mount(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "1:cpu:/docker/4711",
        "sys/fs/cgroup/cpu/cpu.rt_runtime_us": "0",
    }
    finding = tuning.cgroup(machine(tmp_path, files))
    assert level_of(finding) == "blocker"
    assert finding.fix is not None
    assert "/sys/fs/cgroup/cpu/cpu.rt_runtime_us" in finding.fix
    assert "--cpu-rt-runtime" in finding.fix


def test_a_control_group_cannot_lead_out_of_its_mount(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/self/cgroup": "1:cpu:/../../robot", BUDGET: "0"})
    found = tuning.cgroup_budget(root)
    assert found == root / BUDGET


@pytest.mark.parametrize(
    ("text", "granted"),
    [
        ("ada - rtprio 99\nada - memlock unlimited", Granted("99", "unlimited")),
        ("@realtime - rtprio 99 # of all\n* - rtprio 1", Granted("99", None)),
        ("@others - rtprio 99", Granted(None, None)),
        ("ada soft rtprio 5\nada hard rtprio 98\n@realtime - rtprio 7", Granted("5", None)),
        ("ada - rtprio unlimited\nada hard rtprio 7", Granted("7", None)),
        ("ada hard rtprio 98", Granted(None, None)),  # the soft limit stays what it was
        (":1000 - rtprio 99\n:1001 - rtprio 1\n* - rtprio 2", Granted("99", None)),
        ("500:1000 - rtprio 99\n1001: - rtprio 1", Granted("99", None)),
        ("1000: - rtprio 99\n: - rtprio 1\nx:1000 - rtprio 1", Granted("99", None)),
        ("not a limit\n- - - - -\nada - rtprio", Granted(None, None)),
    ],
)
def test_limits_are_read_as_at_a_login(tmp_path: Path, text: str, granted: Granted) -> None:
    assert limits.granted(machine(tmp_path, {LIMITS: text}), USER) == granted


def test_a_user_needs_both_limits_and_root_none(tmp_path: Path) -> None:
    finding = limits.limits(machine(tmp_path, {LIMITS: "ada - rtprio 99"}), USER)
    assert level_of(finding) == "warning"
    assert finding.found == "at the next login ada has rtprio 99, memlock not stated"
    root = machine(tmp_path, {LIMITS: "ada - rtprio 99\nada - memlock unlimited"})
    assert level_of(limits.limits(root, USER)) == "ok"
    assert level_of(limits.limits(tmp_path / "nothing", Login("root", (), root=True))) == "ok"

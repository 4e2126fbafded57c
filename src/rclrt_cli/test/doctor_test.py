# SPDX-License-Identifier: Apache-2.0
"""Each check on a made-up /proc and /sys."""

from __future__ import annotations

import gzip
import json
import resource
from pathlib import Path

import pytest
from rclrt_cli.commands import doctor as doctor_command
from rclrt_cli.main import main
from rclrt_py.doctor import checks, limits, preemption, privileges, ros
from rclrt_py.doctor.checks import Level
from rclrt_py.doctor.examine import examine
from rclrt_py.doctor.fix_script import fix_script
from rclrt_py.doctor.login import Login
from rclrt_py.terminal.table import Paint
from rclrt_py.testing.made_up_machine import CPU, level_of, machine

ADA = Login("ada", (), root=False, uid=1000)
CLOCK = "sys/devices/system/clocksource/clocksource0/current_clocksource"


@pytest.mark.parametrize(
    ("files", "level", "found"),
    [
        (
            {"proc/sys/kernel/osrelease": "6.1.0-rt", "sys/kernel/realtime": "1"},
            "ok",
            "6.1.0-rt, PREEMPT_RT",
        ),
        (
            {
                "proc/sys/kernel/osrelease": "6.12.0",
                "proc/sys/kernel/version": "#1 SMP PREEMPT_RT Debian",
            },
            "ok",
            "6.12.0, PREEMPT_RT",
        ),
        (
            {
                "proc/sys/kernel/osrelease": "6.1.0",
                "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC",
            },
            "warning",
            "6.1.0, without PREEMPT_RT",
        ),
    ],
)
def test_kernel(tmp_path: Path, files: dict[str, str], level: str, found: str) -> None:
    finding = checks.kernel(machine(tmp_path, files))
    assert (level_of(finding), finding.found) == (level, found)


DYNAMIC = {
    "proc/sys/kernel/osrelease": "6.12.0",
    "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC",
}


@pytest.mark.parametrize(
    ("files", "level", "found"),
    [
        ({"sys/kernel/realtime": "1"}, "ok", "PREEMPT_RT"),
        ({preemption.SWITCH: "none voluntary (full) lazy"}, "ok", "full: "),
        ({preemption.SWITCH: "none (voluntary) full"}, "warning", "voluntary: "),
        # The model that the kernel shows counts more than the one that was stated at boot.
        ({preemption.SWITCH: "(none) full", "proc/cmdline": "preempt=full"}, "warning", "none: "),
        (DYNAMIC | {"proc/cmdline": "quiet preempt=lazy"}, "ok", "lazy by "),
        (DYNAMIC | {"boot/config-6.12.0": "CONFIG_PREEMPT_NONE=y\n"}, "warning", "none by "),
        (DYNAMIC | {"boot/config-6.12.0": "# CONFIG_PREEMPT is not set\n"}, "ok", "not known"),
        # A kernel without the switch ignores the parameter.
        (
            {
                "proc/sys/kernel/osrelease": "5.10.0",
                "boot/config-5.10.0": "CONFIG_PREEMPT_VOLUNTARY=y\n",
                "proc/cmdline": "preempt=full",
            },
            "warning",
            "voluntary by ",
        ),
    ],
)
def test_preemption_of_system_calls(
    tmp_path: Path, files: dict[str, str], level: str, found: str
) -> None:
    root = machine(tmp_path, files)
    finding = preemption.preemption(root)
    assert level_of(finding) == level
    assert found in finding.found
    in_script = f"echo full > /{preemption.SWITCH}" in fix_script(root, ADA)
    assert in_script == (level == "warning" and preemption.is_switchable(root))


def test_a_switch_that_only_root_may_see_stops_nothing(tmp_path: Path) -> None:
    root = machine(tmp_path, DYNAMIC | {"boot/config-6.12.0": "CONFIG_PREEMPT_NONE=y\n"})
    too_long = "x" * 5000  # its use raises OSError, as that of a file in a closed directory
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preemption, "SWITCH", too_long)
        assert level_of(preemption.preemption(root)) == "warning"


def test_the_packed_configuration_of_a_kernel_names_its_preemption_model(tmp_path: Path) -> None:
    root = machine(tmp_path, DYNAMIC)
    packed = root / "proc/config.gz"
    packed.write_bytes(gzip.compress(b"CONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT_VOLUNTARY=y\n"))
    assert preemption.preemption_model(root) == "voluntary"
    packed.write_bytes(b"no gzip")
    assert preemption.preemption_model(root) is None


@pytest.mark.parametrize(
    ("text", "level"),
    [("-1", "ok"), ("950000", "warning"), ("0", "blocker")],
)
def test_real_time_throttling(tmp_path: Path, text: str, level: str) -> None:
    root = machine(tmp_path, {"proc/sys/kernel/sched_rt_runtime_us": text})
    finding = checks.throttling(root)
    assert level_of(finding) == level
    if finding.fix:
        assert "sysctl -w kernel.sched_rt_runtime_us=-1" in finding.fix


def test_a_kernel_without_throttling_is_ok(tmp_path: Path) -> None:
    assert level_of(checks.throttling(tmp_path)) == "ok"


@pytest.mark.parametrize(
    ("governors", "level", "found"),
    [
        ([], "ok", "frequency is not controlled here"),
        (["performance", "performance"], "ok", "performance"),
        (["performance", "powersave"], "warning", "performance, powersave"),
    ],
)
def test_cpu_governor(tmp_path: Path, governors: list[str], level: str, found: str) -> None:
    files = {
        f"{CPU}/cpu{number}/cpufreq/scaling_governor": governor
        for number, governor in enumerate(governors)
    }
    finding = checks.governor(machine(tmp_path, files))
    assert (level_of(finding), finding.found) == (level, found)


@pytest.mark.parametrize(("isolated", "level"), [("", "warning"), ("2-3", "ok")])
def test_isolated_cpus(tmp_path: Path, isolated: str, level: str) -> None:
    assert level_of(checks.isolation(machine(tmp_path, {f"{CPU}/isolated": isolated}))) == level


@pytest.mark.parametrize(
    ("source", "level"),
    [("tsc", "ok"), ("kvm-clock", "ok"), ("hpet", "warning"), ("acpi_pm", "warning")],
)
def test_clock_source(tmp_path: Path, source: str, level: str) -> None:
    assert level_of(checks.clocksource(machine(tmp_path, {CLOCK: source}))) == level


@pytest.mark.parametrize(("active", "level"), [("1", "warning"), ("0", "ok")])
def test_simultaneous_multithreading(tmp_path: Path, active: str, level: str) -> None:
    assert level_of(checks.smt(machine(tmp_path, {f"{CPU}/smt/active": active}))) == level


def test_a_virtual_machine_shows_the_share_of_time_stolen(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": "processor : 0\nflags : fpu hypervisor lahf_lm",
        # user nice system idle iowait irq softirq steal: 5 of 200 ticks
        "proc/stat": "cpu 50 0 20 122 0 0 3 5 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1",
    }
    finding = checks.virtualised(machine(tmp_path, files))
    assert level_of(finding) == "warning"
    assert "the host has taken 2.5 % of the CPU time" in finding.found


def test_bare_metal_is_ok(tmp_path: Path) -> None:
    root = machine(tmp_path, {"proc/cpuinfo": "flags : fpu vme\nmodel name : hypervisor 3000"})
    assert level_of(checks.virtualised(root)) == "ok"


def test_denied_fifo_blocks_and_names_the_limits_file() -> None:
    finding = privileges.scheduling("Operation not permitted", ADA)
    assert level_of(finding) == "blocker"
    assert finding.fix is not None
    assert "'ada - rtprio 99' into /etc/security/limits.d/rclrt_ada.conf" in finding.fix
    assert "--ulimit rtprio=99" in finding.fix
    assert level_of(privileges.scheduling(99, ADA)) == "ok"


def test_what_rclrt_realtime_says_of_a_refusal_is_the_fix(tmp_path: Path) -> None:
    program = tmp_path / "lib/rclrt_realtime/why_no_realtime"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "priority $1 is not permitted: its budget is 0"\nexit 1\n')
    program.chmod(0o755)
    why = privileges.explained({"AMENT_PREFIX_PATH": str(tmp_path)})
    assert why == "its budget is 0"
    assert privileges.scheduling("Operation not permitted", ADA, why).fix == why
    program.write_text("#!/bin/sh\nexit 2\n")
    assert privileges.explained({"AMENT_PREFIX_PATH": str(tmp_path)}) is None
    assert privileges.explained({}) is None


def test_priority_98_is_a_warning_that_says_what_needs_99() -> None:
    finding = privileges.scheduling(98, ADA)
    assert level_of(finding) == "warning"
    assert "the stall probe of rclrt latency needs 99" in finding.found


def test_a_uid_without_an_account_is_named_as_limits_conf_wants_it(tmp_path: Path) -> None:
    nobody = Login("4711", (), root=False, uid=4711, account=False)
    for finding in (
        privileges.scheduling("no", nobody),
        privileges.memory(8 << 20, tmp_path, nobody),
        limits.limits(tmp_path, nobody),
    ):
        assert finding.fix is not None
        assert "put ':4711 - " in finding.fix


@pytest.mark.parametrize(
    ("limit", "capabilities", "level"),
    [
        (resource.RLIM_INFINITY, "0000000000000000", "ok"),
        (8 << 20, "0000000000000000", "warning"),
        (8 << 20, "0000000000004000", "ok"),  # CAP_IPC_LOCK is bit 14
        (2 << 30, "0000000000000000", "warning"),  # later mappings are not locked
    ],
)
def test_memory_locking(tmp_path: Path, limit: int, capabilities: str, level: str) -> None:
    root = machine(tmp_path, {"proc/self/status": f"Name:\tx\nCapEff:\t{capabilities}"})
    assert level_of(privileges.memory(limit, root, ADA)) == level


def test_idle_states_need_a_device_that_can_be_written(tmp_path: Path) -> None:
    assert level_of(privileges.idle_states(tmp_path)) == "ok"  # no states, no device
    root = machine(tmp_path, {f"{CPU}/cpu0/cpuidle/state2/name": "C6"})
    assert level_of(privileges.idle_states(root)) == "warning"
    machine(tmp_path, {"dev/cpu_dma_latency": ""})
    assert level_of(privileges.idle_states(root)) == "ok"


def installed(root: Path, *packages: str) -> dict[str, str]:
    machine(
        root,
        {
            f"share/{package}/package.xml": "<package><version>9.2.8</version></package>"
            for package in packages
        },
    )
    return {"AMENT_PREFIX_PATH": str(root), "ROS_DISTRO": "jazzy"}


def test_ros_and_middleware_are_named_with_their_versions(tmp_path: Path) -> None:
    environment = installed(tmp_path, "rcl", "rmw_fastrtps_cpp")
    assert ros.distribution(environment).found == "jazzy, rcl 9.2.8"
    assert ros.middleware(environment).found == "rmw_fastrtps_cpp 9.2.8"


def test_a_missing_ros_or_middleware_blocks(tmp_path: Path) -> None:
    assert level_of(ros.distribution({})) == "blocker"
    environment = installed(tmp_path, "rcl") | {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"}
    finding = ros.middleware(environment)
    assert level_of(finding) == "blocker"
    assert finding.found.startswith("rmw_cyclonedds_cpp was not found")
    assert level_of(ros.runner(environment)) == "blocker"


def test_a_middleware_that_was_not_tried_is_named_as_such(tmp_path: Path) -> None:
    environment = installed(tmp_path, "rcl", "rmw_zenoh_cpp")
    finding = ros.middleware(environment | {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"})
    assert level_of(finding) == "warning"
    assert finding.found == "rmw_zenoh_cpp 9.2.8, with which rclrt has not been tested"
    assert (
        finding.fix == "set RMW_IMPLEMENTATION=rmw_fastrtps_cpp, or run make test on rmw_zenoh_cpp"
    )


def test_the_name_of_a_middleware_is_not_a_path(tmp_path: Path) -> None:
    environment = installed(tmp_path, "rcl") | {"RMW_IMPLEMENTATION": "../../rcl"}
    assert level_of(ros.middleware(environment)) == "blocker"


def test_lines_fit_and_show_every_fix(tmp_path: Path) -> None:
    findings = examine(tmp_path, {})
    lines = doctor_command.lines(findings, Paint(False))
    assert max(len(line) for line in lines) <= 120
    assert sum("fix: " in line for line in lines) == sum(
        finding.level is not Level.OK for finding in findings
    )
    assert lines[-1].endswith("blockers")


@pytest.mark.parametrize(("blocked", "code"), [(True, 1), (False, 0)])
def test_a_blocker_is_exit_code_1_also_as_json(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    blocked: bool,
    code: int,
) -> None:
    finding = checks.blocker("x", "y", "z") if blocked else checks.warning("x", "y", "z")
    monkeypatch.setattr(doctor_command, "examine", lambda root, environment: [finding])
    assert main(["doctor"]) == code
    capsys.readouterr()
    assert main(["doctor", "--json"]) == code
    document = json.loads(capsys.readouterr().out)
    assert document["blocked"] is blocked
    assert document["findings"][0] == {
        "name": "x",
        "level": "blocker" if blocked else "warning",
        "found": "y",
        "fix": "z",
    }

# SPDX-License-Identifier: Apache-2.0
"""The script with the fixes for a machine, on made-up machines. No test runs such a script on this
machine; tests run only harmless steps."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from shlex import quote

import pytest
from rclrt_cli.main import main
from rclrt_py.doctor import tuning
from rclrt_py.doctor.fix_script import (
    COUNTING,
    END,
    NOTHING,
    Step,
    boot_parameters,
    each,
    fix_script,
    in_turn,
)
from rclrt_py.doctor.login import Login
from rclrt_py.testing.made_up_machine import BUDGET, CPU, LIMITS, USER, isolating, machine

UNTUNED = isolating("") | {
    "proc/sys/kernel/sched_rt_runtime_us": "950000",
    "proc/irq/24/smp_affinity_list": "0-3",
    "proc/irq/24/eth0/x": "",
    "proc/77/comm": "irqbalance",
    "proc/self/cgroup": "12:cpu,cpuacct:/robot",
    BUDGET: "0",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave",
    f"{CPU}/cpu0/cpuidle/state1/latency": "133",
    tuning.HUGE_PAGES: "[always] madvise never",
}
TUNED = isolating("isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1", nohz_full="2-3") | {
    "proc/sys/kernel/sched_rt_runtime_us": "-1",
    LIMITS: "ada - rtprio 99\nada - memlock unlimited",
}


def check_syntax(script: str, directory: Path) -> None:
    path = directory / "fix.sh"
    path.write_text(script)
    subprocess.run(["sh", "-n", path], check=True)
    if shutil.which("shellcheck"):
        done = subprocess.run(
            ["shellcheck", "-s", "sh", "-S", "warning", path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == ""


def test_every_lack_has_a_step_with_its_reason(tmp_path: Path) -> None:
    script = fix_script(machine(tmp_path, UNTUNED), USER)
    check_syntax(script, tmp_path)
    assert script.startswith("#!/bin/sh\n")
    assert "\nset -u\n" in script
    for part in (
        "'ada - rtprio 99' 'ada - memlock unlimited' > /etc/security/limits.d/rclrt_ada.conf",
        "usermod --append --groups realtime ada",
        "echo 950000 > /sys/fs/cgroup/cpu,cpuacct/robot/cpu.rt_runtime_us",
        "isolcpus=2-3 nohz_full=2-3 rcu_nocbs=2-3 irqaffinity=0-1",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        "for unit in $units irqbalance.service; do",
        'systemctl disable --now "$unit"',
        "echo 0-1 > /proc/irq/24/smp_affinity_list",
        'echo performance > "$governor"',
        "# sysctl -w kernel.sched_rt_runtime_us=-1",
    ):
        assert part in script
    assert script.endswith(END)
    steps = script.removesuffix(END).split("\n\n")[2:]
    assert len(steps) == 9
    assert all(step.startswith("# ") for step in steps)


def test_a_tuned_machine_needs_nothing(tmp_path: Path) -> None:
    script = fix_script(machine(tmp_path, TUNED), USER)
    check_syntax(script, tmp_path)
    assert script.endswith(NOTHING)


def run(*steps: Step, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    script = COUNTING + "".join(step.text() for step in steps) + END
    return subprocess.run(
        ["/bin/sh", "-u", "-c", script],
        capture_output=True, text=True, check=False, env={"PATH": path},
    )  # fmt: skip


def test_a_step_that_fails_says_so_and_the_next_follows() -> None:
    done = run(
        Step("First.", in_turn("the first", "echo 1", "false", "echo never")),
        Step("Second.", each([("false", "2a"), ("echo x > /nowhere/x", "2b"), ("echo 2c", "2c")])),
    )
    assert done.returncode == 1
    assert done.stdout == "1\n2c\n"
    said = [line for line in done.stderr.splitlines() if line.startswith("failed")]
    assert said == ["failed: the first", "failed: 2a", "failed: 2b"]


def test_steps_that_succeed_are_exit_code_0() -> None:
    done = run(Step("First.", in_turn("x", "echo 1", "echo 2")), Step("Second.", ("true",)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n2\n", "")


def test_what_starts_a_service_again_is_disabled_before_it(tmp_path: Path) -> None:
    root = machine(tmp_path / "machine", TUNED | {"proc/77/comm": "multipathd"})
    script = fix_script(root, USER)
    check_syntax(script, tmp_path)
    systemctl = tmp_path / "systemctl"
    systemctl.write_text(
        '#!/bin/sh\n[ "$1" = show ] && { echo multipathd.socket; exit; }\necho "$@"\n'
    )
    systemctl.chmod(0o755)
    step = script.removesuffix(END).split("\n\n")[2]
    done = run(Step("", tuple(step.splitlines())), path=f"{tmp_path}:/usr/bin:/bin")
    assert done.stdout.splitlines() == [
        "disable --now multipathd.socket",
        "disable --now multipathd.service",
    ]
    assert done.returncode == 0


def test_every_user_has_a_file_of_limits_of_its_own(tmp_path: Path) -> None:
    root = machine(tmp_path, isolating(""))
    names = ("ada", "bob", "a/b", "a_b", "a%2Fb", "../x")
    files = {Login(name, (), root=False).limits_file for name in names}
    assert len(files) == len(names)
    assert {str(Path(file).parent) for file in files} == {"/etc/security/limits.d"}
    assert "> /etc/security/limits.d/rclrt_bob.conf" in fix_script(
        root, Login("bob", (), root=False)
    )


def test_a_uid_without_an_account_joins_no_group(tmp_path: Path) -> None:
    nobody = Login("4711", (), root=False, uid=4711, account=False)
    script = fix_script(machine(tmp_path, UNTUNED), nobody)
    check_syntax(script, tmp_path)
    assert "':4711 - rtprio 99'" in script  # limits.conf(5): exactly this uid
    assert "usermod" not in script
    assert "groupadd" in script


def test_names_are_quoted_for_the_shell_and_cannot_leave_a_comment(tmp_path: Path) -> None:
    bad = Login("x'; reboot #\nreboot", (), root=False)
    hostile = {key: value for key, value in UNTUNED.items() if key != BUDGET} | {
        "proc/self/cgroup": "12:cpu,cpuacct:/$(reboot)",
        "sys/fs/cgroup/cpu,cpuacct/$(reboot)/cpu.rt_runtime_us": "0",
        "proc/cmdline": "isolcpus=2-3 irqaffinity=$(reboot)",
    }
    script = fix_script(machine(tmp_path, hostile), bad)
    check_syntax(script, tmp_path)
    quoted = (
        quote(f"{bad.user} - rtprio 99"),
        quote(f"{bad.user} - memlock unlimited"),
        quote(bad.user),
        quote(bad.limits_file),
        quote("/sys/fs/cgroup/cpu,cpuacct/$(reboot)/cpu.rt_runtime_us"),
    )
    for text in quoted:
        assert text in script
        script = script.replace(text, "")
    left = [line for line in script.splitlines() if "reboot" in line]
    assert all(line.startswith("# ") for line in left)
    assert "irqaffinity=0-1" in script  # not the one of the command line


def test_the_last_cpu_is_isolated_where_none_is(tmp_path: Path) -> None:
    root = machine(tmp_path, isolating("", isolated=""))
    assert boot_parameters(root) == [
        "isolcpus=3", "nohz_full=3", "rcu_nocbs=3", "irqaffinity=0-2",
    ]  # fmt: skip


def test_what_is_stated_at_boot_already_stays(tmp_path: Path) -> None:
    root = machine(tmp_path, isolating("isolcpus=managed_irq,domain,2-3 rcu_nocbs=1-3"))
    assert boot_parameters(root) == [
        "isolcpus=managed_irq,domain,2-3", "nohz_full=2-3", "rcu_nocbs=1-3", "irqaffinity=0-1",
    ]  # fmt: skip


def test_a_single_cpu_is_never_isolated(tmp_path: Path) -> None:
    assert boot_parameters(machine(tmp_path, {f"{CPU}/online": "0"})) == []


def test_the_script_of_this_machine_is_a_script(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--fix-script"]) == 0
    check_syntax(capsys.readouterr().out, tmp_path)


def test_script_and_json_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--fix-script", "--json"])
    assert ended.value.code == 2
    assert "not allowed with" in capsys.readouterr().err

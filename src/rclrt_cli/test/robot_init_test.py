# SPDX-License-Identifier: Apache-2.0
"""`rclrt robot init`: the first robot.yaml of processes that run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from rclrt_cli.commands.robot import hidden_text
from rclrt_py.errors import BadInput
from rclrt_py.processes.runner import find_program
from rclrt_py.robots.first_file import first_file, ranges
from rclrt_py.robots.graph import Entity, FoundNode, Graph, Monitored, take_diagnostics
from rclrt_py.robots.names import pattern_of, process_name
from rclrt_py.robots.threads import (
    FoundProcess,
    FoundThread,
    ThreadScheduling,
    read_process,
    ros_processes,
)
from rclrt_py.testing.command import Rclrt, environment, finished
from rclrt_py.testing.waiting import GENEROUS_S

import rclrt_model

OTHER = ThreadScheduling("SCHED_OTHER", cpus=(0, 1))
# Three threads with names of their own: a nice one on CPU 0, and two that differ; a node with a
# subscription; and what a monitor publishes about this process.
ROBOT = """
import ctypes, os, sys, threading
def thread(name, nice, cpus):
    def work():
        ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
        os.sched_setaffinity(threading.get_native_id(), cpus)
        started.release()
        threading.Event().wait()
    started = threading.Semaphore(0)
    threading.Thread(target=work, daemon=True).start()
    started.acquire()
cpus = os.sched_getaffinity(0)
thread("grab *]", 7, {min(cpus)})
thread("same", 0, cpus)
thread("same", 3, cpus)
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("controller", namespace="/arm")
node.create_subscription(String, "/goal", lambda _: None, 10)
publisher = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
values = {"priority": 7, "deadline_ms": "5.000", "limit_of": "response"}
array = DiagnosticArray(status=[
    DiagnosticStatus(name=f"rclrt: process {os.uname().nodename} {os.getpid()}"),
    DiagnosticStatus(name="rclrt: /arm/controller group 1 timer 0",
                     values=[KeyValue(key=k, value=str(v)) for k, v in values.items()])])
node.create_timer(0.05, lambda: publisher.publish(array))
print("ready", flush=True)
rclpy.spin(node)
"""


def process(*threads: FoundThread, pid: int = 70000, command: tuple[str, ...] = ()) -> FoundProcess:
    return FoundProcess(pid, command or ("/opt/ros/bin/robot_node",), threads)


def thread(name: str, scheduling: ThreadScheduling = OTHER) -> FoundThread:
    return FoundThread(1, name, scheduling)


def rules(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.lstrip().startswith("- {name:")]


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", _affinity(os.sched_getaffinity))


def _affinity(real: Callable[[int], set[int]]) -> Callable[[int], set[int]]:
    """Gives this process the CPUs 0 and 1, whatever the machine has."""
    return lambda pid: {0, 1} if pid == 0 else real(pid)


def test_each_thread_has_a_rule_with_the_scheduling_that_it_has() -> None:
    text = first_file(
        [
            process(
                thread("robot_node"),
                thread("can", ThreadScheduling("SCHED_FIFO", 42, 0, (1,))),
                thread("tick", ThreadScheduling("SCHED_RR", 99, 0, (0, 1))),
                thread("slow", ThreadScheduling("SCHED_OTHER", 0, 5, (0, 1))),
                thread("dl", ThreadScheduling("SCHED_DEADLINE", 0, 0, (0, 1), 2000, 4000, 0)),
                thread("idle", ThreadScheduling("SCHED_IDLE", 0, 0, (0, 1))),
                thread("pool", OTHER),
                thread("pool", ThreadScheduling("SCHED_OTHER", 0, 1, (0, 1))),
                thread("dds.udp.7411"),
                thread("dds.ev.0"),
                thread("executor L1"),
            )
        ],
        Graph(),
    )
    assert rules(text) == [
        "- {name: robot_node, policy: keep}  # 1 thread: SCHED_OTHER nice 0, all CPUs",
        "- {name: can, policy: fifo, priority: 42, cpus: [1]}  # 1 thread: SCHED_FIFO 42, CPUs 1",
        "- {name: tick, policy: keep}  # 1 thread: SCHED_RR 99, all CPUs",
        "- {name: slow, policy: other, nice: 5}  # 1 thread: SCHED_OTHER nice 5, all CPUs",
        "- {name: dl, policy: deadline, runtime_ms: 0.002, deadline_ms: 0.004, period_ms: 0.004}  "
        "# 1 thread: SCHED_DEADLINE, all CPUs",
        "- {name: idle, policy: keep}  # 1 thread: SCHED_IDLE, all CPUs",
        "- {name: pool, policy: keep}  # 2 threads: SCHED_OTHER nice 0, all CPUs; "
        "SCHED_OTHER nice 1, all CPUs",
        "- {name: middleware, policy: keep}  # 2 threads: SCHED_OTHER nice 0, all CPUs "
        "(dds.udp.7411, dds.ev.0)",
    ]
    assert "#   executor L1: 1 thread: SCHED_OTHER nice 0, all CPUs\n" in text


def test_nodes_are_entries_of_the_process_that_has_them() -> None:
    graph = Graph(
        nodes={
            "/a": FoundNode("/a", {Entity("subscription", "/x"), Entity("service", "/a/go")},
                            {70000 & 0xFFFF}),
            "/b": FoundNode("/b", {Entity("client", "/a/go")}),
            "/lost": FoundNode("/lost", {Entity("subscription", "/y")}),
        },
        monitored={70001: {("/m", Entity("timer", "0", 2)): Monitored(9, "2.5"),
                           ("/m", Entity("subscription", "/z", 1)): Monitored(3, "7", True)}},
    )  # fmt: skip
    text = first_file(
        [
            process(thread("one")),
            process(thread("two"), pid=70001, command=("b", "--ros-args", "-r", "__node:=b")),
        ],
        graph,
    )
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert [line.strip() for line in lines if "node: /" in line] == [
        "- {node: /a, service: /a/go, priority: 0}",
        "- {node: /a, subscription: /x, priority: 0}",
        "- {node: /b, client: /a/go, priority: 0}",
        "- {node: /m, group: 1, subscription: /z, priority: 3, max_age_ms: 7}",
        "- {node: /m, group: 2, timer: 0, priority: 9, deadline_ms: 2.5}",
    ]
    assert "#   - {node: /lost, subscription: /y, priority: 0}\n" in text
    assert [line.strip() for line in lines if "- name:" in line] == [
        "- name: robot_node", "- name: b"
    ]  # fmt: skip


def test_a_monitor_of_another_shape_or_with_wild_names_adds_nothing() -> None:
    def status(name: str, **values: str) -> SimpleNamespace:
        pairs = [SimpleNamespace(key=key, value=each) for key, each in values.items()]
        return SimpleNamespace(name=name, values=pairs)

    graph = Graph()
    take_diagnostics([status("rclrt: /a timer 0", priority="1")], graph)
    assert graph.monitored == {}
    take_diagnostics(
        [
            status(f"rclrt: process {os.uname().nodename} 7"),
            status("rclrt: /a timer 0\n- evil", priority="1"),
            status("rclrt: /a} timer 0", priority="1"),
            status("rclrt: /a timer 0", priority="1e9"),
            status("rclrt: /a timer 1", priority="-1"),
            status("rclrt: /a timer 2", priority="5", deadline_ms="nan, evil"),
            status("rclrt: /a timer 3 progress", priority="5"),
            status("rclrt: foo timer 0", priority="5"),
            status("rclrt: /a timer 4000000", priority="5"),
            status("rclrt: /a timer /x", priority="5"),
            status("rclrt: /a subscription x", priority="5"),
            status("rclrt: /a timer 4", priority="1000001"),
        ],
        graph,
    )
    assert graph.monitored == {7: {("/a", Entity("timer", "2")): Monitored(5)}}
    take_diagnostics([status("rclrt: process elsewhere 8"), status("rclrt: /a timer 0")], graph)
    assert list(graph.monitored) == [7]
    late = status("rclrt: /a timer 5", priority="5", deadline_ms="9999999")
    take_diagnostics([status(f"rclrt: process {os.uname().nodename} 9"), late], graph)
    assert graph.monitored[9] == {("/a", Entity("timer", "5")): Monitored(5)}


@pytest.mark.parametrize(
    "name",
    [
        "*",
        "a]b",
        "[x",
        "back\\slash",
        "middleware",
        "yes",
        "quote\"'",
        "# no",
        "\x1b[2J",
        "",
        "\N{GRINNING FACE}",
        "x\u2028write_priorities: /evil",
    ],
)
def test_any_name_of_a_thread_or_program_gives_a_valid_file(name: str) -> None:
    text = first_file(
        [process(thread(name), command=(name, "\n- x")), process(thread("b"))], Graph()
    )
    assert rclrt_model.robot_warnings(text, host=True) is not None
    assert not any(line.lstrip().startswith("write_priorities") for line in text.splitlines())
    assert text.isprintable() or set(text) - {"\n"} == {c for c in text if c.isprintable()}
    assert pattern_of("middleware") == '"[m]iddleware"'


def test_a_process_that_runs_rclrt_and_threads_without_a_usable_name_have_a_remark() -> None:
    text = first_file(
        [process(thread("executor L1"), thread("cut\N{REPLACEMENT CHARACTER}"))], Graph()
    )
    assert "# This process runs rclrt already." in text
    assert "# Threads that no name identifies; state a rule by library or function:\n" in text
    assert rules(text) == []
    assert "runs rclrt" not in first_file([process(thread("a"))], Graph())


def test_names_of_processes_are_valid_and_different() -> None:
    assert process_name("my-robot..node", ()) == "my_robot_node"
    assert process_name("3d", ()) == "process_3d"
    assert process_name("\x1b", ()) == "process"
    assert process_name("a", ("a", "a_2")) == "a_3"
    assert ranges((0, 1, 2, 5, 7, 8)) == "0-2,5,7-8"


@contextmanager
def running(code: str, tmp_path: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env={**environment(), "ROS_LOG_DIR": str(tmp_path), **variables},
        stdout=subprocess.PIPE,
        text=True,
    ) as robot:
        try:
            assert robot.stdout is not None
            assert robot.stdout.readline() == "ready\n"
            yield robot
        finally:
            robot.kill()


def test_a_running_robot_is_written_with_threads_nodes_and_monitored_callbacks(
    tmp_path: Path,
) -> None:
    pytest.importorskip("rclpy")
    out = tmp_path / "robot.yaml"
    with running(ROBOT, tmp_path) as robot:
        assert robot.pid in ros_processes()[0]
        answer = finished("robot", "init", "-o", out, "--pid", robot.pid, "--seconds", "5")
        assert (answer.returncode, answer.stderr) == (0, "")
        again = finished("robot", "init", "-o", out, "--pid", robot.pid, "--seconds", "0.1")
    text = out.read_text()
    rclrt_model.robot_warnings(text)
    entries = rclrt_model.load_node_timings(out)
    assert [(each.node, each.kind, each.name, each.priority) for each in entries] == [
        ("/arm/controller", "timer", "0", 7),
        ("/arm/controller", "subscription", "/goal", 0),
    ]
    assert entries[0].deadline_ns == 5_000_000
    found = rules(text)
    assert any(line.startswith('- {name: "grab \\\\*]", policy: other, nice: 7') for line in found)
    assert any(line.startswith("- {name: same, policy: keep}  # 2 threads: ") for line in found)
    assert again.returncode == 2
    assert "exists already, and is not overwritten" in again.stderr
    assert out.read_text() == text


def test_without_a_node_the_fix_names_the_domain_of_the_robot(tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    own = environment().get("ROS_DOMAIN_ID") or "0"
    with running(ROBOT, tmp_path, ROS_DOMAIN_ID=str((int(own) + 1) % 100)) as robot:
        answer = finished(
            *("robot", "init", "-o", tmp_path / "a.yaml", "--pid", robot.pid, "--seconds", "0.5")
        )
    assert answer.returncode == 0
    assert "nodes: 0" in answer.stdout
    assert answer.stderr.startswith(
        "rclrt: no node was found\n"
        f"  fix: ROS_DOMAIN_ID={(int(own) + 1) % 100} rclrt robot init ...: process {robot.pid}"
    )
    assert answer.stderr.endswith(f" has it, and this command has {own}\n")


def test_processes_of_others_are_counted_in_words() -> None:
    for count, found in ((1, "1 process of another user"), (2, "2 processes of other users")):
        said = f"{found} cannot be examined; run this as the robot's user, or as root"
        assert hidden_text(count, as_root=False) == said


def test_root_is_not_told_to_be_root() -> None:
    for count, found in ((1, "1 process "), (2, "2 processes ")):
        said = hidden_text(count, as_root=True)
        assert said.startswith(f"{found}cannot be examined, although this is root; run this with")
        assert "CAP_SYS_PTRACE" in said


def test_a_process_without_ros_gets_no_advice_about_its_domain(tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    code = "print('ready', flush=True); import time; time.sleep(1000)"
    with running(code, tmp_path, ROS_DOMAIN_ID="") as other:
        answer = finished(
            *("robot", "init", "-o", tmp_path / "a.yaml", "--pid", other.pid, "--seconds", "0.5")
        )
    program = Path(sys.executable).name
    assert answer.returncode == 0
    assert answer.stderr == (
        "rclrt: no node was found\n"
        "  fix: a --pid of a process with ROS 2; these have not loaded it: "
        f"{other.pid} ({program})\n"
    )


def test_the_container_runs_with_the_file_that_was_written(tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    try:
        container = find_program(os.environ, "rclrt_robot", "rclrt_component_container")
    except BadInput:
        pytest.skip("rclrt_robot is not built")
    first, out = tmp_path / "first.yaml", tmp_path / "robot.yaml"
    first.write_text("rclrt: 1\nexecutor: {realtime: off}\n")
    said = run_container(container, first, tmp_path, out)
    assert "executor preemptive" in said
    assert "threads:" in out.read_text()
    said = run_container(container, out, tmp_path, None)
    assert "executor preemptive" in said
    assert "no thread has got its scheduling from" not in said
    assert "nothing fits" not in said


def run_container(container: str | Path, file: Path, tmp_path: Path, out: Path | None) -> str:
    """Runs the container with a file until it has said what it got, and writes what it is."""
    log = tmp_path / f"{file.stem}.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [container, "--ros-args", "-p", f"robot:={file}"],
            env={**environment(), "ROS_LOG_DIR": str(tmp_path)},
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as robot,
    ):
        try:
            until = time.monotonic() + GENEROUS_S
            while "executor preemptive" not in log.read_text() and time.monotonic() < until:
                assert robot.poll() is None, log.read_text()
                time.sleep(0.05)
            if out is not None:
                answer = finished("robot", "init", "-o", out, "--pid", robot.pid, "--seconds", "3")
                assert answer.returncode == 0, answer.stderr
        finally:
            robot.terminate()
            robot.wait(GENEROUS_S)
    return log.read_text()


def test_threads_are_read_with_the_scheduling_that_the_kernel_has() -> None:
    with subprocess.Popen(["nice", "-n", "4", "sleep", "1000"]) as sleeping:
        try:
            until = time.monotonic() + GENEROUS_S
            found = read_process(sleeping.pid)
            while (found is None or found.program != "sleep") and time.monotonic() < until:
                found = read_process(sleeping.pid)
        finally:
            sleeping.kill()
    assert found is not None
    (only,) = found.threads
    assert (only.name, only.scheduling.policy, only.scheduling.nice) == ("sleep", "SCHED_OTHER", 4)
    sleeping.wait()
    assert read_process(sleeping.pid) is None


def test_a_name_that_is_too_long_is_bad_input(rclrt: Rclrt, tmp_path: Path) -> None:
    answer = rclrt("robot", "init", "-o", tmp_path / ("a" * 300))
    assert answer.code == 2
    assert "File name too long" in answer.err


def test_a_process_that_does_not_exist_is_bad_input(rclrt: Rclrt, tmp_path: Path) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    answer = rclrt(
        "robot", "init", "-o", tmp_path / "a.yaml", "--pid", ended.pid, "--seconds", "0.1"
    )
    assert (answer.code, answer.out) == (2, "")
    assert answer.err == f"rclrt: --pid {ended.pid}: there is no such process\n"
    assert not list(tmp_path.iterdir())

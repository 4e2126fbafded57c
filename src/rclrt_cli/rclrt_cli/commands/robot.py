# SPDX-License-Identifier: Apache-2.0
"""`rclrt robot`: the first robot.yaml, of a running robot or from the configuration of
callback_isolated_executor."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from rclrt_py.arguments import seconds_argument, whole_number
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput, RunFailed
from rclrt_py.files.atomic import STANDARD_OUTPUT, check_file, write_new, write_output
from rclrt_py.native import read_input
from rclrt_py.robots.cie import read_cie
from rclrt_py.robots.first_file import first_file
from rclrt_py.robots.from_cie import robot_from_cie
from rclrt_py.robots.graph import read_graph
from rclrt_py.robots.threads import (
    FoundProcess,
    has_loaded_ros,
    read_process,
    ros_processes,
    variable_of,
)

HELP = "make the first robot.yaml of a robot"
LISTENS_S = 3.0
NAMED = 3
"""Number of processes that an error names."""
HIGHEST_PID = 4_194_304
ROS_VARIABLES = (("ROS_DOMAIN_ID", "0"), ("RMW_IMPLEMENTATION", "rmw_fastrtps_cpp"))
"""Variables with which processes must agree to find each other, and their defaults."""
PROCESS_NAME = re.compile(r"(?!.*__)[A-Za-z_][A-Za-z0-9_]{0,254}", re.ASCII)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    start = actions.add_parser(
        "init",
        help="write what runs on this host: processes, threads, nodes",
        description="Looks at the running processes of ROS 2 on this host and writes a robot.yaml "
        "with every thread and callback that it finds, each with the scheduling that it has.",
    )
    _add_output(start)
    start.add_argument(
        "--pid",
        metavar="N",
        type=whole_number("no process number", 1, HIGHEST_PID),
        action="append",
        default=[],
        help="only this process, whether it uses ROS 2 or not; may be repeated",
    )
    start.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=LISTENS_S,
        help="listen to the ROS graph and to monitors for this time; default: %(default)s",
    )
    load = actions.add_parser(
        "import",
        help="convert a configuration of callback_isolated_executor",
        description="Converts the YAML file of cie_thread_configurator. Settings that a robot.yaml "
        "does not have are named with their place; the exit code is then 1.",
    )
    load.add_argument("file", metavar="FILE", type=Path, help="such as template.yaml")
    _add_output(load)
    load.add_argument(
        "--process",
        metavar="NAME=NODE,...",
        type=_process,
        action="append",
        default=[],
        help="a process with these nodes and threads; once for each process, and the file is then "
        "one for all processes of the host; default: one process",
    )
    load.add_argument(
        "--domain",
        metavar="N",
        type=whole_number("no ROS domain", 0, 232),
        help="the ROS domain of the callback groups to convert, if the file has several",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=Path,
        required=True,
        help="write the robot.yaml to this new file; - is the standard output",
    )


def run(arguments: argparse.Namespace) -> int:
    _check_new(arguments.out)
    return _init(arguments) if arguments.action == "init" else _import(arguments)


def _init(arguments: argparse.Namespace) -> int:
    pids, hidden = (arguments.pid, 0) if arguments.pid else ros_processes()
    if hidden:
        print(f"rclrt: {hidden_text(hidden, os.geteuid() == 0)}", file=sys.stderr)
    if not pids:
        print(
            "rclrt: no process on this host has loaded ROS 2; start the robot first, or name a "
            "process with --pid",
            file=sys.stderr,
        )
        return EXIT_NO
    graph = read_graph(arguments.seconds)
    processes = _read_processes(arguments.pid, pids)
    _write_new(arguments.out, first_file(processes, graph))
    if graph.problem:
        print(f"rclrt: the ROS graph was not read: {graph.problem}", file=sys.stderr)
    elif not graph.nodes:
        print(f"rclrt: no node was found\n  fix: {_fix_without_nodes(processes)}", file=sys.stderr)
    if arguments.out != STANDARD_OUTPUT:
        threads = sum(len(each.threads) for each in processes)
        print(
            f"{arguments.out}: processes: {len(processes)}, threads: {threads}, "
            f"nodes: {len(graph.nodes)}"
        )
    return EXIT_OK


def hidden_text(processes: int, as_root: bool) -> str:
    """Returns that so many processes cannot be examined, with the fix."""
    if as_root:
        found = "1 process" if processes == 1 else f"{processes} processes"
        return (
            f"{found} cannot be examined, although this is root; run this with CAP_SYS_PTRACE, "
            "which a container may lack (docker run --cap-add SYS_PTRACE)"
        )
    found = f"{processes} processes of other users"
    if processes == 1:
        found = "1 process of another user"
    return f"{found} cannot be examined; run this as the robot's user, or as root"


def _fix_without_nodes(processes: list[FoundProcess]) -> str:
    """Returns what to change so that nodes of these processes are found."""
    with_ros = [each for each in processes if _may_have_ros(each.pid)]
    if not with_ros:
        names = ", ".join(f"{each.pid} ({each.program})" for each in processes[:NAMED])
        return f"a --pid of a process with ROS 2; these have not loaded it: {names}"
    for variable, default in ROS_VARIABLES:
        own = os.environ.get(variable) or default
        for process in with_ros:
            stated = variable_of(process.pid, variable)
            if stated is not None and (stated or default) != own:
                theirs = stated or default
                return (
                    f"{variable}={theirs} rclrt robot init ...: process {process.pid} "
                    f"({process.program}) has it, and this command has {own}"
                )
    return (
        "a longer --seconds; the nodes are in ROS_DOMAIN_ID="
        f"{os.environ.get('ROS_DOMAIN_ID') or '0'}, or the processes have none yet"
    )


def _may_have_ros(pid: int) -> bool:
    try:
        return has_loaded_ros(pid)
    except OSError:
        return True


def _read_processes(named: list[int], pids: list[int]) -> list[FoundProcess]:
    """Reads the processes. Throws BadInput if a named one does not exist, or if all have ended."""
    found = {pid: read_process(pid) for pid in dict.fromkeys(pids)}
    for pid in named:
        if found[pid] is None:
            raise BadInput(f"--pid {pid}: there is no such process")
    processes = [each for each in found.values() if each is not None]
    if not processes:
        raise RunFailed("all processes of ROS 2 have ended; nothing is written")
    return processes


def _import(arguments: argparse.Namespace) -> int:
    processes: dict[str, list[str]] = {}
    placed: dict[str, str] = {}
    for name, members in arguments.process:
        if name in processes:
            raise BadInput(f"--process {name}: is stated twice; name all of its nodes at once")
        for each in members:
            if each in placed:
                raise BadInput(f"--process {name}: '{each}' is in process {placed[each]} already")
            placed[each] = name
        processes[name] = members
    file = read_cie(read_input(arguments.file), str(arguments.file))
    converted = robot_from_cie(file, processes, arguments.domain)
    _write_new(arguments.out, converted.text)
    for remark in converted.remarks:
        print(remark.located(str(arguments.file)), file=sys.stderr)
    for warning in converted.warnings:
        print(f"{arguments.out}: warning: {warning}", file=sys.stderr)
    lost = sum(each.lost for each in converted.remarks)
    if arguments.out != STANDARD_OUTPUT:
        rest = f", settings not carried over: {lost}" if lost else ""
        print(
            f"{arguments.out}: groups: {len(file.groups)}, other threads: {len(file.threads)}{rest}"
        )
    return EXIT_NO if lost else EXIT_OK


def _check_new(path: Path) -> None:
    if path == STANDARD_OUTPUT:
        return
    check_file("-o", path)
    if path.exists() or path.is_symlink():
        raise BadInput(f"-o {path}: exists already, and is not overwritten; name a new file")


def _write_new(path: Path, text: str) -> None:
    if path == STANDARD_OUTPUT:
        write_output(path, text)
    else:
        write_new(path, text)


def _process(text: str) -> tuple[str, list[str]]:
    name, equals, members = text.partition("=")
    if not equals or not PROCESS_NAME.fullmatch(name) or not all(members.split(",")):
        raise argparse.ArgumentTypeError(
            f"'{text}' is no process; expected its name and what it has, as in "
            "control=/controller,/planner"
        )
    return name, members.split(",")

# SPDX-License-Identifier: Apache-2.0
"""`rclrt calibrate`: measures what dispatching, timers and messages cost on this machine."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rclrt_py.agents.connections import Agent, agent_argument, check_agents
from rclrt_py.agents.token import VARIABLE
from rclrt_py.arguments import seconds_argument, whole_number
from rclrt_py.bounds.machine import HOPS
from rclrt_py.calibration.calibration import LEAST_SECONDS, Calibration, duration_s
from rclrt_py.calibration.link_calibration import (
    FIRST_SECONDS,
    LinkCalibration,
    check_peer,
    own_name,
)
from rclrt_py.calibration.samples import LEAST_STALL_NS
from rclrt_py.errors import EXIT_NO, EXIT_OK, BadInput
from rclrt_py.executors import EXECUTORS, parse_executors
from rclrt_py.files.atomic import check_file, write_atomically
from rclrt_py.processes.runner import find_runner
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.progress import Progress
from rclrt_py.terminal.table import Columns

from rclrt_cli.tables import link

HIGHEST_CPU = 9999
HELP = "measure this machine's overheads, for rclrt analyze --overheads"
MAX_MESSAGE_BYTES = 10_000_000
DEFAULT_BYTES = 1000
COLUMNS = ("n", "min", "p50", "p99", "max", "max_undisturbed", "disturbed")
WIDTHS = Columns(40, *[16] * len(COLUMNS))
FAR_ABOVE = 10
"""A maximum of more than this many times the p99 is no cost of the machine's own."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write what was measured to this file, as JSON; with several --peer a file for each, "
        "with _HOST before its ending",
    )
    parser.add_argument(
        "--seconds",
        metavar="S",
        type=seconds_argument,
        default=10.0,
        help="seconds to measure each executor, and the messages between processes; default 10. "
        "Executors that run callbacks on two CPUs take half of it more",
    )
    parser.add_argument(
        "--executors",
        metavar="A,B,...",
        default=",".join(EXECUTORS),
        help="measure the overheads of these executors; default: all of them",
    )
    parser.add_argument(
        "--cpu",
        metavar="N",
        type=whole_number("no number of a CPU", 0, HIGHEST_CPU),
        help="measure on this CPU; default: the last one",
    )
    parser.add_argument(
        "--message-bytes",
        metavar="N",
        type=whole_number("no size in bytes", 0, MAX_MESSAGE_BYTES),
        default=DEFAULT_BYTES,
        help="size of the messages in bytes; dispatch times include publishing and taking them; "
        "default 1000",
    )

    parser.add_argument(
        "--peer",
        metavar="HOST=WHERE",
        type=agent_argument,
        action="append",
        default=[],
        help="measure the link to another host instead: its rate, what a message costs besides, "
        "and losses, as an entry of `links` in an app.yaml; WHERE as in rclrt run --agent; may be "
        "repeated, and the links are measured one after the other",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help=f"with --peer: the token of the agent (default: the environment's {VARIABLE})",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.peer:
        return _run_links(arguments)
    if arguments.token_file is not None:
        raise BadInput("--token-file: is the token of an agent; expected --peer HOST=WHERE, too")
    executors = parse_executors(arguments.executors)
    for name in executors:
        if name not in EXECUTORS:
            raise BadInput(f"calibrate: {name}: expected the kind of an executor, without options")
    cpus = sorted(os.sched_getaffinity(0))
    cpu = cpus[-1] if arguments.cpu is None else arguments.cpu
    _check(arguments, cpu, cpus)
    program = find_runner(os.environ)
    seconds: float = arguments.seconds
    progress = Progress(sys.stderr, duration_s(executors, seconds, cpus))
    with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="rclrt-calibrate-") as name:
        calibration = Calibration(
            program, Path(name), seconds, cpu, cpus, arguments.message_bytes, stop, progress
        )
        if not calibration.measure_all(executors):
            print("rclrt: stopped before the end; nothing was written", file=sys.stderr)
            return stop.exit_code
    overheads = calibration.to_json()
    for line in lines(overheads):
        print(line)
    if warning := disturbance(overheads):
        print(f"rclrt: calibrate: {warning}", file=sys.stderr)
    if arguments.output:
        write_atomically(arguments.output, json.dumps(overheads, indent=1) + "\n")
        print(f"\n{arguments.output}")
    return EXIT_OK


def _run_links(arguments: argparse.Namespace) -> int:
    """Measures the links to other hosts, one after the other."""
    peers: list[Agent] = arguments.peer
    _check_link(arguments)
    outputs = _outputs(arguments.output, peers, arguments.token_file)
    for peer in peers:
        check_peer(peer)
    token = check_agents(peers, arguments.token_file, "--peer", "rclrt calibrate")
    program = find_runner(os.environ)
    documents: list[dict[str, Any]] = []
    progress = Progress(sys.stderr, len(peers) * (FIRST_SECONDS + arguments.seconds))
    here = own_name([peer.host for peer in peers])
    with StopSignals() as stop, tempfile.TemporaryDirectory(prefix="rclrt-calibrate-") as name:
        try:
            for peer in peers:
                directory = Path(name) / peer.host
                directory.mkdir()
                calibration = LinkCalibration(
                    program=program,
                    directory=directory,
                    agent=peer,
                    token=token,
                    seconds=arguments.seconds,
                    stop=stop,
                    progress=progress,
                    here=here,
                    name="link" if len(peers) == 1 else f"link_{peer.host}",
                )
                if not calibration.measure():
                    print(
                        f"rclrt: stopped before the end of the link to {peer.host}; nothing of it "
                        "was written",
                        file=sys.stderr,
                    )
                    return stop.exit_code
                documents.append(calibration.to_json())
                for line in link.measured_lines(documents[-1]):
                    print(line)
                if outputs:
                    output = outputs[len(documents) - 1]
                    write_atomically(output, json.dumps(documents[-1], indent=1) + "\n")
        finally:
            for line in link.entry_lines(documents):
                print(line)
            for output in outputs[: len(documents)]:
                print(f"\n{output}")
    return EXIT_OK if all(each["link"] for each in documents) else EXIT_NO


def _outputs(stated: Path | None, peers: Sequence[Agent], token: Path | None) -> list[Path]:
    """Returns the file of each link. Empty: none is to be written. Throws BadInput if one cannot be
    written, or is the file of the token."""
    if stated is None:
        return []
    outputs = [stated]
    if len(peers) > 1:
        check_file("-o", stated)  # it may be a directory
        outputs = [stated.with_name(f"{stated.stem}_{peer.host}{stated.suffix}") for peer in peers]
    for output in outputs:
        check_file("-o", output, [token])
    return outputs


def _check_link(arguments: argparse.Namespace) -> None:
    """Rejects options that cannot be used for a link."""
    for option, value, default in (
        ("--executors", arguments.executors, ",".join(EXECUTORS)),
        ("--cpu", arguments.cpu, None),
        ("--message-bytes", arguments.message_bytes, DEFAULT_BYTES),
    ):
        if value != default:
            raise BadInput(f"{option}: is for the overheads of this machine; not with --peer")
    if arguments.seconds < LEAST_SECONDS:
        raise BadInput(f"--seconds {arguments.seconds:g}: expected at least {LEAST_SECONDS:g}")


def _check(arguments: argparse.Namespace, cpu: int, cpus: list[int]) -> None:
    """Rejects, before anything is measured, options that cannot be used."""
    if arguments.output:
        check_file("-o", arguments.output)
    if arguments.seconds < LEAST_SECONDS:
        raise BadInput(f"--seconds {arguments.seconds:g}: expected at least {LEAST_SECONDS:g}")
    if cpu not in cpus:
        raise BadInput(
            f"--cpu {cpu}: this process may not use it; expected one of "
            f"{', '.join(str(each) for each in cpus)}"
        )


def lines(overheads: dict[str, Any]) -> Iterator[str]:
    """Yields a table of all values, in microseconds."""
    yield WIDTHS.line("µs", *COLUMNS)
    for name, value in _quantities(overheads):
        if value is None:
            yield f"{name}: no message came; try again with more --seconds"
        else:
            yield _line(name, value)
    yield ""
    yield (
        f"{overheads['seconds']:g} s on CPU {overheads['machine']['cpu']}, messages of "
        f"{overheads['machine']['message_bytes']} bytes; stolen by the host: "
        f"{overheads['steal_ms']:g} ms, stalls of the host: {overheads['host_stalls']}"
    )
    if "rt_bandwidth" in overheads:
        given = overheads["rt_bandwidth"]
        yield (
            f"Real-time threads get {100 * given['share']:.1f} % of a CPU that they keep busy; the "
            f"longest wait was {given['longest_wait_us'] / 1e3:.1f} ms."
        )
    if not overheads["realtime"]:
        yield "Not real-time: nothing here says what SCHED_FIFO would give."


def disturbance(overheads: dict[str, Any]) -> str:
    """Returns a warning if a maximum lies far above its p99, because bounds contain the maximum.
    Empty if none does."""

    def is_far_above(value: dict[str, Any], statistic: str) -> bool:
        limit_us = max(FAR_ABOVE * value["p99"], LEAST_STALL_NS / 1e3)
        return bool(value[statistic] > limit_us)

    stated = [(name, value) for name, value in _quantities(overheads) if value and "p99" in value]
    far = [(name, value) for name, value in stated if is_far_above(value, "max")]
    if not far:
        return ""
    own = [each for each in far if is_far_above(each[1], _undisturbed(each[1]))]
    statistic = _undisturbed(own[0][1]) if own else "max"
    name, value = max(own or far, key=lambda each: float(each[1][statistic]))
    advice = (
        "stop other programs and calibrate again"
        if own
        else "the host of the virtual machine stalled, so analyze with --overhead-percentile "
        "max_undisturbed, or calibrate again on a quiet host"
    )
    return (
        f"the maximum of '{name}', {value[statistic]:g} µs, is far above its p99, "
        f"{value['p99']:g} µs, and bounds with such a maximum prove little; {advice}"
    )


def _undisturbed(value: dict[str, Any]) -> str:
    return "max_undisturbed" if "max_undisturbed" in value else "max"


def _quantities(overheads: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yields the name of each quantity and its statistics. None: no message came."""
    for executor, stated in overheads["executors"].items():
        for name, value in stated.items():
            yield f"{executor} {_words(name)}", value
    for name in HOPS:
        yield f"hop {_words(name)}", overheads["hop_us"].get(name)
    yield "background, each ms", overheads["background_us"]


def _words(name: str) -> str:
    return name.removesuffix("_us").replace("_", " ")


def _line(name: str, value: dict[str, Any]) -> str:
    cells = ("-" if key not in value else f"{value[key]:g}" for key in COLUMNS)
    return WIDTHS.line(name, *cells)

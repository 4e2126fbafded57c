# SPDX-License-Identifier: Apache-2.0
"""Options of the commands that run or simulate an application."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rclrt_py.agents.connections import agent_argument, check_agents
from rclrt_py.agents.token import VARIABLE
from rclrt_py.arguments import count_argument
from rclrt_py.comparisons.measurement import Measurement
from rclrt_py.comparisons.verdict import ANY_CHAIN
from rclrt_py.errors import BadInput
from rclrt_py.options import bounds, priorities
from rclrt_py.processes.stop_signals import StopSignals
from rclrt_py.terminal.progress import Progress


def add_application_argument(parser: argparse.ArgumentParser) -> None:
    """Adds APP and --priorities."""
    parser.add_argument("app", metavar="APP", type=Path, help="the application, an app.yaml")
    priorities.add_arguments(parser)


def add_fail_on_miss_argument(parser: argparse.ArgumentParser, which: str = "") -> None:
    """Adds --fail-on-miss. `which` describes the misses that count."""
    parser.add_argument(
        "--fail-on-miss",
        metavar="CHAIN",
        nargs="?",
        const=ANY_CHAIN,
        help=f"exit with code 1 if CHAIN (without a name: any chain) missed a deadline{which}",
    )


def add_keep_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--keep",
        metavar="N",
        type=count_argument,
        help="keep all instances of callbacks up to N (default 1000000); a run with more keeps "
        "counts, histograms, and the worst and the latest instances",
    )


def add_agent_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds --agent and --token-file."""
    parser.add_argument(
        "--agent",
        metavar="HOST=WHERE",
        type=agent_argument,
        action="append",
        default=[],
        help="the executors of HOST run there: WHERE is ADDRESS:PORT of `rclrt agent --listen`, or "
        "a command such as 'ssh USER@MACHINE rclrt agent'; once for each other host",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help=f"the token of agents with an address (default: the environment's {VARIABLE})",
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `run` and `compare` share."""
    add_application_argument(parser)
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="directory for the results"
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail if real-time scheduling is not permitted"
    )
    add_keep_argument(parser)
    add_agent_arguments(parser)
    add_fail_on_miss_argument(
        parser,
        " that no stall of the machine explains; a comparison does not hold this against its "
        "baseline",
    )


def input_files(arguments: argparse.Namespace) -> list[Path | None]:
    """Returns the files that `run` and `compare` read."""
    return [
        arguments.app,
        arguments.priorities,
        arguments.overheads,
        arguments.token_file,
    ]


def measurement_of(
    arguments: argparse.Namespace,
    executors: Sequence[str],
    stop: StopSignals,
    progress: Progress,
) -> Measurement:
    """Returns the checked request of these options and those of options.bounds."""
    token = check_agents(arguments.agent, arguments.token_file)
    if arguments.agent and arguments.trailing:
        raise BadInput("ROS arguments do not reach the other hosts; expected none with --agent")
    return Measurement(
        arguments.app,
        arguments.strict,
        arguments.trailing,
        stop,
        progress,
        arguments.priorities,
        expected=bounds.expected_of(arguments, executors),
        keep=arguments.keep,
        agents=arguments.agent,
        token=token,
    )

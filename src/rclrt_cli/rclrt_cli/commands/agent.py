# SPDX-License-Identifier: Apache-2.0
"""`rclrt agent`: this host's part in runs that another host coordinates."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rclrt_py.agents import connections
from rclrt_py.agents.connections import hosts_environment
from rclrt_py.agents.listening import serve
from rclrt_py.agents.token import VARIABLE, new_token, read_token
from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.processes.runner import PACKAGE, find_program

HELP = "run this host's part of applications that another host runs"
DESCRIPTION = (
    "Runs the executors of this host for `rclrt run --agent` on another one: once on standard "
    "input and output (over ssh), or with --listen for each run until Ctrl-C. It runs what the "
    "app.yaml of that command states, and nothing else."
)
PROGRAM = "rclrt_agent"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        help="wait for runs on this address of this host, instead of standard input and output",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help=f"the secret that both hosts know (default: {VARIABLE}, else a new one that is "
        "printed)",
    )


def run(arguments: argparse.Namespace) -> int:
    program = str(find_program(os.environ, PACKAGE, PROGRAM))
    environment = hosts_environment(os.environ)
    if arguments.listen is None:
        if sys.stdin.isatty():
            raise BadInput(
                "standard input is a terminal; expected `rclrt run --agent HOST='ssh MACHINE rclrt "
                "agent'` on the other host, or --listen ADDRESS:PORT here"
            )
        os.execve(program, [program], environment)
    try:
        address = connections.parse_address(arguments.listen)
    except BadInput as error:
        raise BadInput(f"--listen {error}") from error
    if address is None:
        raise BadInput(f"--listen {arguments.listen}: expected ADDRESS:PORT, such as 10.0.0.2:7400")
    token = read_token(arguments.token_file, os.environ)
    if token is None:
        token = new_token()
        print(f"rclrt agent: on the other host: {VARIABLE}={token} rclrt run ...", flush=True)
    serve(address, token, [program], environment)
    return EXIT_OK

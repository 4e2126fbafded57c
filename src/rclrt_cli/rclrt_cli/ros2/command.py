# SPDX-License-Identifier: Apache-2.0
"""`ros2 rt VERB`: the same as `rclrt VERB`."""

from __future__ import annotations

import argparse

from rclrt_cli.main import VERBS, fill_parser, run_verb
from rclrt_cli.verbs import load_all_verbs


class RtCommand:
    """Predictable timing for ROS 2 applications: run, compare, report, analyze."""

    NAME = "rt"

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        self._parser = parser  # of `ros2 rt`; main() gets that of `ros2`
        fill_parser(parser, VERBS | load_all_verbs(VERBS))

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        return run_verb(self._parser, args)

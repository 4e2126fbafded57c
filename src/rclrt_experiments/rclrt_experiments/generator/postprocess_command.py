# SPDX-License-Identifier: Apache-2.0
"""`rclrt postprocess`: makes a row of measured times for each chain, from logs or results. The rows
can be appended to those of other applications."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path

from rclrt_py.errors import EXIT_OK, BadInput
from rclrt_py.files.atomic import check_output, write_output
from rclrt_py.files.json_reader import JsonValue

from rclrt_experiments.generator.chain_rows import COLUMNS, row_of, times_of

HELP = "a row of response times for each chain, from the logs of generated programs or from results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source",
        metavar="SOURCE",
        type=Path,
        help="a log (syslog, or the file named by CHAIN_LOG), or a directory with results.json",
    )
    parser.add_argument(
        "--chains",
        metavar="FILE",
        type=Path,
        required=True,
        help="the file chains.json of the application, which rclrt generate wrote",
    )
    parser.add_argument(
        "--no-header", action="store_true", help="write only the rows, to append them to a file"
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=Path,
        help="write the rows to this file; default: print them",
    )


def run(arguments: argparse.Namespace) -> int:
    if arguments.out is not None:
        check_output("-o", arguments.out, [arguments.source, arguments.chains])
    rows = list(JsonValue.load(arguments.chains).items())
    if not rows:
        raise BadInput(f"{arguments.chains}: has no chain")
    times = times_of(arguments.source, rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not arguments.no_header:
        writer.writerow(COLUMNS)
    for row, found in zip(rows, times, strict=True):
        writer.writerow(row_of(row, found, len(rows)))
        if found is None:
            print(
                f"rclrt: chain {row.get('ID').count()} has no events in {arguments.source}",
                file=sys.stderr,
            )
    if arguments.out is not None:
        write_output(arguments.out, text.getvalue())
    else:
        print(text.getvalue(), end="")
    return EXIT_OK

#!/usr/bin/env -S python3 -P
# SPDX-License-Identifier: Apache-2.0
# PYTHON_ARGCOMPLETE_OK
"""The installed `rclrt`. -P: a file beside it or in this directory is no module of ours."""

import sys

try:
    from rclrt_cli.main import main
except ModuleNotFoundError as error:
    if error.name != "rclrt_cli":
        raise
    print(
        f"rclrt: the Python package rclrt_cli was not found by {sys.executable}\n"
        "  fix: source the setup.bash of the workspace that rclrt is installed in",
        file=sys.stderr,
    )
    sys.exit(2)

sys.exit(main(sys.argv[1:]))

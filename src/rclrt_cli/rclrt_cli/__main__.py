# SPDX-License-Identifier: Apache-2.0
"""`python3 -m rclrt_cli`."""

import sys

from rclrt_cli.main import main

sys.exit(main(sys.argv[1:]))

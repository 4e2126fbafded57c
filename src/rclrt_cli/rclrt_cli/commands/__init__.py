# SPDX-License-Identifier: Apache-2.0
"""The commands of rclrt. Each is a module with HELP, add_arguments(parser), and run(arguments),
which returns the exit code."""

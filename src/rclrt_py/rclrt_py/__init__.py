# SPDX-License-Identifier: Apache-2.0
"""The library of the `rclrt` command and of packages with verbs: files, runs, processes, output."""

__version__ = "0.2.0"

# SPDX-License-Identifier: Apache-2.0
"""What the `rclrt` command and the packages with verbs share: files, runs, processes, output."""

__version__ = "0.2.0"

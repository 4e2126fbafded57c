# SPDX-License-Identifier: Apache-2.0
"""The answers of rclrt_analysis as documents (`--json`): verdicts, priorities, assignments."""

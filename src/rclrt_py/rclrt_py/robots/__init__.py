# SPDX-License-Identifier: Apache-2.0
"""The first robot.yaml: from a running robot, or from the configuration of another tool."""

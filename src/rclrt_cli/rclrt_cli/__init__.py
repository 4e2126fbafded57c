# SPDX-License-Identifier: Apache-2.0
"""The `rclrt` command: run, compare and report ROS 2 applications under real-time executors."""

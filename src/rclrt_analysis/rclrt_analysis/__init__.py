# SPDX-License-Identifier: Apache-2.0
"""From a model to an answer: schedulability, response times, priorities. Pure functions."""

from rclrt_analysis._native import liu_layland_bound

__all__ = ["liu_layland_bound"]

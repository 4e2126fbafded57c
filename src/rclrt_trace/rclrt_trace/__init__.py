# SPDX-License-Identifier: Apache-2.0
"""Traces of ROS 2: recorded with LTTng, read as models and as results."""

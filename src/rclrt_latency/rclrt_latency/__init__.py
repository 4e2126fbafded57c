# SPDX-License-Identifier: Apache-2.0
"""`rclrt latency`: the wake-up latency of a machine, and how long the slices of a trace took."""

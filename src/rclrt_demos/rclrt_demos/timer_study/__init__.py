# SPDX-License-Identifier: Apache-2.0
"""`rclrt study timers`: inherited real-time policies and the latency of timers."""

# SPDX-License-Identifier: Apache-2.0
"""`rclrt calibrate`: what dispatching, timers and messages cost on this machine."""

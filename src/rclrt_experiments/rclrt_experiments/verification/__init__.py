# SPDX-License-Identifier: Apache-2.0
"""`rclrt verify`: compares bounds with simulations and runs of generated applications."""

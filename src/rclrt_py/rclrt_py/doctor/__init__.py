# SPDX-License-Identifier: Apache-2.0
"""The checks of `rclrt doctor`. Each reads files below a root directory and makes one finding."""

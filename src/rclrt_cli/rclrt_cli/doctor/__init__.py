# SPDX-License-Identifier: Apache-2.0
"""The checks of `rclrt doctor`, each from the files of a root directory to one finding."""

# SPDX-License-Identifier: Apache-2.0
"""Starting, watching and ending programs."""

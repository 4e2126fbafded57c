# SPDX-License-Identifier: Apache-2.0
"""What a run leaves: its files, their rows, and what they say."""

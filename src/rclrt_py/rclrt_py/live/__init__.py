# SPDX-License-Identifier: Apache-2.0
"""The statuses of running robots."""

# SPDX-License-Identifier: Apache-2.0
"""The error of this host's clock, as chrony, ptp4l and the kernel state it."""

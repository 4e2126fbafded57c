# SPDX-License-Identifier: Apache-2.0
"""What running robots report."""

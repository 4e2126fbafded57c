# SPDX-License-Identifier: Apache-2.0
"""Output on the terminal: tables and progress."""

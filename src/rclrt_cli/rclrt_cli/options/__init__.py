# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have, a group of them in each module."""

# SPDX-License-Identifier: Apache-2.0
"""What tests of several packages share. Programs do not import it."""

# SPDX-License-Identifier: Apache-2.0
"""The commands, a module each: HELP, add_arguments(parser) and run(arguments), the exit code."""

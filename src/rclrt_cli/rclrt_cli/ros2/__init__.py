# SPDX-License-Identifier: Apache-2.0
"""Extensions of ros2cli and ros2doctor, named in setup.cfg.

Both call extensions by the names of their methods. Deriving from their base classes would add
nothing, so these modules can be imported where ros2cli is not installed.
"""

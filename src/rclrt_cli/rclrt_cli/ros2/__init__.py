# SPDX-License-Identifier: Apache-2.0
"""Extensions of ros2cli and ros2doctor, which setup.cfg names as entry points. ros2cli and
ros2doctor call extensions by the names of their methods. Their base classes would add nothing, so
the extensions do not derive from them and can be imported without ros2cli."""

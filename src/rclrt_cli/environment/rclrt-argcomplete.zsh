# SPDX-License-Identifier: Apache-2.0
# Completes `rclrt` in zsh where argcomplete is installed.

if (( ! ${+_comps} )); then
  autoload -U +X compinit && compinit -i
fi
# argcomplete before 3.0 registers the way bash does.
autoload -U +X bashcompinit && bashcompinit
source "${${(%):-%x}:A:h}/rclrt-argcomplete.bash"

# SPDX-License-Identifier: Apache-2.0
# Completes `rclrt` where argcomplete is installed. For bash; the zsh hook sources it, too.

for _rclrt_register in register-python-argcomplete register-python-argcomplete3; do
  if command -v "$_rclrt_register" >/dev/null 2>&1; then
    eval "$("$_rclrt_register" rclrt)"
    break
  fi
done
unset _rclrt_register

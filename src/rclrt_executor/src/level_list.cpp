// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/detail/level_list.hpp"

#include <utility>

namespace rclrt::executor::detail {

Instance* LevelList::remove_one(const Callback& callback) noexcept RCLRT_NONBLOCKING {
  for (Instance** first = &first_; *first != nullptr; first = &(*first)->below) {
    Instance* before = nullptr;
    for (Instance* each = *first; each != nullptr; before = std::exchange(each, each->next)) {
      if (each->callback == &callback) {
        unlink(first, before, each);
        return each;
      }
    }
  }
  return nullptr;
}

void LevelList::remove_all(const Callback& callback, Instance*& taken) noexcept RCLRT_NONBLOCKING {
  for (Instance** first = &first_; *first != nullptr;) {
    Instance* const below = (*first)->below;
    Instance* before = nullptr;
    for (Instance* each = *first; each != nullptr;) {
      Instance* const next = each->next;
      if (each->callback == &callback) {
        unlink(first, before, each);
        each->next = std::exchange(taken, each);
      } else {
        before = each;
      }
      each = next;
    }
    if (*first != below) {
      first = &(*first)->below;
    }
  }
}

}  // namespace rclrt::executor::detail

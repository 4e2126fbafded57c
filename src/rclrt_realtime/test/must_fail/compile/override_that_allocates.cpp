// SPDX-License-Identifier: Apache-2.0
// An override keeps the label of the function that it overrides.
// REASON: function with 'nonblocking' attribute must not allocate or deallocate memory
#include "rclrt/realtime/safety.hpp"

struct Sink {
  virtual void submit() noexcept RCLRT_NONBLOCKING = 0;
};
#ifdef WRONG
struct Wrong : Sink {
  void submit() noexcept override { delete new int; }
};
#else
struct Right : Sink {
  void submit() noexcept override {}
};
#endif

void cycle() noexcept RCLRT_NONBLOCKING {
#ifdef WRONG
  Wrong implementation;
  implementation.submit();
#else
  Right implementation;
  implementation.submit();
#endif
}

// SPDX-License-Identifier: Apache-2.0
// Find out whether and where a cycle allocates, waits for plain locks, sleeps or has page faults.
#include "rclrt/realtime/rt_guard.hpp"

#include <cstdio>
#include <vector>

namespace rt = rclrt::realtime;

namespace {
/// A controller that remembers its inputs. The mistake: no room is reserved for them.
class Controller {
 public:
  void prepare(std::size_t cycles) { inputs_.reserve(cycles); }
  void cycle(double input) { inputs_.push_back(input); }

 private:
  std::vector<double> inputs_;
};

rt::RtReport ten_cycles(Controller& controller) {
  rt::RtGuard guard({.action = rt::RtGuardAction::kCount, .page_faults = false});
  for (int i = 0; i < 10; ++i) {
    controller.cycle(i);
    const rt::RtGuard::Allow allow("progress on the terminal, in this example only");
    std::printf(".");
  }
  std::printf("\n");
  return guard.report();
}
}  // namespace

int main() {
  if (const char* reason = rt::RtGuard::blind()) {
    std::printf("%s\n", reason);
    return 0;
  }
  Controller unprepared;
  const rt::RtReport wrong = ten_cycles(unprepared);
  std::printf("without prepare(): %s\n", wrong.text().c_str());

  Controller prepared;
  prepared.prepare(10);
  const rt::RtReport right = ten_cycles(prepared);
  std::printf("with prepare(): %s", right.text().c_str());
  return !wrong.clean() && right.clean() ? 0 : 1;
}

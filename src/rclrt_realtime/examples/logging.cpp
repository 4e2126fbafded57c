// SPDX-License-Identifier: Apache-2.0
// Logs from a loop without waiting for the disk: another thread formats and writes.
#include <chrono>
#include <cstdio>
#include <thread>

#include "rclrt/realtime/logging.hpp"

namespace rt = rclrt::realtime;
using namespace std::chrono_literals;

int main() {
  rt::StderrLog terminal;  // or FileLog, or a LogSink of yours
  rt::Logger logger({terminal});

  std::thread([&] {
    rt::ThreadLogger log(logger, "control");  // this thread's ring
    log.info("started with a period of {} and a gain of {:.2f}", 1ms, 0.75);
    // log.info("{} {}", 1);  // does not compile: two placeholders, one argument

    static constinit rt::LogRateLimit limit(1h);
    for (int cycle = 0; cycle < 1'000; ++cycle) {
      log.debug("cycle {}", cycle);                // below the logger's level
      log.warn(limit, "cycle {} is late", cycle);  // the first of each hour
    }
    log.info("done");
  }).join();

  logger.flush();
  const rt::LoggerStatistics statistics = logger.statistics();
  std::printf("%llu lines, %llu dropped\n", static_cast<unsigned long long>(statistics.lines),
              static_cast<unsigned long long>(statistics.dropped));
  return statistics.lines == 3 && statistics.dropped == 0 ? 0 : 1;
}

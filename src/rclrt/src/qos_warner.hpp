// SPDX-License-Identifier: Apache-2.0
// Finds out why endpoints were not matched, and reports it once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "rclrt/detail/qos_warning.hpp"
#include "rclrt/realtime/thread.hpp"

namespace rclrt::detail {

/// Writes the warnings of incompatible QoS. The middleware reports a mismatch on one of its own
/// threads, with its locks held, and before the other publisher or subscription is in the ROS
/// graph. So the report only starts a thread of normal priority. That thread looks for the other
/// one in the graph for a second, writes the warning and ends. A process without a mismatch has no
/// such thread.
class QosWarner {
 public:
  RCLRT_SETUP QosWarner() = default;
  /// All warnings must have ended before.
  ~QosWarner() = default;
  QosWarner(const QosWarner&) = delete;
  QosWarner& operator=(const QosWarner&) = delete;

  /// Searches for the endpoint that was not matched with this one. Called by the middleware.
  void start_search(const QosWarning& warning) noexcept;
  /// Ends the use of the warning before it returns.
  void remove(const QosWarning& warning) noexcept;

 private:
  struct Search {
    const QosWarning* warning;
    std::int64_t until_ns;
    bool found = false;  // an incompatible endpoint, reported or not
  };
  struct Recent {
    std::string text;
    std::int64_t at_ns;
  };

  void run();
  bool search(Search& search, bool is_last);
  void report(const QosWarning& warning, const std::string& key, const std::string& text);

  // Guards all members below. Invariant: while `searches_` is not empty, `running_` is true and the
  // thread will read `searches_` again. The middleware's report locks it while it holds locks of
  // its own. So code that holds this mutex must not call a function that takes one of those locks;
  // reading the graph's cache takes none.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Search> searches_;
  std::vector<std::string> reported_;  // endpoint and other endpoint, the latest kMaxReported
  std::vector<Recent> recent_;         // so that both ends of a pair are one warning
  std::vector<std::string> to_write_;
  bool running_ = false;
  realtime::Thread thread_;
};

}  // namespace rclrt::detail

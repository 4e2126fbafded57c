// SPDX-License-Identifier: Apache-2.0
#include "miss_explainer.hpp"

#include <rclrt/model/relative_deadline.hpp>

namespace rclrt::recorder {

namespace {

/// Returns the deadlines by which EDF orders instances; see EdfExecutor.
std::vector<std::int64_t> relative_deadlines(const model::Application& application) {
  std::vector<std::int64_t> result;
  for (const model::Callback& callback : application.callbacks) {
    constexpr model::Nanoseconds kNone{INT64_MAX / 2};
    result.push_back(model::relative_deadline(callback).value_or(kNone).count());
  }
  return result;
}

/// Returns for each callback the priority of its thread, compared over all executors: as observed,
/// or as the application states it. Under edf the priority of a thread does not show which callback
/// is more urgent, so the result is the callback's own priority.
std::vector<int> thread_priorities(const RunResults& results) {
  const model::Application& application = results.application;
  const model::ExecutorKind kind = results.executor.kind;
  std::vector<int> result = traits(kind).by_deadline ? thread_levels(application, kind)
                                                     : kernel_priorities(application, kind);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = results.kernel_priorities[i].value_or(result[i]);
  }
  return result;
}

}  // namespace

MissExplainer::MissExplainer(const RunResults& results, std::size_t cpus)
    : results_(results), priorities_(thread_priorities(results)), cpus_(cpus) {
  if (traits(results.executor).by_deadline) {
    deadlines_ = relative_deadlines(results.application);
    cpus_ = 1;
  }
}

std::vector<ChainMiss> MissExplainer::explain(std::span<const ChainResult> chains,
                                              std::span<const InstanceRecord> records) const {
  const bool one_at_a_time = traits(results_.executor).one_at_a_time;
  return explain_misses({.application = results_.application,
                         .chains = chains,
                         .records = records,
                         .priorities = priorities_,
                         .cpus = cpus_,
                         .threads = one_at_a_time ? results_.executor.max_threads() : 0,
                         .deadlines = deadlines_,
                         .hosts = &results_.hosts},
                        kMissesPerChain);
}

}  // namespace rclrt::recorder

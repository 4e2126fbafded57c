// SPDX-License-Identifier: Apache-2.0
#include "bounds/stamp_sequences.hpp"

#include <algorithm>

#include "demand.hpp"

namespace rclrt::analysis::detail {

std::size_t origin_of(const Workload& workload, const std::vector<std::size_t>& input) {
  const std::vector<std::size_t>* publishers = &input;
  while (publishers->size() == 1) {
    const std::size_t callback = publishers->front();
    if (workload.application.callbacks[callback].kind() != model::CallbackKind::kSubscription) {
      return callback;
    }
    publishers = &workload.graph.publishers[callback].front();
  }
  return kNoOrigin;
}

std::optional<StampSequence> sequence_of(const Workload& workload,
                                         const std::vector<std::size_t>& input) {
  const std::size_t from = origin_of(workload, input);
  if (from == kNoOrigin) {
    return std::nullopt;
  }
  const model::Callback& callback = workload.application.callbacks[from];
  if (callback.kind() == model::CallbackKind::kSync) {
    return sequence_of_sets(workload, from);
  }
  if (const auto offset = stated_offset(callback)) {
    return StampSequence{model::period(callback).count(), *offset};
  }
  return std::nullopt;
}

std::optional<StampSequence> sequence_of_sets(const Workload& workload, std::size_t sync) {
  std::optional<StampSequence> sets;
  Ticks first = kHorizon;
  for (const auto& input : workload.graph.publishers[sync]) {
    const auto each = sequence_of(workload, input);
    if (!each || (sets && sets->period != each->period)) {
      return std::nullopt;
    }
    first = std::min(first, each->offset);
    sets = {each->period, sets ? std::max(sets->offset, each->offset) : each->offset};
  }
  if (!sets) {
    return std::nullopt;
  }
  const auto& own = std::get<model::Sync>(workload.application.callbacks[sync].trigger);
  const Ticks apart = sets->offset - first;
  const bool in_step = apart <= own.window.count() && apart < sets->period - apart;
  return in_step ? sets : std::nullopt;
}

std::optional<InputsOfOnePeriod> inputs_of_one_period(const Workload& workload, std::size_t sync) {
  InputsOfOnePeriod result;
  Ticks first = kHorizon;
  Ticks last = 0;
  for (const auto& input : workload.graph.publishers[sync]) {
    const std::size_t from = origin_of(workload, input);
    const auto offset =
        from == kNoOrigin ? std::nullopt : stated_offset(workload.application.callbacks[from]);
    if (!offset) {
      return std::nullopt;
    }
    const Ticks period = model::period(workload.application.callbacks[from]).count();
    if (result.period != 0 && result.period != period) {
      return std::nullopt;
    }
    result.period = period;
    first = std::min(first, *offset);
    last = std::max(last, *offset);
  }
  result.spread = last - first;
  const auto& own = std::get<model::Sync>(workload.application.callbacks[sync].trigger);
  const bool fits = result.spread < result.period && result.spread <= own.window.count();
  return fits ? std::optional(result) : std::nullopt;
}

}  // namespace rclrt::analysis::detail

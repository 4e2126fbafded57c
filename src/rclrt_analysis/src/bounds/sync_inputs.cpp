// SPDX-License-Identifier: Apache-2.0
#include "bounds/sync_inputs.hpp"

#include <algorithm>
#include <numeric>

namespace rclrt::analysis::detail {

std::optional<Ticks> SyncInputs::max_interval(std::size_t callback) const {
  if (!keeps_apart(callback)) {
    return std::nullopt;
  }
  return model::max_interval(workload_.application.callbacks[callback]).count();
}

std::size_t SyncInputs::releases(const std::vector<std::size_t>& input) const {
  const std::size_t from = origin(input);
  if (from == kNoOrigin) {
    return kNoOrigin;
  }
  if (kind(from) == model::CallbackKind::kSync) {
    const auto& inputs = workload_.graph.publishers[from];
    const std::size_t first = releases(inputs.front());
    const bool alike = first != kNoOrigin && std::ranges::all_of(inputs, [&](const auto& each) {
                         return releases(each) == first;
                       });
    return alike ? first : from;
  }
  const auto same = [&](std::size_t other) {
    return other == from ||
           (states_offset(from) && states_offset(other) &&
            timer(other).offset == timer(from).offset && timer(other).period == timer(from).period);
  };
  return *std::ranges::find_if(workload_.timers, same);
}

std::size_t SyncInputs::source(const std::vector<std::size_t>& input) const {
  const std::size_t same = releases(input);
  return same != kNoOrigin && kind(same) != model::CallbackKind::kSync ? same : origin(input);
}

bool SyncInputs::states_first(std::size_t callback) const {
  const auto* const event =
      std::get_if<model::Event>(&workload_.application.callbacks[callback].trigger);
  return event != nullptr ? event->offset.has_value() : timer(callback).offset_stated;
}

Ticks SyncInputs::first_release(std::size_t here, std::size_t there) const {
  if (!states_first(there)) {
    return 0;
  }
  const auto* const event =
      std::get_if<model::Event>(&workload_.application.callbacks[there].trigger);
  const Ticks first =
      event != nullptr ? (*event->offset + event->jitter).count() : timer(there).offset.count();
  const Ticks own = states_offset(here) ? timer(here).offset.count() : 0;
  return std::max<Ticks>(0, first - own);
}

bool SyncInputs::stamps_increase(std::size_t callback) const {
  return std::ranges::all_of(workload_.graph.publishers[callback], [&](const auto& input) {
    const std::size_t from = origin(input);
    return from != kNoOrigin && stamps_increase(from);
  });
}

Ticks SyncInputs::allowed_lag(Ticks limit, std::size_t start, std::size_t there) const {
  if (there == kNoOrigin || !states_offset(start) || !states_offset(there)) {
    return limit;
  }
  const model::Timer& own = timer(start);
  const model::Timer& other = timer(there);
  const Ticks grid = std::gcd(own.period.count(), other.period.count());
  const Ticks phase = (other.offset - own.offset).count();
  return limit - ((((limit - phase) % grid) + grid) % grid);
}

}  // namespace rclrt::analysis::detail

// SPDX-License-Identifier: Apache-2.0
#include "chain_releases.hpp"

#include <variant>

namespace rclrt::recorder {

ChainReleases::ChainReleases(const model::Application& application, std::size_t chain,
                             std::int64_t start_ns, bool found)
    : start_ns_(start_ns) {
  const model::Callback& first = application.callbacks[application.chains[chain].callbacks.front()];
  if (const auto* event = std::get_if<model::Event>(&first.trigger)) {
    event_.emplace(*event, first.id);
    since_start_ns_ = event_->next().count();
    return;
  }
  const auto& timer = std::get<model::Timer>(first.trigger);
  observed_ = found || timer.overrun == model::OverrunPolicy::kRebase;
  period_ns_ = timer.period.count();
  since_start_ns_ = timer.offset.count();
}

std::optional<ChainRelease> ChainReleases::next_before(std::int64_t end_ns) {
  if (observed_ || since_start_ns_ >= end_ns - start_ns_) {
    return std::nullopt;
  }
  const ChainRelease result{.instance = instance_++, .release_ns = start_ns_ + since_start_ns_};
  since_start_ns_ = event_ ? event_->next().count() : since_start_ns_ + period_ns_;
  return result;
}

}  // namespace rclrt::recorder

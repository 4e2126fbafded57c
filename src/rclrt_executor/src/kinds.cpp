// SPDX-License-Identifier: Apache-2.0
#include "rclrt/executor/kinds.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "kinds/kind.hpp"

namespace rclrt::executor {

namespace {

// In the order of rclrt_model's registry; a test compares them.
constexpr std::array kKinds = {
    &kinds::kWaitSet,     &kinds::kProducerConsumer, &kinds::kThreadDispatch, &kinds::kPreemptive,
    &kinds::kEdf,         &kinds::kEvents,           &kinds::kPicas,          &kinds::kPerGroup,
    &kinds::kStaticOrder, &kinds::kWorkshop};

}  // namespace

std::span<const std::string_view> executor_names() noexcept {
  static const auto kNames = [] {
    std::array<std::string_view, kKinds.size()> names;
    std::ranges::transform(kKinds, names.begin(), &Kind::name);
    return names;
  }();
  return kNames;
}

std::unique_ptr<Executor> make_executor(std::string_view kind, ExecutorOptions options,
                                        const KindOptions& kind_options,
                                        const MakeReadinessSource& make_source) {
  const auto* const found = std::ranges::find(kKinds, kind, &Kind::name);
  if (found == kKinds.end()) {
    std::string known;
    for (const std::string_view name : executor_names()) {
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    throw std::invalid_argument("unknown executor \"" + std::string(kind) + "\": choose from " +
                                known);
  }
  return (*found)->make({std::move(options), kind_options, make_source});
}

}  // namespace rclrt::executor

// SPDX-License-Identifier: Apache-2.0
#include "quality.hpp"

#include <algorithm>
#include <optional>
#include <rclrt/model/no_deadline.hpp>
#include <tuple>

#include "rclrt/analysis/cause_effect.hpp"

namespace rclrt::analysis {
namespace {

using model::Application;

/// Returns bound / limit; 0 without either.
double share_of(const std::optional<Ticks>& bound, const std::optional<model::Nanoseconds>& limit) {
  return bound && limit ? static_cast<double>(*bound) / static_cast<double>(limit->count()) : 0.0;
}

}  // namespace

Quality detail::quality_of(const Application& application, const model::ExecutorChoice& executor,
                           const Overheads& overheads, const std::vector<ChainBound>& bounds) {
  Quality result;
  std::size_t bounded = 0;
  const auto add = [&](Verdict verdict, const std::optional<Ticks>& bound, double share) {
    result.not_proved += holds(verdict) ? 0U : 1U;
    result.conditional += verdict == Verdict::kConditional ? 1U : 0U;
    if (!bound) {
      ++result.not_bounded;
      return;
    }
    ++bounded;
    result.worst = std::max(result.worst, share);
    result.mean += share;
    result.mean_bound_ns += static_cast<double>(*bound);
  };
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (model::has_deadline(application, i)) {
      add(bounds[i].verdict, bounds[i].bound,
          share_of(bounds[i].bound, application.chains[i].deadline));
    }
  }
  const auto sampled = cause_effect_bounds(application, executor, overheads, bounds);
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const model::CauseEffectChain& chain = application.cause_effect_chains[i];
    add(sampled[i].verdict, sampled[i].reaction,
        std::max(share_of(sampled[i].reaction, chain.max_reaction),
                 share_of(sampled[i].age, chain.max_age)));
  }
  if (bounded > 0) {
    result.mean /= static_cast<double>(bounded);
    result.mean_bound_ns /= static_cast<double>(bounded);
  }
  return result;
}

Quality quality(const Application& application, const model::ExecutorChoice& executor,
                const Overheads& overheads, Effort effort) {
  return detail::quality_of(application, executor, overheads,
                            chain_bounds(application, executor, overheads, effort));
}

bool better(const Quality& a, const Quality& b, Objective objective) {
  if (objective != Objective::kMinResponse) {
    return a < b;
  }
  return std::tie(a.not_proved, a.not_bounded, a.conditional, a.mean_bound_ns, a.worst) <
         std::tie(b.not_proved, b.not_bounded, b.conditional, b.mean_bound_ns, b.worst);
}

}  // namespace rclrt::analysis

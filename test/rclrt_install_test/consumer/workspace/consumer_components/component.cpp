// SPDX-License-Identifier: Apache-2.0
#include "component.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <rclrt/rclrt.hpp>

namespace {

struct Engine {
  std::shared_ptr<rclrt::Context> context = rclrt::Context::make();
  std::deque<rclrt::Node> nodes;
  rclrt::PreemptiveExecutor executor{context, {.workers_per_level = 1}};
};

void* make_engine() { return new Engine; }

void destroy_engine(void* engine) { delete static_cast<Engine*>(engine); }

const void* current_instance() { return rclrt::current_instance(); }

void add_node(void* made, const Component* other, Findings* findings) {
  Engine& engine = *static_cast<Engine*>(made);
  rclrt::Node& node = engine.nodes.emplace_back(engine.context, "component");
  node.create_wall_timer(std::chrono::milliseconds(1), [&engine, other, findings] {
    const void* const seen = current_instance();
    findings->seen_by_both += seen != nullptr && seen == other->current_instance() ? 1 : 0;
    if (++findings->runs == 5) {
      engine.context->shutdown();
    }
  });
  engine.executor.add_node(node);
}

void spin(void* engine) { static_cast<Engine*>(engine)->executor.spin(); }

constexpr Component kComponent{make_engine, destroy_engine, add_node, spin, current_instance};

}  // namespace

extern "C" const Component* component() { return &kComponent; }

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/parameters.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <utility>

#include "parameter_check.hpp"
#include "parameter_messages.hpp"
#include "parameter_overrides.hpp"
#include "rclrt/detail/time_message.hpp"
#include "rclrt/node.hpp"
#include "rclrt/realtime/clock.hpp"

namespace rclrt {

namespace {

using rcl_interfaces::msg::ParameterDescriptor;
using rcl_interfaces::msg::ParameterEvent;

SetParametersResult refused(std::string reason) {
  SetParametersResult result;
  result.successful = false;
  result.reason = std::move(reason);
  return result;
}

SetParametersResult accepted() {
  SetParametersResult result;
  result.successful = true;
  return result;
}

template <typename T>
std::int64_t bits_of(const T& value) {
  if constexpr (detail::kIsScalarParameter<T>) {
    return detail::to_bits(value);
  } else {
    return 0;
  }
}

void assign(detail::ParameterEntry& entry, const ParameterValue& value) {
  const std::scoped_lock lock(entry.mutex);
  entry.value = value;
  entry.bits.store(std::visit([](const auto& held) { return bits_of(held); }, value));
}

ParameterValue value_of(const detail::ParameterEntry& entry) {
  const std::scoped_lock lock(entry.mutex);
  return entry.value;
}

}  // namespace

/// Holds `setting_`.
class Parameters::Setting {
 public:
  explicit Setting(Parameters& parameters) : parameters_(parameters) {
    if (parameters.setter_.load() == std::this_thread::get_id()) {
      throw std::logic_error("node \"" + parameters.node_name_ +
                             "\": a parameter callback may read parameters, but not change them "
                             "or the callbacks; do that after it has returned");
    }
    parameters.setting_.lock();
    parameters.setter_.store(std::this_thread::get_id());
  }
  ~Setting() {
    parameters_.setter_.store(std::thread::id());
    parameters_.setting_.unlock();
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  Parameters& parameters_;
};

Parameters::Parameters(std::shared_ptr<NodeHandle> node)
    : node_(std::move(node)),
      node_name_(rcl_node_get_fully_qualified_name(&node_->node)),
      overrides_(detail::parameter_overrides(node_->context->rcl()->global_arguments, node_name_)) {
}

Parameters::~Parameters() = default;

bool Parameters::has(const std::string& name) const { return find(name) != nullptr; }

ParameterValue Parameters::get(const std::string& name) const {
  const Entry entry = find(name);
  return entry ? value_of(*entry) : ParameterValue{};
}

ParameterDescriptor Parameters::describe(const std::string& name) const {
  if (const Entry entry = find(name)) {
    return entry->descriptor;
  }
  ParameterDescriptor unknown;
  unknown.name = name;
  return unknown;
}

rcl_interfaces::msg::ListParametersResult Parameters::list(const std::vector<std::string>& prefixes,
                                                           std::uint64_t depth) const {
  const auto is_wanted = [&](const std::string& name) {
    const auto is_below = [&](const std::string& prefix) {
      if (name == prefix) {
        return true;
      }
      const std::size_t skipped = prefix.empty() ? 0 : prefix.size() + 1;
      if (skipped != 0 && !name.starts_with(prefix + ".")) {
        return false;
      }
      const auto dots = std::count(
          name.begin() + static_cast<std::string::difference_type>(skipped), name.end(), '.');
      return depth == 0 || static_cast<std::uint64_t>(dots) < depth;
    };
    return prefixes.empty() ? is_below("")
                            : std::any_of(prefixes.begin(), prefixes.end(), is_below);
  };
  rcl_interfaces::msg::ListParametersResult result;
  std::set<std::string> found_prefixes;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, entry] : entries_) {
    if (is_wanted(name)) {
      result.names.push_back(name);
      if (const auto dot = name.rfind('.'); dot != std::string::npos) {
        found_prefixes.insert(name.substr(0, dot));
      }
    }
  }
  result.prefixes.assign(found_prefixes.begin(), found_prefixes.end());
  return result;
}

SetParametersResult Parameters::set(const std::string& name, ParameterValue value) {
  return set_atomically({{name, std::move(value)}});
}

SetParametersResult Parameters::set_atomically(std::vector<ParameterChange> changes) {
  const Setting setting(*this);
  std::vector<Entry> entries;
  for (ParameterChange& change : changes) {
    entries.push_back(find(change.name));
    if (!entries.back()) {
      return refused("parameter \"" + change.name + "\" is not declared");
    }
    if (entries.back()->descriptor.read_only) {
      return refused("parameter \"" + change.name + "\" is read-only");
    }
    if (std::string reason = detail::why_refused(entries.back()->descriptor, change.value);
        !reason.empty()) {
      return refused(std::move(reason));
    }
  }
  if (SetParametersResult result = ask(changes); !result.successful) {
    return result;
  }
  ParameterEvent event;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    assign(*entries[i], changes[i].value);
    event.changed_parameters.push_back(detail::to_message(changes[i]));
  }
  publish(std::move(event));
  notify(changes);
  return accepted();
}

void Parameters::undeclare(const std::string& name) {
  const Setting setting(*this);
  const Entry entry = find(name);
  if (!entry || entry->descriptor.read_only) {
    throw std::invalid_argument(
        "node \"" + node_name_ + "\": parameter \"" + name +
        (entry ? "\" is read-only and cannot be undeclared" : "\" is not declared"));
  }
  {
    const std::scoped_lock lock(mutex_);
    entries_.erase(name);
  }
  ParameterEvent event;
  event.deleted_parameters.push_back(detail::to_message({name, value_of(*entry)}));
  publish(std::move(event));
}

std::shared_ptr<const detail::ParameterEntry> Parameters::declare(ParameterDescriptor descriptor,
                                                                  ParameterValue value) {
  const Setting setting(*this);
  const auto fail = [&](const std::string& reason) {
    throw std::invalid_argument("node \"" + node_name_ + "\": " + reason);
  };
  const std::string name = descriptor.name;
  if (const std::string reason = detail::why_not_described(descriptor); !reason.empty()) {
    fail(reason);
  }
  if (has(name)) {
    fail("parameter \"" + name + "\" is declared already");
  }
  const auto given = overrides_.find(name);
  if (given != overrides_.end()) {
    value = given->second;
  } else if (type_of(value) == ParameterType::kNotSet) {
    fail("parameter \"" + name + "\" has no default: give it by `--ros-args -p " + name +
         ":=VALUE` or in a parameter file");
  }
  const auto entry = std::make_shared<detail::ParameterEntry>();
  entry->descriptor = std::move(descriptor);
  if (const std::string reason = detail::why_refused(entry->descriptor, value); !reason.empty()) {
    fail(reason);
  }
  const std::vector<ParameterChange> changes = {{name, value}};
  if (const SetParametersResult result = ask(changes); !result.successful) {
    fail("parameter \"" + name + "\" = " + to_string(value) + ": " + result.reason);
  }
  assign(*entry, value);
  {
    const std::scoped_lock lock(mutex_);
    entries_.emplace(name, entry);
  }
  ParameterEvent event;
  event.new_parameters.push_back(detail::to_message(changes.front()));
  publish(std::move(event));
  notify(changes);
  return entry;
}

Parameters::CallbackHandle Parameters::add_on_set_parameters_callback(OnSet callback) {
  const Setting setting(*this);
  on_set_.emplace_back(CallbackHandle{++last_handle_}, std::move(callback));
  return on_set_.back().first;
}

Parameters::CallbackHandle Parameters::add_post_set_parameters_callback(OnChanged callback) {
  const Setting setting(*this);
  on_changed_.emplace_back(CallbackHandle{++last_handle_}, std::move(callback));
  return on_changed_.back().first;
}

bool Parameters::remove_callback(CallbackHandle handle) {
  const Setting setting(*this);
  const auto is_it = [&](const auto& each) { return each.first == handle; };
  return std::erase_if(on_set_, is_it) + std::erase_if(on_changed_, is_it) != 0;
}

std::vector<std::string> Parameters::undeclared_overrides() const {
  std::vector<std::string> result;
  for (const auto& [name, value] : overrides_) {
    if (!has(name)) {
      result.push_back(name);
    }
  }
  return result;
}

void Parameters::warn_of_ignored_overrides() {
  constexpr const char* kSimTime = "use_sim_time";
  if (setter_.load() == std::this_thread::get_id()) {
    return;  // a parameter callback adds its node: the next call warns
  }
  std::string ignored;
  const char* fix = "";
  const Setting setting(*this);
  for (const auto& [name, value] : overrides_) {
    const bool is_sim_time = name == kSimTime;
    const bool is_ignored = is_sim_time ? value != ParameterValue(false) : !has(name);
    if (is_ignored && std::ranges::find(warned_of_, name) == warned_of_.end()) {
      warned_of_.push_back(name);
      ignored += (ignored.empty() ? "" : ", ") + name + " = " + to_string(value);
      ignored += is_sim_time ? " (rclrt has no simulated time: timers and stamps follow the "
                               "machine's clock; unset it)"
                             : "";
      fix = is_sim_time ? fix : "; declare them by declare_parameter() before add_node()";
    }
  }
  if (!ignored.empty()) {
    std::fprintf(stderr,
                 "rclrt: warning: node \"%s\": parameters were given that have no effect: %s%s\n",
                 node_name_.c_str(), ignored.c_str(), fix);
  }
}

void Parameters::add_range(ParameterDescriptor& descriptor,
                           const ParameterRange<std::int64_t>& range) {
  rcl_interfaces::msg::IntegerRange message;
  message.from_value = range.from;
  message.to_value = range.to;
  if (range.step < 0) {
    throw std::invalid_argument("parameter \"" + descriptor.name +
                                "\": the step of its range must not be negative");
  }
  message.step = static_cast<std::uint64_t>(range.step);
  descriptor.integer_range.push_back(message);
}

void Parameters::add_range(ParameterDescriptor& descriptor, const ParameterRange<double>& range) {
  rcl_interfaces::msg::FloatingPointRange message;
  message.from_value = range.from;
  message.to_value = range.to;
  message.step = range.step;
  descriptor.floating_point_range.push_back(message);
}

void Parameters::publish_events() {
  const Setting setting(*this);
  // The QoS of `rmw_qos_profile_parameter_events`, but for its depth of 1000.
  events_ = std::make_unique<Publisher<ParameterEvent>>(node_, "/parameter_events", 100);
}

Parameters::Entry Parameters::find(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second;
}

SetParametersResult Parameters::ask(const std::vector<ParameterChange>& changes) {
  for (const auto& [handle, callback] : on_set_) {
    if (SetParametersResult result = callback(changes); !result.successful) {
      return result;
    }
  }
  return accepted();
}

void Parameters::notify(const std::vector<ParameterChange>& changes) {
  for (const auto& [handle, callback] : on_changed_) {
    callback(changes);
  }
}

void Parameters::publish(ParameterEvent event) {
  if (!events_) {
    return;
  }
  event.stamp = detail::time_message(realtime::read_clock_ns(CLOCK_REALTIME));
  event.node = node_name_;
  events_->publish(event);
}

}  // namespace rclrt

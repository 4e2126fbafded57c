// SPDX-License-Identifier: Apache-2.0
#include "parameter_services.hpp"

#include <rcl_interfaces/srv/describe_parameters.hpp>
#include <rcl_interfaces/srv/get_parameter_types.hpp>
#include <rcl_interfaces/srv/get_parameters.hpp>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <rcl_interfaces/srv/set_parameters.hpp>
#include <rcl_interfaces/srv/set_parameters_atomically.hpp>
#include <string>
#include <utility>

#include "parameter_messages.hpp"
#include "rclrt/node.hpp"
#include "rclrt/service.hpp"

namespace rclrt::detail {

namespace {

// A name that is not declared gets an empty place in the answer, so that the others keep theirs.

void answer(const Parameters& parameters,
            const rcl_interfaces::srv::GetParameters::Request& request,
            rcl_interfaces::srv::GetParameters::Response& response) {
  for (const std::string& name : request.names) {
    response.values.push_back(to_message(parameters.get(name)));
  }
}

void answer(const Parameters& parameters,
            const rcl_interfaces::srv::GetParameterTypes::Request& request,
            rcl_interfaces::srv::GetParameterTypes::Response& response) {
  for (const std::string& name : request.names) {
    response.types.push_back(parameters.describe(name).type);
  }
}

void answer(const Parameters& parameters,
            const rcl_interfaces::srv::DescribeParameters::Request& request,
            rcl_interfaces::srv::DescribeParameters::Response& response) {
  for (const std::string& name : request.names) {
    response.descriptors.push_back(parameters.describe(name));
  }
}

void answer(const Parameters& parameters,
            const rcl_interfaces::srv::ListParameters::Request& request,
            rcl_interfaces::srv::ListParameters::Response& response) {
  response.result = parameters.list(request.prefixes, request.depth);
}

void answer(Parameters& parameters, const rcl_interfaces::srv::SetParameters::Request& request,
            rcl_interfaces::srv::SetParameters::Response& response) {
  for (const auto& wanted : request.parameters) {
    response.results.push_back(parameters.set(wanted.name, from_message(wanted.value)));
  }
}

void answer(Parameters& parameters,
            const rcl_interfaces::srv::SetParametersAtomically::Request& request,
            rcl_interfaces::srv::SetParametersAtomically::Response& response) {
  std::vector<ParameterChange> changes;
  for (const auto& wanted : request.parameters) {
    changes.push_back({wanted.name, from_message(wanted.value)});
  }
  response.result = parameters.set_atomically(std::move(changes));
}

template <typename S>
std::shared_ptr<executor::Callback> make(const std::shared_ptr<NodeHandle>& node,
                                         const std::string& name,
                                         const std::shared_ptr<Parameters>& parameters,
                                         const CallbackOptions& options) {
  constexpr std::size_t kDepth = 100;  // a tool may ask for many at once
  const auto function = [parameters](const S::Request& request, S::Response& response) {
    answer(*parameters, request, response);
  };
  return std::make_shared<ServiceOf<S, std::decay_t<decltype(function)>>>(node, "~/" + name, kDepth,
                                                                          options, function);
}

}  // namespace

std::vector<std::shared_ptr<executor::Callback>> make_parameter_services(
    const std::shared_ptr<NodeHandle>& node, const std::shared_ptr<Parameters>& parameters,
    int priority) {
  using namespace rcl_interfaces::srv;  // NOLINT(google-build-using-namespace)
  const CallbackOptions options{.priority = priority, .group = std::make_shared<CallbackGroup>()};
  return {make<GetParameters>(node, "get_parameters", parameters, options),
          make<GetParameterTypes>(node, "get_parameter_types", parameters, options),
          make<SetParameters>(node, "set_parameters", parameters, options),
          make<SetParametersAtomically>(node, "set_parameters_atomically", parameters, options),
          make<DescribeParameters>(node, "describe_parameters", parameters, options),
          make<ListParameters>(node, "list_parameters", parameters, options)};
}

}  // namespace rclrt::detail

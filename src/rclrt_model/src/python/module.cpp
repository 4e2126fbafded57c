// SPDX-License-Identifier: Apache-2.0
/// The Python module: read-only views of the C++ structs. Times are whole nanoseconds (suffix _ns),
/// enumerations are the words of app.yaml. The types are in rclrt_model/_native.pyi.
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <vector>

#include "rclrt/model/executor_choice.hpp"
#include "rclrt/model/node_timing.hpp"
#include "rclrt/model/parse.hpp"
#include "rclrt/model/priorities.hpp"
#include "rclrt/model/services.hpp"
#include "rclrt/model/warnings.hpp"
#include "rclrt/model/write.hpp"
#include "record.hpp"
#include "spans.hpp"
#include "yaml.hpp"

namespace rclrt::model {
namespace {

void bind_parts(py::module_& module) {
  Record<Executor>(module, "Executor")
      .field("name", &Executor::name)
      .field("cpus", &Executor::cpus)
      .field("scheduler_cpus", &Executor::scheduler_cpus)
      .field("process", &Executor::process)
      .field("top_priority", &Executor::top_priority)
      .field("host", &Executor::host);
  Record<Node>(module, "Node")
      .field("name", &Node::name)
      .field("name_space", &Node::name_space)
      .field("executor", &Node::executor);
  Record<Timer>(module, "Timer")
      .field("period_ns", &Timer::period)
      .field("offset_ns", &Timer::offset)
      .field("overrun", &Timer::overrun);
  Record<Subscription>(module, "Subscription")
      .field("topics", &Subscription::topics)
      .field("depth", &Subscription::depth)
      .field("reliability", &Subscription::reliability)
      .field("intra_process", &Subscription::intra_process)
      .field("role", &Subscription::role)
      .field("service", &Subscription::service);
  Record<Sync>(module, "Sync")
      .field("topics", &Sync::topics)
      .field("policy", &Sync::policy)
      .field("window_ns", &Sync::window)
      .field("depth", &Sync::depth);
  Record<Event>(module, "Event")
      .field("min_interval_ns", &Event::min_interval)
      .field("max_interval_ns", &Event::max_interval)
      .field("offset_ns", &Event::offset)
      .field("depth", &Event::depth)
      .field("seed", &Event::seed)
      .field("period_ns", &Event::period)
      .field("jitter_ns", &Event::jitter);
}

void bind_callback(py::module_& module) {
  Record<Workload>(module, "Workload")
      .field("name", &Workload::name)
      .field("iterations", &Workload::iterations);
  Record<ObservedTimes>(module, "ObservedTimes")
      .field("n", &ObservedTimes::n)
      .field("p50_ns", &ObservedTimes::p50)
      .field("p99_ns", &ObservedTimes::p99)
      .field("max_ns", &ObservedTimes::max);
  Record<Callback>(module, "Callback")
      .field("id", &Callback::id)
      .field("node", &Callback::node)
      .field("trigger", &Callback::trigger)
      .field("wcet_ns", &Callback::wcet)
      .field("waits_ns", &Callback::waits)
      .field("workload", &Callback::workload)
      .field("observed", &Callback::observed)
      .field("publishes", &Callback::publishes)
      .field("stores", &Callback::stores)
      .field("reads", &Callback::reads)
      .field("samples", &Callback::samples)
      .field("routes", &Callback::routes)
      .field("overload", &Callback::overload)
      .field("deadline_ns", &Callback::deadline)
      .field("executor", &Callback::executor)
      .field("group", &Callback::group)
      .field("priority", &Callback::priority)
      .more()
      .def_property_readonly("kind", [](const Callback& self) { return trigger_name(self); })
      .def_property_readonly("inputs",
                             [](const Callback& self) { return py::tuple(py::cast(inputs(self))); })
      .def_property_readonly("calls",
                             [](const Callback& self) { return py::tuple(py::cast(calls(self))); });
}

void bind_chains(py::module_& module) {
  Record<Chain>(module, "Chain")
      .field("id", &Chain::id)
      .field("callbacks", &Chain::callbacks)
      .field("priority", &Chain::priority)
      .field("deadline_ns", &Chain::deadline)
      .field("let", &Chain::logical_execution);
  Record<Segment>(module, "Segment")
      .field("chain", &Segment::chain)
      .field("entry", &Segment::entry);
  Record<CauseEffectChain>(module, "CauseEffectChain")
      .field("id", &CauseEffectChain::id)
      .field("callbacks", &CauseEffectChain::callbacks)
      .field("segments", &CauseEffectChain::segments)
      .field("max_reaction_ns", &CauseEffectChain::max_reaction)
      .field("max_age_ns", &CauseEffectChain::max_age);
  Record<Topic>(module, "Topic")
      .field("name", &Topic::name)
      .field("size_bytes", &Topic::size_bytes)
      .field("network_priority", &Topic::network_priority);
  Record<ThreadRule>(module, "ThreadRule")
      .field("name", &ThreadRule::name)
      .value("policy", [](const ThreadRule& rule) { return to_python(rule.scheduling.policy); })
      .value("priority", [](const ThreadRule& rule) { return rule.scheduling.priority; })
      .value("cpus",
             [](const ThreadRule& rule) { return py::tuple(py::cast(rule.scheduling.cpus)); })
      .value("nice", [](const ThreadRule& rule) { return rule.scheduling.nice; })
      .value("runtime_ns",
             [](const ThreadRule& rule) { return to_python(rule.scheduling.reservation.runtime); })
      .value("deadline_ns",
             [](const ThreadRule& rule) { return to_python(rule.scheduling.reservation.deadline); })
      .value("period_ns",
             [](const ThreadRule& rule) { return to_python(rule.scheduling.reservation.period); });
}

void bind_application(py::module_& module) {
  Record<Application>(module, "Application")
      .field("name", &Application::name)
      .field("description", &Application::description)
      .field("executors", &Application::executors)
      .field("nodes", &Application::nodes)
      .field("callbacks", &Application::callbacks)
      .field("chains", &Application::chains)
      .field("cause_effect_chains", &Application::cause_effect_chains)
      .field("topics", &Application::topics)
      .field("threads", &Application::threads)
      .field("hosts", &Application::hosts)
      .field("links", &Application::links)
      .more()
      .def("effective_priority", &Application::effective_priority, py::arg("callback"))
      .def("executor_of", &Application::executor_of, py::arg("callback"))
      .def("host_of", &Application::host_of, py::arg("callback"))
      .def(
          "successors",
          [](const Application& self, std::size_t callback) {
            return py::tuple(py::cast(self.successors(callback)));
          },
          py::arg("callback"))
      .def(
          "entries",
          [](const Application& self, const Chain& chain) {
            return to_python(self.entries(chain));
          },
          py::arg("chain"))
      .def("rates", [](const Application& self) { return py::tuple(py::cast(self.rates())); })
      .def("utilisation", &Application::utilisation)
      .def(
          "period_ns",
          [](const Application& self, const Chain& chain) { return to_python(self.period(chain)); },
          py::arg("chain"))
      .def("hyperperiod_ns", [](const Application& self) { return to_python(self.hyperperiod()); });
}

void bind_node_timing(py::module_& module) {
  Record<CallbackPlace>(module, "CallbackPlace")
      .field("node", &CallbackPlace::node)
      .field("kind", &CallbackPlace::kind)
      .field("name", &CallbackPlace::name)
      .field("group", &CallbackPlace::group);
  Record<NodeTiming>(module, "NodeTiming")
      .field("node", &NodeTiming::node)
      .field("kind", &NodeTiming::kind)
      .field("name", &NodeTiming::name)
      .field("group", &NodeTiming::group)
      .field("period_ns", &NodeTiming::period)
      .field("whole_group", &NodeTiming::whole_group)
      .field("priority", &NodeTiming::priority)
      .field("deadline_ns", &NodeTiming::deadline)
      .field("max_age_ns", &NodeTiming::max_age)
      .field("stamped_by", &NodeTiming::stamped_by)
      .field("overload", &NodeTiming::overload)
      .field("line", &NodeTiming::line);
}

void bind_executor_kinds(py::module_& module) {
  Record<ExecutorOption>(module, "ExecutorOption")
      .field("text", &ExecutorOption::text)
      .field("help", &ExecutorOption::help)
      .field("no_bounds", &ExecutorOption::no_bounds)
      .field("several_threads", &ExecutorOption::several_threads)
      .field("belongs_to", &ExecutorOption::belongs_to)
      .field("in_place_of", &ExecutorOption::in_place_of)
      .field("is_default", &ExecutorOption::is_default)
      .field("lowest", &ExecutorOption::lowest)
      .field("highest", &ExecutorOption::highest);
  Record<ExecutorTraits>(module, "ExecutorTraits")
      .field("name", &ExecutorTraits::name)
      .field("label", &ExecutorTraits::label)
      .field("class_name", &ExecutorTraits::class_name)
      .field("summary", &ExecutorTraits::summary)
      .field("assumption", &ExecutorTraits::assumption)
      .field("threads", &ExecutorTraits::threads)
      .field("simulated_only", &ExecutorTraits::simulated_only)
      .field("on_rclcpp", &ExecutorTraits::on_rclcpp)
      .field("has_levels", &ExecutorTraits::has_levels)
      .field("has_scheduler_thread", &ExecutorTraits::has_scheduler_thread)
      .field("has_worker_count", &ExecutorTraits::has_worker_count)
      .field("polls", &ExecutorTraits::polls)
      .field("one_at_a_time", &ExecutorTraits::one_at_a_time)
      .field("by_deadline", &ExecutorTraits::by_deadline)
      .field("runs_sets", &ExecutorTraits::runs_sets)
      .field("orders_executors", &ExecutorTraits::orders_executors)
      .value("options", [](const ExecutorTraits& kind) {
        return py::tuple(
            py::cast(std::vector<ExecutorOption>(kind.options.begin(), kind.options.end())));
      });
  const auto kinds = executor_kinds();
  module.attr("EXECUTOR_KINDS") =
      py::tuple(py::cast(std::vector<ExecutorTraits>(kinds.begin(), kinds.end())));
  const auto canonical = [](const std::string& text) { return name_of(parse_executor(text)); };
  module.def("canonical_executor", canonical, py::arg("text"));
  module.attr("EXECUTOR_OPTIONS_HELP") = executor_options_help();
}

}  // namespace
}  // namespace rclrt::model

PYBIND11_MODULE(_native, module) {
  module.doc() = "The model of an rclrt application: reads and validates app.yaml.";
  py::register_exception<rclrt::model::ModelError>(module, "ModelError", PyExc_ValueError);
  rclrt::model::bind_parts(module);
  rclrt::model::bind_callback(module);
  rclrt::model::bind_chains(module);
  rclrt::model::bind_network(module);
  rclrt::model::bind_application(module);
  rclrt::model::bind_node_timing(module);
  rclrt::model::bind_executor_kinds(module);
  module.def("places_of", &rclrt::model::places_of, py::arg("application"),
             "Returns the place of each callback in the ROS graph of a robot on rclcpp; a sync has "
             "two.");
  module.def(
      "order_warnings",
      [](const rclrt::model::Application& application, const std::string& executor) {
        return rclrt::model::order_warnings(application,
                                            rclrt::model::parse_executor(executor).kind);
      },
      py::arg("application"), py::arg("executor"),
      "Returns at most one sentence about the order of callbacks under this executor that is "
      "rarely "
      "intended.");
  module.def("to_yaml", &rclrt::model::to_yaml, py::arg("application"),
             "Returns an app.yaml from which load() makes the same application.");
  module.def(
      "load",
      [](const std::filesystem::path& path,
         const std::optional<std::filesystem::path>& priorities) {
        const py::gil_scoped_release release;
        return rclrt::model::load_application(path, priorities.value_or(std::filesystem::path()));
      },
      py::arg("path"), py::arg("priorities") = py::none(),
      "Reads an app.yaml, with the callback priorities of a second file when one is given. Raises "
      "ModelError; its text has file, line and column of every problem.");
  module.def(
      "load_node_timings",
      [](const std::filesystem::path& path) {
        const py::gil_scoped_release release;
        return rclrt::model::load_node_timings(path);
      },
      py::arg("path"),
      "Reads a file with priorities, deadlines and overload policies by the names of the ROS "
      "graph. "
      "Raises ModelError as load() does.");
  rclrt::model::detail::bind_texts(module);
  module.def("read_yaml", &rclrt::model::detail::read_document, py::arg("path"),
             py::arg("kind") = "YAML file", py::arg("expected") = py::none(),
             "Reads any YAML file strictly: no anchors, aliases, tags or repeated keys. Returns "
             "mappings, lists, texts, numbers, true, false and None. Raises ModelError as load() "
             "does, which asks for a readable `kind`, and as refuse_other_kind() does for "
             "`expected`.");
  module.def("refuse_other_kind", &rclrt::model::detail::refuse_other_kind, py::arg("text"),
             py::arg("path"), py::arg("expected"),
             "Raises ModelError if the text of the file at `path` is of another kind than "
             "`expected`, such as "
             "'counter_example'. The message has both kinds and the command that takes the file.");
  module.def("described_kind", &rclrt::model::detail::described_kind, py::arg("path"),
             "Returns what the file is and which command takes it. None: that is not clear.");
}

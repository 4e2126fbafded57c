// SPDX-License-Identifier: Apache-2.0
// Declaring, overriding, checking and setting parameters. Their services have a test of their own.
#include "rclrt/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ros_fixture.hpp"
#include "stderr_file.hpp"

namespace rclrt::test {
namespace {

using Strings = std::vector<std::string>;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Returns the message of the exception that `f` throws.
template <typename F>
std::string refusal(F f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "nothing was thrown";
}

SetParametersResult result(bool successful, const std::string& reason = "") {
  SetParametersResult made;
  made.successful = successful;
  made.reason = reason;
  return made;
}

TEST(Parameters, EveryTypeKeepsItsDefaultAndTakesNewValues) {
  Node node(make_context(), "node");
  const auto flag = node.declare_parameter("flag", true);
  const auto count = node.declare_parameter("count", 3);
  const auto gain = node.declare_parameter("gain", 0.5);
  const auto frame = node.declare_parameter("frame", "map");
  const auto bytes = node.declare_parameter("bytes", std::vector<std::uint8_t>{1, 255});
  const auto flags = node.declare_parameter("flags", std::vector<bool>{true, false});
  const auto counts = node.declare_parameter("counts", std::vector<std::int64_t>{1, 2});
  const auto gains = node.declare_parameter("gains", std::vector<double>{0.1, 0.2});
  const auto frames = node.declare_parameter("frames", Strings{"a", "b"});
  EXPECT_TRUE(flag.get());
  EXPECT_EQ(count.get(), 3);
  EXPECT_EQ(gain.get(), 0.5);
  EXPECT_EQ(frame.get(), "map");
  EXPECT_EQ(bytes.get(), (std::vector<std::uint8_t>{1, 255}));
  EXPECT_EQ(flags.get(), (std::vector<bool>{true, false}));
  EXPECT_EQ(counts.get(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(gains.get(), (std::vector<double>{0.1, 0.2}));
  EXPECT_EQ(frames.get(), (Strings{"a", "b"}));

  EXPECT_TRUE(node.parameters()
                  .set_atomically({{"flag", false},
                                   {"count", std::int64_t{-4}},
                                   {"gain", 2.5},
                                   {"frame", std::string("odom")},
                                   {"frames", Strings{}}})
                  .successful);
  EXPECT_FALSE(flag.get());
  EXPECT_EQ(count.get(), -4);
  EXPECT_EQ(gain.get(), 2.5);
  EXPECT_EQ(frame.get(), "odom");
  EXPECT_EQ(frames.get(), Strings{});
  EXPECT_EQ(node.parameters().get("count"), ParameterValue(std::int64_t{-4}));
}

TEST(Parameters, AValueOfAnotherTypeIsRefusedButAnIntegerServesAsADouble) {
  Node node(make_context(), "node");
  const auto gain = node.declare_parameter("gain", 0.5);
  const auto count = node.declare_parameter("count", 1);
  EXPECT_TRUE(node.parameters().set("gain", std::int64_t{2}).successful);
  EXPECT_EQ(gain.get(), 2.0);
  EXPECT_EQ(node.parameters().set("gain", (std::int64_t{1} << 53) + 1).successful, false);
  EXPECT_EQ(node.parameters().set("count", 2.0),
            result(false, "parameter \"count\" must be of type integer, not double (2)"));
  EXPECT_EQ(node.parameters().set("count", ParameterValue{}).successful, false);
  EXPECT_EQ(count.get(), 1);
  EXPECT_EQ(node.parameters().set("nothing", true),
            result(false, "parameter \"nothing\" is not declared"));
}

TEST(Parameters, ARangeHoldsForTheDefaultAndForEveryChange) {
  Node node(make_context(), "node");
  const auto speed = node.declare_parameter("speed", 0.3, {.range = {{0.0, 1.0, 0.1}}});
  const auto count = node.declare_parameter("count", 4, {.range = {{-2, 9, 3}}});
  for (const double good : {0.0, 0.3, 0.7, 1.0}) {
    EXPECT_EQ(node.parameters().set("speed", good), result(true));
  }
  for (const double bad : {-0.1, 0.35, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(node.parameters().set("speed", bad).successful) << bad;
  }
  for (const std::int64_t good : {-2, 1, 7, 9}) {
    EXPECT_TRUE(node.parameters().set("count", good).successful) << good;
  }
  EXPECT_EQ(node.parameters().set("count", std::int64_t{5}),
            result(false, "parameter \"count\" must be from -2 to 9 in steps of 3, not 5"));
  EXPECT_EQ(count.get(), 9);
  EXPECT_EQ(refusal([&] { node.declare_parameter("fast", 2.0, {.range = {{0.0, 1.0}}}); }),
            "node \"/node\": parameter \"fast\" must be from 0 to 1, not 2");
  EXPECT_NE(refusal([&] {
              node.declare_parameter("odd", 2.0, {.range = {{1.0, 0.0}}});
            }).find("`from` must not be above `to`"),
            std::string::npos);
}

TEST(Parameters, AReadOnlyOneStaysAsItWasDeclared) {
  const auto context = make_context({"--ros-args", "-p", "frame:=odom"});
  Node node(context, "node");
  const auto frame = node.declare_parameter("frame", "map", {.read_only = true});
  EXPECT_EQ(node.parameters().set("frame", std::string("map")),
            result(false, "parameter \"frame\" is read-only"));
  EXPECT_THAT([&] { node.parameters().undeclare("frame"); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("parameter \"frame\" is read-only and cannot be undeclared")));
  EXPECT_EQ(frame.get(), "odom");
}

TEST(Parameters, WhatIsDeclaredTwiceOrHasNoNameIsRefused) {
  Node node(make_context(), "node");
  node.declare_parameter("gain", 1.0);
  EXPECT_EQ(refusal([&] { node.declare_parameter("gain", 1.0); }),
            "node \"/node\": parameter \"gain\" is declared already");
  EXPECT_THAT([&] { node.declare_parameter("", 1.0); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("a parameter needs a name")));
  node.parameters().undeclare("gain");
  EXPECT_FALSE(node.parameters().has("gain"));
  EXPECT_EQ(node.declare_parameter("gain", 2).get(), 2);
}

TEST(Parameters, TheCommandLineWinsOverDefaults) {
  const auto context = make_context({"--ros-args", "-p", "gain:=2", "-p", "camera:rate:=15", "-p",
                                     "lidar:rate:=20", "-p", "names:=[a, b]", "-p", "typo:=1"});
  Node node(context, "camera", "/front");
  Node plain(context, "camera");
  EXPECT_EQ(node.declare_parameter("gain", 1.0).get(), 2.0);
  EXPECT_EQ(node.declare_parameter("names", Strings{}).get(), (Strings{"a", "b"}));
  EXPECT_EQ(node.declare_parameter("rate", 5).get(), 5) << "/camera is another node";
  EXPECT_EQ(plain.declare_parameter("rate", 5).get(), 15);
  EXPECT_EQ(plain.parameters().undeclared_overrides(), (Strings{"gain", "names", "typo"}));
}

TEST(Parameters, OverridesWithoutEffectAreToldOnceForEachNode) {
  const auto context =
      make_context({"--ros-args", "-p", "gain:=2", "-p", "other:rate:=15", "-p", "gian:=3"});
  const StderrFile told;
  Node node(context, "node");
  Node other(context, "other");
  node.declare_parameter("gain", 1.0);
  EXPECT_EQ(told.text(), "") << "they may still be declared";
  PreemptiveExecutor executor(context);
  executor.add_node(node);
  executor.add_node(node);
  executor.add_node(other);
  EXPECT_EQ(told.count("rclrt: warning: "), 2U) << told.text();
  EXPECT_TRUE(
      told.contains("node \"/node\": parameters were given that have no effect: gian = 3;"));
  EXPECT_TRUE(
      told.contains("node \"/other\": parameters were given that have no effect: gain = 2, gian = "
                    "3, rate = 15;"));
}

TEST(Parameters, SimulatedTimeIsToldToBeIgnoredUnlessItIsOff) {
  const auto warning = [](const char* value, bool declared) {
    const std::string given = std::string("use_sim_time:=") + value;
    const auto context = make_context({"--ros-args", "-p", given.c_str()});
    const StderrFile told;
    Node node(context, "node");
    if (declared) {
      node.declare_parameter("use_sim_time", false);
    }
    PreemptiveExecutor executor(context);
    executor.add_node(node);
    return told.text();
  };
  EXPECT_NE(warning("true", false).find("use_sim_time = true (rclrt has no simulated time"),
            std::string::npos);
  EXPECT_NE(warning("true", true).find("use_sim_time = true"), std::string::npos);
  EXPECT_EQ(warning("false", false), "");
}

TEST(Parameters, OneWithoutADefaultMustBeGiven) {
  const auto context = make_context({"--ros-args", "-p", "serial:=abc"});
  Node node(context, "node");
  EXPECT_EQ(node.declare_parameter<std::string>("serial").get(), "abc");
  EXPECT_EQ(refusal([&] { node.declare_parameter<double>("rate"); }),
            "node \"/node\": parameter \"rate\" has no default: give it by `--ros-args -p "
            "rate:=VALUE` or in a parameter file");
}

TEST(Parameters, AnOverrideOfAnotherTypeSaysWhatWasExpected) {
  const auto context = make_context({"--ros-args", "-p", "rate:=fast"});
  Node node(context, "node");
  EXPECT_EQ(refusal([&] { node.declare_parameter("rate", 5); }),
            "node \"/node\": parameter \"rate\" must be of type integer, not string (\"fast\")");
}

TEST(Parameters, AFileSpeaksToTheNodesItsNamesMatch) {
  const std::string file =
      ::testing::TempDir() + "parameters_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(file) << "/**:\n  ros__parameters: {everywhere: 1}\n"
                         "/front/*:\n  ros__parameters: {in_front: 2}\n"
                         "/**/camera:\n  ros__parameters: {cameras: 3}\n"
                         "/front/camera:\n  ros__parameters: {sub: {one: 4, two: [0.5]}}\n"
                         "/rear/camera:\n  ros__parameters: {other: 5}\n";
  const auto context = make_context({"--ros-args", "--params-file", file.c_str()});
  Node node(context, "camera", "/front");
  EXPECT_EQ(node.parameters().undeclared_overrides(),
            (Strings{"cameras", "everywhere", "in_front", "sub.one", "sub.two"}));
  EXPECT_EQ(node.declare_parameter("sub.one", 0).get(), 4);
  EXPECT_EQ(node.declare_parameter("sub.two", std::vector<double>{}).get(),
            (std::vector<double>{0.5}));
  Node other(context, "lidar", "/front/left");
  EXPECT_EQ(other.parameters().undeclared_overrides(), Strings{"everywhere"});
  std::remove(file.c_str());
}

TEST(Parameters, AnOnSetCallbackMayRefuseAndAPostSetCallbackSeesWhatHappened) {
  Node node(make_context(), "node");
  auto& parameters = node.parameters();
  Strings seen;
  const auto handle =
      parameters.add_on_set_parameters_callback([](const std::vector<ParameterChange>& changes) {
        for (const auto& change : changes) {
          if (change.value == ParameterValue(13.0)) {
            return result(false, "unlucky");
          }
        }
        return result(true);
      });
  parameters.add_post_set_parameters_callback([&](const std::vector<ParameterChange>& changes) {
    for (const auto& change : changes) {
      seen.push_back(change.name + " = " + to_string(change.value));
    }
  });
  const auto a = node.declare_parameter("a", 1.0);
  const auto b = node.declare_parameter("b", 2.0);
  EXPECT_EQ(refusal([&] { node.declare_parameter("c", 13.0); }),
            "node \"/node\": parameter \"c\" = 13: unlucky");
  EXPECT_EQ(parameters.set_atomically({{"a", 10.0}, {"b", 13.0}}), result(false, "unlucky"));
  EXPECT_EQ(a.get(), 1.0) << "all or none";
  EXPECT_EQ(parameters.set("b", 20.0), result(true));
  EXPECT_EQ(seen, (Strings{"a = 1", "b = 2", "b = 20"}));
  EXPECT_TRUE(parameters.remove_callback(handle));
  EXPECT_FALSE(parameters.remove_callback(handle));
  EXPECT_TRUE(parameters.set("b", 13.0).successful);
  EXPECT_EQ(b.get(), 13.0);
}

TEST(Parameters, ACallbackMayReadButNotSet) {
  Node node(make_context(), "node");
  auto& parameters = node.parameters();
  const auto a = node.declare_parameter("a", 1.0);
  bool set_threw = false;
  parameters.add_on_set_parameters_callback([&](const std::vector<ParameterChange>&) {
    EXPECT_EQ(parameters.get("a"), ParameterValue(1.0));
    try {
      parameters.set("a", 3.0);
    } catch (const std::logic_error&) {
      set_threw = true;
    }
    return result(true);
  });
  EXPECT_TRUE(parameters.set("a", 2.0).successful);
  EXPECT_TRUE(set_threw);
  EXPECT_EQ(a.get(), 2.0);
}

TEST(Parameters, AReaderOnAnotherThreadSeesWholeValues) {
  Node node(make_context(), "node");
  const auto number = node.declare_parameter("number", -1.5);
  const auto text = node.declare_parameter("text", "first");
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done) {
      const double seen = number.get();
      EXPECT_TRUE(seen == -1.5 || seen == 1e300) << seen;
      const std::string word = text.get();
      EXPECT_TRUE(word == "first" || word == std::string(100, 'x')) << word;
    }
  });
  for (int i = 0; i < 2000; ++i) {
    node.parameters().set("number", i % 2 == 0 ? 1e300 : -1.5);
    node.parameters().set("text", i % 2 == 0 ? std::string(100, 'x') : std::string("first"));
  }
  done = true;
  reader.join();
}

TEST(Parameters, ListsByPrefixAndDepth) {
  Node node(make_context(), "node");
  for (const char* name : {"a", "b.c", "b.d.e", "bad"}) {
    node.declare_parameter(name, 1);
  }
  const auto names = [&](const Strings& prefixes, std::uint64_t depth) {
    return node.parameters().list(prefixes, depth).names;
  };
  EXPECT_EQ(names({}, 0), (Strings{"a", "b.c", "b.d.e", "bad"}));
  EXPECT_EQ(names({}, 1), (Strings{"a", "bad"}));
  EXPECT_EQ(names({}, 2), (Strings{"a", "b.c", "bad"}));
  EXPECT_EQ(names({"b"}, 0), (Strings{"b.c", "b.d.e"}));
  EXPECT_EQ(names({"b"}, 1), (Strings{"b.c"}));
  EXPECT_EQ(names({"b.d", "a"}, 0), (Strings{"a", "b.d.e"}));
  EXPECT_EQ(node.parameters().list().prefixes, (Strings{"b", "b.d"}));
}

TEST(Parameters, ANodeOffersTheServicesFromItsFirstParameterOnUnlessToldOtherwise) {
  const auto context = make_context();
  Node node(context, "node");
  EXPECT_EQ(node.callbacks().size(), 0U);
  node.declare_parameter("a", 1);
  node.declare_parameter("b", 1);
  ASSERT_EQ(node.callbacks().size(), 6U);
  for (const auto& callback : node.callbacks()) {
    EXPECT_EQ(callback->level(), INT_MIN);
  }
  Node quiet(context, "quiet", "/", {.parameter_services = false});
  quiet.declare_parameter("a", 1);
  EXPECT_EQ(quiet.callbacks().size(), 0U);
}

}  // namespace
}  // namespace rclrt::test

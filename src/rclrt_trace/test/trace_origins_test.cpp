// SPDX-License-Identifier: Apache-2.0
#include "trace_origins.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rclrt::trace {
namespace {

ctf::Metadata metadata(const std::string& host, const std::string& clock,
                       const std::string& session = "run") {
  ctf::Metadata made;
  made.hostname = host;
  made.clock = clock;
  made.session = session;
  made.domain = "ust";
  return made;
}

TEST(TraceOrigins, OneMachineIsOneSpace) {
  const ctf::Metadata one = metadata("robot", "boot", "creation");
  const ctf::Metadata other = metadata("robot", "boot", "running");
  TraceOrigins origins;
  origins.add("a", one);
  origins.add("b", other);
  origins.check();
  EXPECT_EQ(origins.space_of(0, 0), origins.space_of(1, 0));
}

TEST(TraceOrigins, ContainersOfOneMachineHaveSpacesOfTheirOwn) {
  const ctf::Metadata one = metadata("3f2a", "boot");
  const ctf::Metadata other = metadata("77c0", "boot");
  TraceOrigins origins;
  origins.add("a", one);
  origins.add("b", other);
  origins.check();
  EXPECT_NE(origins.space_of(0, 0), origins.space_of(1, 0));
}

ctf::Metadata with_namespaces(const std::string& session) {
  ctf::Metadata made = metadata("robot", "boot", session);
  ctf::Type context{.kind = ctf::TypeKind::kStruct};
  context.members.push_back({"pid_ns", std::make_shared<ctf::Type>()});
  made.streams[0].event_context = std::make_shared<ctf::Type>(std::move(context));
  return made;
}

TEST(TraceOrigins, NamespacesTellApartWhereAllTracesSayThem) {
  const ctf::Metadata one = with_namespaces("creation");
  const ctf::Metadata other = with_namespaces("running");
  ctf::Metadata switches = metadata("robot", "boot");
  switches.domain = "scheduling";
  switches.pid_namespace = 41;
  TraceOrigins origins;
  for (const ctf::Metadata* each : std::vector<const ctf::Metadata*>{&one, &other, &switches}) {
    origins.add("trace", *each);
  }
  origins.check();
  EXPECT_EQ(origins.space_of(0, 41), origins.space_of(1, 41));
  EXPECT_NE(origins.space_of(0, 41), origins.space_of(0, 42));
  EXPECT_EQ(origins.space_of(2, 0), origins.space_of(1, 41));

  const ctf::Metadata without = metadata("robot", "boot", "running");
  TraceOrigins mixed;
  mixed.add("a", one);
  mixed.add("b", without);
  mixed.check();
  EXPECT_EQ(mixed.space_of(0, 41), mixed.space_of(1, 0));
}

std::vector<std::string> hosts_of(const std::vector<ctf::Metadata>& traces) {
  TraceOrigins origins;
  for (const ctf::Metadata& each : traces) {
    origins.add("trace", each);
  }
  origins.check();
  std::vector<std::string> names;
  for (const TracedHost& each : origins.hosts()) {
    names.push_back(each.name);
  }
  return names;
}

TEST(TraceOrigins, EachClockIsAHost) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(hosts_of({metadata("arm", "boot 1"), metadata("base", "boot 2")}),
            (Names{"arm", "base"}));
  EXPECT_EQ(hosts_of({metadata("arm", ""), metadata("base", "")}), (Names{"arm", "base"}));
  EXPECT_EQ(hosts_of({metadata("arm", "boot"), metadata("", "boot")}), Names{"arm"});
  EXPECT_EQ(hosts_of({metadata("3f2a", "boot"), metadata("77c0", "boot")}), Names{"3f2a"})
      << "containers of one machine";
  EXPECT_EQ(hosts_of({metadata("robot", "0123456789"), metadata("robot", "abcdefghij")}),
            (Names{"robot (boot 01234567)", "robot (boot abcdefgh)"}));
  EXPECT_EQ(hosts_of({metadata("arm", "boot 1"), metadata("arm", ""), metadata("base", "boot 2")}),
            (Names{"arm", "base"}))
      << "a trace without a boot is of the host of its name";
}

TEST(TraceOrigins, NamesOfHostsAreShownWithoutWhatATerminalObeys) {
  const auto first = metadata("x\nnote: \x1b[2J\u202e", "11111111-a");
  const auto second = metadata("left", "22222222-a");
  const auto third = metadata("left", "22222222-b");
  TraceOrigins origins;
  for (const auto* each : {&first, &second, &third}) {
    origins.add("trace", *each);
  }
  origins.check();
  EXPECT_EQ(origins.hosts()[0].name, "x?note: ?[2J???");
  EXPECT_EQ(origins.hosts()[1].name, "left (boot 22222222)");
  EXPECT_EQ(origins.hosts()[2].name, "left (boot 22222222) 2");
}

TEST(TraceOrigins, ATraceThatMayBeOfTwoMachinesIsRefused) {
  const auto refusal = [](const ctf::Metadata& unclear) -> std::string {
    try {
      hosts_of({metadata("robot", "boot 1"), metadata("robot", "boot 2"), unclear});
    } catch (const TraceError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_NE(refusal(metadata("robot", "")).find("two machines have the name 'robot'"),
            std::string::npos);
  EXPECT_NE(refusal(metadata("", "")).find("neither its name nor its boot"), std::string::npos);
}

TEST(TraceOrigins, NamespacesOfOneHostTellApartAlsoBesideAHostWithoutThem) {
  const ctf::Metadata one = with_namespaces("creation");
  ctf::Metadata other = metadata("base", "boot 2");
  TraceOrigins origins;
  origins.add("a", one);
  origins.add("b", other);
  origins.check();
  EXPECT_NE(origins.space_of(0, 41), origins.space_of(0, 42));
  EXPECT_NE(origins.space_of(0, 41), origins.space_of(1, 0));
  EXPECT_EQ(origins.host_of(0), 0U);
  EXPECT_EQ(origins.host_of(1), 1U);
}

TEST(DuplicateFilter, WhatSeveralSessionsRecordedIsCountedOnce) {
  DuplicateFilter filter;
  TraceEvent event{.kind = EventKind::kCallbackStart, .pid = 1, .tid = 1, .numbers = {5}};
  EXPECT_FALSE(filter.is_duplicate(event, 0));
  event.time_ns += 100;
  EXPECT_TRUE(filter.is_duplicate(event, 1));
  EXPECT_TRUE(filter.is_duplicate(event, 2));
  EXPECT_FALSE(filter.is_duplicate(event, 1)) << "again, and session 0 has ended or lost it";
  EXPECT_TRUE(filter.is_duplicate(event, 2));
}

TEST(DuplicateFilter, TheSameEventOfAnotherThreadOrAfterAnotherIsNew) {
  DuplicateFilter filter;
  TraceEvent event{.kind = EventKind::kCallbackStart, .pid = 1, .tid = 1, .numbers = {5}};
  EXPECT_FALSE(filter.is_duplicate(event, 0));
  TraceEvent elsewhere = event;
  elsewhere.tid = 2;
  EXPECT_FALSE(filter.is_duplicate(elsewhere, 1));
  elsewhere.tid = 1;
  elsewhere.space = 1;
  EXPECT_FALSE(filter.is_duplicate(elsewhere, 1));
  TraceEvent end = event;
  end.kind = EventKind::kCallbackEnd;
  EXPECT_FALSE(filter.is_duplicate(end, 1));
  EXPECT_FALSE(filter.is_duplicate(event, 1));
}

}  // namespace
}  // namespace rclrt::trace

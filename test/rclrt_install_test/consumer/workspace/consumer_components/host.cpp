// SPDX-License-Identifier: Apache-2.0
// Loads two components, apart from each other, and lets each run the other's node.
// Usage: host FIRST SECOND
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "component.hpp"

namespace {

const Component& load(const char* path) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const entry = library != nullptr ? dlsym(library, "component") : nullptr;
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  return *reinterpret_cast<GetComponent>(entry)();
}

void run(const char* what, const Component& engine_of, const Component& node_of) {
  Findings findings;
  void* const engine = engine_of.make_engine();
  node_of.add_node(engine, &engine_of, &findings);
  engine_of.spin(engine);
  engine_of.destroy_engine(engine);
  std::printf("%s: %s, %s\n", what, findings.runs >= 5 ? "five runs" : "too few runs",
              findings.seen_by_both == findings.runs ? "one state" : "two states");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: host FIRST SECOND\n");
    return 2;
  }
  const Component& first = load(argv[1]);
  const Component& second = load(argv[2]);
  if (&first == &second) {
    std::fprintf(stderr, "both are the same library\n");
    return 2;
  }
  run("the second's node in the first's executor", first, second);
  run("the first's node in the second's executor", second, first);
}

// SPDX-License-Identifier: Apache-2.0
#include "rclrt/workloads/workload.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "imported.hpp"
#include "kernels/adpcm.hpp"
#include "kernels/chacha.hpp"
#include "kernels/chase.hpp"
#include "kernels/edges.hpp"
#include "kernels/fft.hpp"
#include "kernels/huffman.hpp"
#include "kernels/lexer.hpp"
#include "kernels/matrix.hpp"
#include "kernels/shortest_paths.hpp"
#include "kernels/sort.hpp"

namespace rclrt::workloads {

namespace {

template <typename Work>
class KernelOf final : public Kernel {
 public:
  std::uint64_t run() noexcept override { return work_.run(); }

 private:
  Work work_;
};

template <typename Work>
std::unique_ptr<Kernel> make_kernel() {
  return std::make_unique<KernelOf<Work>>();
}

constexpr std::array kWorkloads{
    Workload{"adpcm", "codec: codes and decodes 2000 samples; a chain of dependent additions",
             0x3D8D385F7F44E4C2U, make_kernel<detail::Adpcm>},
    Workload{"chacha", "cryptography: enciphers 4 KiB; arithmetic without branches",
             0xC04C4C84EF509432U, make_kernel<detail::ChaCha>},
    Workload{"chase", "memory: follows 500 pointers through 8 MiB; bound by its latency",
             detail::Chase::kHops, make_kernel<detail::Chase>},
    Workload{"edges", "image: Sobel's operator on 96 x 72 pixels; short loops over neighbours",
             0x3AF7501E20710E46U, make_kernel<detail::Edges>},
    Workload{"fft", "signal: a transform of 512 fixed-point samples; multiplications",
             0x43BA8C0A723D3B98U, make_kernel<detail::Fft>},
    Workload{"huffman", "compression: 4 KiB of text; counting, a heap, single bits",
             0xC2636AA5F3544640U, make_kernel<detail::Huffman>},
    Workload{"lexer", "state machine: takes 4 KiB of text apart; bound by branches",
             0xB1CD833782D69B36U, make_kernel<detail::Lexer>},
    Workload{"matrix", "arithmetic: a product of 40 x 40 integers; wide loops", 0x24364C715F8F9D59U,
             make_kernel<detail::Matrix>},
    Workload{"shortest_paths", "search: Dijkstra's on 250 nodes; a heap and scattered loads",
             0x68350983677326E1U, make_kernel<detail::ShortestPaths>},
    Workload{"sort", "sorting: 1000 numbers by a heap; bound by branches", 0x8D86D41544E8280BU,
             make_kernel<detail::Sort>},
};
static_assert(std::ranges::is_sorted(kWorkloads, {}, &Workload::name));

}  // namespace

std::span<const Workload> workloads() noexcept { return kWorkloads; }

std::unique_ptr<Kernel> make(const std::string& name) {
  const auto* const found = std::ranges::find(kWorkloads, name, &Workload::name);
  if (found != kWorkloads.end()) {
    return found->make();
  }
  if (auto imported = detail::make_imported(name)) {
    return imported;
  }
  std::string known;
  for (const Workload& each : kWorkloads) {
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  throw std::invalid_argument("unknown workload '" + name + "'; expected one of " + known +
                              ", or one in a directory of RCLRT_WORKLOAD_PATH");
}

}  // namespace rclrt::workloads

// SPDX-License-Identifier: Apache-2.0
#include "../src/base64.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace rclrt::realtime {
namespace {

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

TEST(Base64, IsThatOfRfc4648) {
  const std::pair<const char*, const char*> vectors[] = {// section 10
                                                         {"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, encoded] : vectors) {
    EXPECT_EQ(to_base64(bytes_of(plain)), encoded);
    EXPECT_EQ(from_base64(encoded), bytes_of(plain));
  }
}

TEST(Base64, BytesReadBackAreTheSame) {
  std::mt19937 random(5);
  for (std::size_t size = 0; size < 200; ++size) {
    std::vector<std::uint8_t> bytes(size);
    for (auto& byte : bytes) {
      byte = static_cast<std::uint8_t>(random());
    }
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
}

TEST(Base64, RefusesWhatIsNotWrittenThatWay) {
  for (const char* text :
       {"Z", "Zm9", "Zg=", "=", "====", "Zg==Zg==", "Z===", "Zm9 ", "Zm9-", "Zh==", "Zm9="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
}  // namespace rclrt::realtime

#include "base/stream_copy.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace tandem {
namespace {

TEST(StreamCopyTest, CopiesWhatMemcpyDoesAtAnyPlace) {
  std::vector<uint8_t> from(700);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 + 1);
  for (int64_t bytes : {0, 1, 15, 16, 63, 64, 65, 127, 128, 200, 500}) {
    for (int64_t to : {0, 1, 4, 17, 63, 64}) {
      for (int64_t at : {0, 3, 16}) {
        std::vector<uint8_t> got(700, 0), want(700, 0);
        StreamCopy(got.data() + to, from.data() + at, bytes);
        for (int64_t i = 0; i < bytes; ++i) want[to + i] = from[at + i];
        ASSERT_EQ(got, want) << bytes << " bytes from " << at << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace tandem

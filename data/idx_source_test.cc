// IDX files as a dataset: the rows that ReadIdx gives, from any position, and errors with file and place.
#include <zlib.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/dataset.h"
#include "data/idx.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Write(const std::string& name, const std::string& bytes, bool gzip = false) {
  const std::string path = JoinPath(testing::TempDir(), name);
  if (gzip) {
    gzFile file = gzopen(path.c_str(), "wb");
    EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
    EXPECT_EQ(gzclose(file), Z_OK);
  } else {
    EXPECT_TRUE(Env::Default()->WriteFile(path, {bytes}).ok());
  }
  return path;
}

// Rows of 2 x 3 elements of this type, which begin with `first`.
std::string Idx(uint8_t code, int bytes, int rows, int first) {
  std::string file = {0, 0, static_cast<char>(code), 3, 0, 0, 0, static_cast<char>(rows), 0, 0, 0, 2, 0, 0, 0, 3};
  for (int i = 0; i < rows * 6 * bytes; ++i) file.push_back(static_cast<char>(first + 7 * i));
  return file;
}

TEST(IdxSourceTest, GivesTheRowsOfReadIdx) {
  const std::pair<uint8_t, int> types[] = {{0x08, 1}, {0x09, 1}, {0x0b, 2}, {0x0c, 4}, {0x0d, 4}, {0x0e, 8}};
  for (const auto& [code, bytes] : types) {
    for (const bool gzip : {false, true}) {
      const std::string a = Write("a.idx", Idx(code, bytes, 9, 0), gzip), b = Write("b.idx", Idx(code, bytes, 5, 3));
      const Dataset d = Dataset::Idx({a, b, a}, {.name = "image", .buffer_size = 50});
      ASSERT_TRUE(d.status().ok()) << d.status();
      EXPECT_EQ(d.spec()[0].shape, (Shape{2, 3}));
      std::vector<Element> expected;
      for (const std::string& path : {a, b, a}) {
        const std::vector<Element> rows = Read(Dataset::FromTensorSlices({{"image", *ReadIdx(path)}}));
        expected.insert(expected.end(), rows.begin(), rows.end());
      }
      EXPECT_TRUE(BitEqual(Read(d), expected)) << int{code};
      EXPECT_TRUE(BitEqual(Read(d.Batch(4).Unbatch()), expected)) << int{code};
      EXPECT_EQ(Read(d.Shuffle(7, {.seed = 1}).Prefetch(2)).size(), expected.size());
      for (size_t k = 0; k <= expected.size(); k += 4) {
        std::unique_ptr<Iterator> first = Make(d), second = Make(d.Prefetch(2));
        Read(*first, k);
        ASSERT_TRUE(second->RestoreState(*first->SaveState()).ok());
        EXPECT_TRUE(BitEqual(Read(*second), {expected.begin() + k, expected.end()})) << k;
      }
    }
  }
}

absl::Status StatusAt(const Dataset& d, int at) {
  if (!d.status().ok()) return d.status();
  std::unique_ptr<Iterator> it = Make(d);
  Read(*it, at);
  Element e;
  bool end = false;
  return it->GetNext(&e, &end);
}

TEST(IdxSourceTest, DamageIsAnErrorWithItsPlace) {
  const std::string whole = Idx(0x08, 1, 4, 0);
  const std::string cut = Write("cut.idx", whole.substr(0, whole.size() - 2));
  absl::Status status = StatusAt(Dataset::Idx({cut}), 3);
  EXPECT_TRUE(absl::StrContains(status.message(), "row 3 of 4 has 4 of 6 bytes: the file is cut off")) << status;
  const std::string short_file = Write("short.idx", whole.substr(0, 20));
  status = Dataset::Idx({short_file}).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "more than the file can hold (at most 20 bytes)")) << status;
  const std::string cut_gzip = Write("cut.idx.gz", whole.substr(0, whole.size() - 2), /*gzip=*/true);
  status = StatusAt(Dataset::Idx({cut_gzip}), 3);
  EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat(cut_gzip, ": at byte 34"))) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "row 3 of 4 has 4 of 6 bytes: the file is cut off")) << status;
  const std::string more = Write("more.idx", whole + "x");
  status = StatusAt(Dataset::Idx({more}), 4);
  EXPECT_TRUE(absl::StrContains(status.message(), "there is more data than the 24 bytes of shape [4,2,3]")) << status;
  EXPECT_EQ(Read(Dataset::Idx({more, more}).IgnoreErrors({.max = 2})).size(), 8u);
  const std::string scalar = Write("scalar.idx", std::string("\0\0\x08\0\x05", 5));
  EXPECT_TRUE(absl::StrContains(Dataset::Idx({scalar}).status().message(), "has no rows"));
  const std::string floats = Write("floats.idx", Idx(0x0d, 4, 2, 0)), good = Write("good.idx", whole);
  EXPECT_TRUE(absl::StrContains(Dataset::Idx({good, floats}).status().message(),
                                "floats.idx: its rows are { value:float32[2,3] }, and those of "));
  EXPECT_FALSE(Dataset::Idx({}).status().ok());
  EXPECT_FALSE(Dataset::Idx({good}, {.buffer_size = 0}).status().ok());
}

}  // namespace
}  // namespace tandem

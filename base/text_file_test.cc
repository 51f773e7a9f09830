#include "base/text_file.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Written(absl::string_view bytes) {
  const std::string path = testing::TempDir() + "/text_file";
  EXPECT_EQ(Env::Default()->WriteFile(path, {bytes}), absl::OkStatus());
  return path;
}

TEST(TextFileTest, TakesOffTheMarkOfUtf8) {
  for (const char* text : {"", "a", "three lines\n\n", "\xef\xbb", "\xef\xbb\xbf"}) {
    EXPECT_EQ(ReadTextFile(Env::Default(), Written(absl::StrCat("\xef\xbb\xbf", text))).value_or("error"), text);
  }
  for (const char* text : {"", "a", "\xef\xbb", "a\xef\xbb\xbf", "\xff", "\xfe", "\xff\xff\xfe"}) {
    EXPECT_EQ(ReadTextFile(Env::Default(), Written(text)).value_or("error"), text);
  }
}

TEST(TextFileTest, OtherMarksAreErrorsThatNameTheEncoding) {
  struct Case {
    std::string bytes;
    const char* encoding;
    const char* mark;
  };
  for (const Case& c : std::vector<Case>{{{"\xff\xfe"
                                           "a\0",
                                           4},
                                          "UTF-16",
                                          "UTF-16LE (ff fe)"},
                                         {"\xff\xfe", "UTF-16", "UTF-16LE (ff fe)"},
                                         {{"\xfe\xff\0a", 4}, "UTF-16", "UTF-16BE (fe ff)"},
                                         {{"\xff\xfe\0\0a\0\0\0", 8}, "UTF-32", "UTF-32LE (ff fe 00 00)"},
                                         {{"\0\0\xfe\xff\0\0\0a", 8}, "UTF-32", "UTF-32BE (00 00 fe ff)"}}) {
    const std::string path = Written(c.bytes);
    const absl::Status status = ReadTextFile(Env::Default(), path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(status.message(),
              absl::StrCat(path, ": at byte 0: the byte order mark of ", c.mark,
                           ", and text must be UTF-8; convert it: iconv -f ", c.encoding, " -t UTF-8 FILE > NEW_FILE"));
  }
}

}  // namespace
}  // namespace tandem

#include "base/content_fingerprint.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tandem {
namespace {

TEST(ContentFingerprint, IsTheSameInEveryBuild) {
  EXPECT_EQ(ContentFingerprint(""), "c468e3c7fb474f403571aff2c547d5a6");
  EXPECT_EQ(ContentFingerprint("The quick brown fox jumps over the lazy dog."), "25b21ea836c883aec089e3034deaf8b5");
}

// Every bit of every byte counts, and so does the size, also where what is added are zeros.
TEST(ContentFingerprint, TellsTextsApart) {
  std::set<std::string> seen;
  size_t texts = 0;
  for (size_t size = 0; size <= 70; ++size) {
    std::string text(size, '\0');
    seen.insert(ContentFingerprint(text));
    ++texts;
    for (size_t byte = 0; byte < size; ++byte) {
      for (int bit = 0; bit < 8; ++bit) {
        text[byte] = static_cast<char>(1 << bit);
        seen.insert(ContentFingerprint(text));
        ++texts;
      }
      text[byte] = '\0';
    }
  }
  EXPECT_EQ(seen.size(), texts);
}

TEST(ContentFingerprint, TellsOrdersApart) {
  std::string text;
  for (int i = 0; i < 64; ++i) text.push_back(static_cast<char>(i));
  const std::string swapped = text.substr(32) + text.substr(0, 32);
  EXPECT_NE(ContentFingerprint(text), ContentFingerprint(swapped));
  EXPECT_NE(ContentFingerprint(text).substr(0, 16), ContentFingerprint(text).substr(16)) << "two halves of their own";
}

}  // namespace
}  // namespace tandem

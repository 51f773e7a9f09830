#include "base/json_parse.h"

#include <string>

#include "gtest/gtest.h"

namespace tandem {
namespace {

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonParseTest, ReadsWhatIsJson) {
  EXPECT_EQ(ParseJson("{\"a\": [1, 2]}")["a"][1], 2);
  for (const char* text : {"", "{", "[1,]", "nonsense", "1 2", "]"})
    EXPECT_TRUE(ParseJson(text).is_discarded()) << text;
}

TEST(JsonParseTest, DepthIsLimited) {
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth)).is_array());
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth + 1)).is_discarded());
  // Copying and writing this would run out of stack.
  EXPECT_TRUE(ParseJson("{\"a\":" + Nested(1000000) + "}").is_discarded());
  std::string objects;
  for (int i = 0; i <= kMaxJsonDepth; ++i) objects += "{\"a\":";
  EXPECT_TRUE(JsonIsTooDeep(objects));
}

TEST(JsonParseTest, BracketsInStringsDoNotNest) {
  const std::string text = "[\"\\\"" + std::string(100, '[') + "\", \"\\\\\", [1]]";
  ASSERT_FALSE(JsonIsTooDeep(text));
  EXPECT_EQ(ParseJson(text)[2][0], 1);
}

TEST(JsonParseTest, NeighboursDoNotNest) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[],{},";
  EXPECT_FALSE(JsonIsTooDeep(text + "[]]"));
}

}  // namespace
}  // namespace tandem

#include "base/json_number.h"

#include <cmath>
#include <limits>

#include "base/json_parse.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(JsonNumberTest, EveryNumberComesBackFromText) {
  for (double value : {0.0, -0.0, 0.1, 1e308, 5e-324, -2.5, kInfinity, -kInfinity}) {
    const std::optional<double> back = NumberFromJson(ParseJson(NumberToJson(value).dump()));
    ASSERT_TRUE(back.has_value()) << value;
    EXPECT_EQ(*back, value);
    EXPECT_EQ(std::signbit(*back), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(NumberFromJson(ParseJson(NumberToJson(std::nan("")).dump())).value_or(0)));
}

TEST(JsonNumberTest, IsSpelledAsProtocolBuffersDo) {
  EXPECT_EQ(NumberToJson(kInfinity).dump(), "\"Infinity\"");
  EXPECT_EQ(NumberToJson(-kInfinity).dump(), "\"-Infinity\"");
  EXPECT_EQ(NumberToJson(std::nan("")).dump(), "\"NaN\"");
  EXPECT_EQ(NumberToJson(0.25).dump(), "0.25");
}

TEST(JsonNumberTest, OtherValuesAreNone) {
  EXPECT_TRUE(std::isnan(NumberFromJson(ParseJson("null")).value_or(0)));
  EXPECT_EQ(NumberFromJson(ParseJson("7")), 7.0);
  for (const char* text : {"\"inf\"", "\"1\"", "\"\"", "true", "[]", "{}", "[\"NaN\"]"}) {
    EXPECT_EQ(NumberFromJson(ParseJson(text)), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tandem

#include "graph/ir/text_depth.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tandem::td {
namespace {

std::string Repeated(const std::string& text, int n) {
  std::string result;
  for (int i = 0; i < n; ++i) result += text;
  return result;
}

TEST(TextDepthTest, ProgramsAreNotDeep) {
  EXPECT_TRUE(CheckTextDepth("", "a.mlir").ok());
  // What is not nested may be long: calls with results, types with arrows, strings with brackets.
  EXPECT_TRUE(
      CheckTextDepth(Repeated("func.func private @k(%a: tensor<?x4xf32>) -> tensor<?x4xf32>\n", 10000), "a").ok());
  EXPECT_TRUE(
      CheckTextDepth(Repeated("  %1 = td.relu %0 : tensor<4xf32> loc(\"(((([[[[\\\"{{{{\")\n", 10000), "a").ok());
  EXPECT_TRUE(CheckTextDepth(Repeated("// ((((((((((\n", 1000), "a").ok());
  std::string locations;
  for (int i = 0; i < 10000; ++i) absl::StrAppend(&locations, "#loc", i, " = loc(\"a\"(#loc))\n");
  EXPECT_TRUE(CheckTextDepth(locations, "a").ok());
}

TEST(TextDepthTest, EveryKindOfNestingHasALimit) {
  for (const char* open : {"(", "[", "{", "<", "module {\n"}) {
    EXPECT_TRUE(CheckTextDepth(Repeated(open, kMaxTextDepth), "a").ok()) << open;
    EXPECT_EQ(CheckTextDepth(Repeated(open, kMaxTextDepth + 1), "a").code(), absl::StatusCode::kInvalidArgument)
        << open;
  }
  EXPECT_EQ(CheckTextDepth(Repeated("[\n", 50000), "a.mlir").message(),
            "a.mlir:129: nested deeper than 128 levels, which no program is");
}

TEST(TextDepthTest, AliasesOfAliasesCount) {
  std::string text = "#a0 = [1]\n";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&text, "#a", i, " = [#a", i - 1, "]\n");
  EXPECT_FALSE(CheckTextDepth(text, "a").ok());
  text = "!t0 = f32\n";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&text, "!t", i, " = tuple<!t", i - 1, ">\n");
  EXPECT_FALSE(CheckTextDepth(text, "a").ok());
}

TEST(TextDepthTest, AffineExpressionsAreRefused) {
  EXPECT_EQ(CheckTextDepth("\n#m = affine_map<(d0) -> (d0)>\n", "a.mlir").message(),
            "a.mlir:2: no program has an affine_map");
  EXPECT_TRUE(CheckTextDepth("module attributes {a = \"affine_map\"} {}", "a.mlir").ok());
}

}  // namespace
}  // namespace tandem::td

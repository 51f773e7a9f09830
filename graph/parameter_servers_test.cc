#include "graph/parameter_servers.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

VariableSpec Variable(const std::string& name, Shape shape, const std::string& slot_of = "") {
  VariableSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.slot_of = slot_of;
  return spec;
}

std::vector<std::pair<std::string, int>> Placed(const std::vector<VariableSpec>& variables, int servers,
                                                const std::set<std::string>& by_rows = {}) {
  std::vector<std::pair<std::string, int>> placed;
  for (const PlacedPart& part : PlaceVariables(variables, servers, by_rows)) {
    placed.emplace_back(part.name(), part.server);
  }
  return placed;
}

TEST(PlaceVariables, TheLargestFirstWhereTheFewestBytesAre) {
  const std::vector<VariableSpec> variables = {Variable("a", {10}), Variable("b", {100}), Variable("c", {60}),
                                               Variable("d", {50})};
  EXPECT_THAT(Placed(variables, 2), ElementsAre(Pair("a", 0), Pair("b", 0), Pair("c", 1), Pair("d", 1)));
  EXPECT_THAT(Placed(variables, 1), ElementsAre(Pair("a", 0), Pair("b", 0), Pair("c", 0), Pair("d", 0)));
}

TEST(PlaceVariables, SlotsAreWhereTheirVariableIs) {
  EXPECT_THAT(Placed({Variable("a", {10}), Variable("a/m", {10}, "a"), Variable("a/v", {10}, "a"), Variable("b", {20}),
                      Variable("b/m", {1}, "b")},
                     2),
              ElementsAre(Pair("a", 0), Pair("a/m", 0), Pair("a/v", 0), Pair("b", 1), Pair("b/m", 1)));
}

TEST(PlaceVariables, EqualOnesInTheirOrderAndMoreServersThanVariables) {
  EXPECT_THAT(Placed({Variable("n", {}), Variable("x", {}), Variable("z", {})}, 2),
              ElementsAre(Pair("n", 0), Pair("x", 1), Pair("z", 0)));
  EXPECT_THAT(Placed({Variable("n", {})}, 3), ElementsAre(Pair("n", 0)));
  EXPECT_THAT(Placed({}, 2), IsEmpty());
}

// Rows of 256 KiB.
TEST(PlaceVariables, SpreadsRowsOfWhatIsMoreThanAServersShare) {
  constexpr int64_t kRow = kMinPartBytes / 4;
  const std::vector<VariableSpec> variables = {Variable("small", {1, kRow}), Variable("large", {7, kRow}),
                                               Variable("large/m", {7, kRow}, "large")};
  EXPECT_THAT(Placed(variables, 3), ElementsAre(Pair("small", 1), Pair("large", 0), Pair("large/m", 0)));
  EXPECT_THAT(Placed(variables, 3, {"large", "small"}),
              ElementsAre(Pair("small", 1), Pair("large[0:3]", 0), Pair("large[3:5]", 1), Pair("large[5:7]", 2),
                          Pair("large/m[0:3]", 0), Pair("large/m[3:5]", 1), Pair("large/m[5:7]", 2)));
  EXPECT_THAT(Placed(variables, 1, {"large"}), ElementsAre(Pair("small", 0), Pair("large", 0), Pair("large/m", 0)));
  // No more parts than rows, and none that are too small.
  EXPECT_THAT(Placed({Variable("w", {2, 9 * kRow})}, 3, {"w"}), ElementsAre(Pair("w[0:1]", 0), Pair("w[1:2]", 1)));
  EXPECT_THAT(Placed({Variable("w", {kRow * 2 + 5})}, 3, {"w"}),
              ElementsAre(Pair(absl::StrCat("w[0:", kRow + 3, "]"), 0),
                          Pair(absl::StrCat("w[", kRow + 3, ":", kRow * 2 + 5, "]"), 1)));
  EXPECT_THAT(Placed({Variable("w", {kRow})}, 3, {"w"}), ElementsAre(Pair("w", 0)));
  EXPECT_THAT(Placed({Variable("w", {0, kRow})}, 3, {"w"}), ElementsAre(Pair("w", 0)));
}

TEST(PlacedPart, HasTheShapeOfItsRows) {
  EXPECT_THAT((PlacedPart{.variable = "w", .first_row = 3, .rows = 2}.ShapeOf({7, 4})), ElementsAre(2, 4));
  EXPECT_THAT(PlacedPart{.variable = "w"}.ShapeOf({7, 4}), ElementsAre(7, 4));
  EXPECT_THAT(PlacedPart{.variable = "w"}.ShapeOf({}), IsEmpty());
}

TEST(SentValueName, SaysForWhichServer) {
  EXPECT_EQ(SentValueName(12, 3, "gradients/dense/MatMul"), "ps12/3/gradients/dense/MatMul");
  const std::optional<SentValue> value = SentValueOfName(SentValueName(12, 3, "gradients/dense/MatMul"));
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(value->server, 12);
  EXPECT_EQ(value->number, 3);
  EXPECT_TRUE(SentValueOfName(SentValueName(0, 0, "")).has_value());
  for (const char* name : {"", "loss", "ps", "ps0", "ps0/a/b", "ps/0/a", "psychology/0/x", "ps1/2"}) {
    EXPECT_FALSE(SentValueOfName(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace tandem

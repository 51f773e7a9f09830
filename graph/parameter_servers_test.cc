#include "graph/parameter_servers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

VariableSpec Variable(const std::string& name, Shape shape, const std::string& slot_of = "") {
  VariableSpec spec;
  spec.name = name;
  spec.shape = std::move(shape);
  spec.slot_of = slot_of;
  return spec;
}

TEST(PlaceVariables, TheLargestFirstWhereTheFewestBytesAre) {
  const std::vector<VariableSpec> variables = {Variable("a", {10}), Variable("b", {100}), Variable("c", {60}),
                                               Variable("d", {50})};
  EXPECT_THAT(PlaceVariables(variables, 2),
              UnorderedElementsAre(Pair("a", 0), Pair("b", 0), Pair("c", 1), Pair("d", 1)));
  EXPECT_THAT(PlaceVariables(variables, 1),
              UnorderedElementsAre(Pair("a", 0), Pair("b", 0), Pair("c", 0), Pair("d", 0)));
}

TEST(PlaceVariables, SlotsAreWhereTheirVariableIs) {
  EXPECT_THAT(PlaceVariables({Variable("a", {10}), Variable("a/m", {10}, "a"), Variable("a/v", {10}, "a"),
                              Variable("b", {20}), Variable("b/m", {1}, "b")},
                             2),
              UnorderedElementsAre(Pair("a", 0), Pair("a/m", 0), Pair("a/v", 0), Pair("b", 1), Pair("b/m", 1)));
}

TEST(PlaceVariables, EqualOnesInTheirOrderAndMoreServersThanVariables) {
  EXPECT_THAT(PlaceVariables({Variable("n", {}), Variable("x", {}), Variable("z", {})}, 2),
              UnorderedElementsAre(Pair("n", 0), Pair("x", 1), Pair("z", 0)));
  EXPECT_THAT(PlaceVariables({Variable("n", {})}, 3), UnorderedElementsAre(Pair("n", 0)));
  EXPECT_THAT(PlaceVariables({}, 2), UnorderedElementsAre());
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

#include "graph/module/graph_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Parts = std::vector<std::pair<std::string, std::string>>;

Parts PartsOf(float rate, std::vector<float> offsets) {
  GraphBuilder g;
  const SourceLocation at = {"model.cc", 7};
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 2}, at);
  Tensor w = g.Variable({.name = "w", .shape = {2}, .initializer = {Initializer::Kind::kUniform, -0.1, 0.1}}, at);
  Tensor m = g.Variable({.name = "w/Slot", .shape = {2}, .trainable = false, .slot_of = "w"}, at);
  const auto n = static_cast<int64_t>(offsets.size());
  Tensor offset = g.Constant(HostTensor::FromVector({n}, offsets), at);
  Tensor shifted = Add(Mul(w, g.Constant(rate, at), at), n == 2 ? offset : ReduceSum(offset, {0}, false, at), at);
  g.Output("sum", ReduceSum(Mul(x, Broadcast(shifted, {kBatch, 2}, at), at), {}, false, at), at);
  g.Assign(m, shifted, at);
  EXPECT_TRUE(g.status().ok()) << g.status();
  return GraphPartsOf(g);
}

TEST(GraphParts, SayWhatIsBuilt) {
  EXPECT_THAT(PartsOf(0.3, {1, 0.5}),
              ElementsAre(Pair("the variable w", "float32 [2], trainable, uniform in [-0.1, 0.1), at model.cc:7"),
                          Pair("the variable w/Slot", "float32 [2], a slot of w, zeros, at model.cc:7"),
                          Pair("the op x", "input {name = \"x\"}: float32 [b,2], at model.cc:7"),
                          Pair("the op w", "read {variable = w}: float32 [2], at model.cc:7"),
                          Pair("the op w/Slot", "read {variable = w/Slot}: float32 [2], at model.cc:7"),
                          Pair("the op Constant", "constant {value = [1, 0.5]}: float32 [2], at model.cc:7"),
                          Pair("the op Constant_1", "constant {value = 0.3}: float32 [], at model.cc:7"),
                          Pair("the op Broadcast", "broadcast {dims = []} of Constant_1: float32 [2], at model.cc:7"),
                          Pair("the op Mul", "mul of w, Broadcast: float32 [2], at model.cc:7"),
                          Pair("the op Add", "add of Mul, Constant: float32 [2], at model.cc:7"),
                          Pair("the op Broadcast_1", "broadcast {dims = [1]} of Add: float32 [b,2], at model.cc:7"),
                          Pair("the op Mul_1", "mul of x, Broadcast_1: float32 [b,2], at model.cc:7"),
                          Pair("the op Sum",
                               "reduce {axes = [0, 1], kind = sum, scope = global} of Mul_1: float32 [], at "
                               "model.cc:7"),
                          Pair("the op sum", "output {name = \"sum\"} of Sum, at model.cc:7"),
                          Pair("the op Assign", "assign {variable = w/Slot} of Add, at model.cc:7")));
}

// The only part that differs.
Parts Difference(const Parts& a, const Parts& b) {
  Parts different;
  EXPECT_EQ(a.size(), b.size());
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) different.insert(different.end(), {a[i], b[i]});
  }
  return different;
}

TEST(GraphParts, ShowNumbersOrTheirFingerprint) {
  EXPECT_THAT(Difference(PartsOf(0.3, {1}), PartsOf(0.3, {1})), IsEmpty());
  EXPECT_THAT(Difference(PartsOf(0.3, {1}), PartsOf(0.4, {1})),
              ElementsAre(Pair("the op Constant_1", "constant {value = 0.3}: float32 [], at model.cc:7"),
                          Pair("the op Constant_1", "constant {value = 0.4}: float32 [], at model.cc:7")));
  const std::vector<float> many = {1, 2, 3, 4, 5, 6, 7, 8, 9}, others = {1, 2, 3, 4, 5, 6, 7, 8, 10};
  EXPECT_THAT(
      Difference(PartsOf(0.3, many), PartsOf(0.3, others)),
      ElementsAre(Pair("the op Constant",
                       "constant {value = 9 numbers of fingerprint 6c361ce3d0f24f20}: float32 [9], at model.cc:7"),
                  Pair("the op Constant",
                       "constant {value = 9 numbers of fingerprint e378a94ca117c03c}: float32 [9], at model.cc:7")));
}

}  // namespace
}  // namespace tandem

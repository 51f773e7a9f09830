// Constants of few numbers, which are code, and of many, which are data: values against the reference, gradients of
// what reads them, and where the numbers lie.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/layers.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

// `shape` filled with numbers that differ, of both signs.
template <typename T>
HostTensor Numbers(Shape shape) {
  int64_t size = 1;
  for (int64_t d : shape) size *= d;
  std::vector<T> values(size);
  for (int64_t i = 0; i < size; ++i) values[i] = static_cast<T>((i * 37 % 101 - 50) / T{4});
  return HostTensor::FromVector<T>(shape, values);
}

// A mask, a table that rows are gathered from and a matrix, each of about `n` numbers; in the loss and beside it.
BuildFn Model(int64_t n) {
  return [n](GraphBuilder& g) {
    Tensor x = layers::Dense(g.Input("x", DType::kFloat32, {kBatch, 7}), {.units = n});
    Tensor masked = x * Broadcast(g.Constant(Numbers<float>({n})), x.shape());
    Tensor weights = Gather(g.Constant(Numbers<float>({n, 3})), g.Input("index", DType::kInt32, {kBatch}));
    Tensor product = MatMul(masked, g.Constant(Numbers<float>({n, 3})));
    Tensor loss = ReduceMean(Square(product * weights));
    g.Output("masked", masked);
    g.Output("again", Tanh(masked) + Broadcast(g.Constant(Numbers<float>({n})), x.shape()));
    g.Output("reshaped", x + Broadcast(Reshape(g.Constant(Numbers<float>({1, n})), {n}), x.shape()));
    g.Output("whole", Exp(g.Constant(Numbers<float>({n}))));
    g.Output("loss", loss);
    optimizers::Momentum({.learning_rate = 0.01, .momentum = 0.9}).Minimize(loss);
  };
}

class ConstantsTest : public testing::TestWithParam<int64_t> {};

TEST_P(ConstantsTest, AsTheReference) {
  Options options;
  options.ranges["index"] = {0, static_cast<double>(GetParam())};
  CompareWithReference(Model(GetParam()), options);
  options.devices = 2;
  options.rows = {16, 5};
  options.lanes = 4;
  options.microbatch_rows = 2;
  CompareWithReference(Model(GetParam()), options);
}

TEST_P(ConstantsTest, SameBitsOnAnyNumberOfDevices) {
  Options options;
  options.ranges["index"] = {0, static_cast<double>(GetParam())};
  ExpectSameBits(Model(GetParam()), options, {16, 11}, {{1, 2}, {2, 1}, {4, 2}});
}

INSTANTIATE_TEST_SUITE_P(Sizes, ConstantsTest, testing::Values(1, 5, 15, 16, 17, 300));

template <typename T>
void ExpectValues() {
  CompareWithReference(
      [](GraphBuilder& g) {
        Tensor x = g.Input("x", DTypeOf<T>::value, {kBatch, 20});
        Tensor table = Broadcast(g.Constant(Numbers<T>({20})), x.shape());
        g.Output("sum", x + table);
        g.Output("less", Cast(Less(x, table), DType::kFloat32));
      },
      {.mode = "predict"});
}

TEST(ConstantsTest, EveryType) {
  ExpectValues<float>();
  ExpectValues<double>();
  ExpectValues<int32_t>();
  ExpectValues<int64_t>();
}

TEST(ConstantsTest, Booleans) {
  CompareWithReference(
      [](GraphBuilder& g) {
        Tensor x = g.Input("x", DType::kFloat32, {kBatch, 20});
        Tensor negative = Less(g.Constant(Numbers<float>({20})), 0.0);
        g.Output("chosen", Select(Broadcast(negative, x.shape()), x, x * 2.0f));
      },
      {.mode = "predict"});
}

int64_t ConstantBytes(int64_t numbers, int copies) {
  auto program = Prepare(
      [=](GraphBuilder& g) {
        Tensor x = g.Input("x", DType::kFloat32, {kBatch, numbers});
        for (int i = 0; i < copies; ++i) {
          x = Tanh(x) + Broadcast(g.Constant(Numbers<float>({numbers})), x.shape());
          g.Output(absl::StrCat("y", i), ReduceMean(x, {0}));
        }
      },
      {.mode = "predict"});
  EXPECT_TRUE(program.ok()) << program.status();
  return program.ok() ? static_cast<int64_t>(program->executable->constants().size()) : -1;
}

// One copy of equal numbers however many read them; none of what is code.
TEST(ConstantsTest, LieInMemoryOnce) {
  EXPECT_EQ(ConstantBytes(15, 1), 0);
  EXPECT_EQ(ConstantBytes(1024, 1), 4096);
  EXPECT_EQ(ConstantBytes(1024, 3), 4096);
}

}  // namespace
}  // namespace tandem::compiled

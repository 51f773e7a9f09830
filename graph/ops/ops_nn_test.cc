// Contractions, losses, moments, random numbers and updates through the public API, against values from NumPy.
#include <cmath>

#include "gmock/gmock.h"
#include "graph/ops.h"
#include "graph/reference/reference.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

MATCHER_P(Near, tolerance, "") { return std::fabs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance; }

std::string Message(const GraphBuilder& g) { return std::string(g.status().message()); }

// The outputs of one step over one batch, as vectors.
std::map<std::string, std::vector<double>> Outputs(const GraphBuilder& g, const TensorMap& inputs,
                                                   const TensorMap& scalars = {}) {
  std::map<std::string, std::vector<double>> outputs;
  auto results = Evaluate(g, inputs, {}, scalars);
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return outputs;
  for (const auto& [name, t] : *results) {
    outputs[name] = std::vector<double>(t.values<double>().begin(), t.values<double>().end());
  }
  return outputs;
}

Tensor Values(GraphBuilder& g, const Shape& shape, const std::vector<float>& values) {
  return g.Constant(HostTensor::FromVector<float>(shape, values));
}

TEST(OpsNn, MatMul) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 2});
  g.Output("plain", MatMul(x, Values(g, {2, 3}, {1, 2, 3, 4, 5, 6})));
  g.Output("b_transposed", MatMul(x, Values(g, {3, 2}, {1, 4, 2, 5, 3, 6}), false, true));
  g.Output("batch_sum", MatMul(x, x, /*transpose_a=*/true));
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto out = Outputs(g, {{"x", HostTensor::FromVector<float>({2, 2}, {1, 2, -1, 3})}});
  EXPECT_THAT(out["plain"], ElementsAre(9, 12, 15, 11, 13, 15));
  EXPECT_THAT(out["b_transposed"], ElementsAre(9, 12, 15, 11, 13, 15));
  EXPECT_THAT(out["batch_sum"], ElementsAre(2, -1, -1, 13));
}

const std::vector<float> kImage = {4, -1, 4, 4, -4, 1, -1, 1, 3, 2, -4, 0, 3, 4, -3, 2, -2, -2, -3, -1, 1, 4, -3, 4};
const std::vector<float> kKernel = {1, -2, 1, -1, 1, -2, 2, -1, 2, 2, -2, -2, -1, 0, 2, -2};

TEST(OpsNn, Conv2D) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3, 4, 2});
  Tensor k = Values(g, {2, 2, 2, 2}, kKernel);
  Tensor valid = Conv2DOp(x, k, {});
  Tensor same = Conv2DOp(x, k, {.strides = {2, 2}, .padding = Padding::kSame});
  EXPECT_EQ(valid.shape(), (Shape{kBatch, 2, 3, 2}));
  EXPECT_EQ(same.shape(), (Shape{kBatch, 2, 2, 2}));
  g.Output("valid", valid);
  g.Output("same", same);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto out = Outputs(g, {{"x", HostTensor::FromVector<float>({1, 3, 4, 2}, kImage)}});
  EXPECT_THAT(out["valid"], ElementsAre(21, -17, 3, -21, 3, 2, 2, 2, 10, -14, 13, -20));
  EXPECT_THAT(out["same"], ElementsAre(21, -17, 3, 2, -9, 13, 10, -4));
}

TEST(OpsNn, Pooling) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3, 3, 1});
  WindowOptions same = {.strides = {2, 2}, .padding = Padding::kSame};
  g.Output("max", MaxPool(x, {2, 2}, {}));
  g.Output("max_same", MaxPool(x, {2, 2}, same));
  g.Output("avg_same", AvgPool(x, {2, 2}, same));
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto out = Outputs(g, {{"x", HostTensor::FromVector<float>({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, -9})}});
  EXPECT_THAT(out["max"], ElementsAre(5, 6, 8, 8));
  EXPECT_THAT(out["max_same"], ElementsAre(5, 6, 8, -9));
  // The divisor leaves the padding out.
  EXPECT_THAT(out["avg_same"], ElementsAre(3, 4.5, 7.5, -9));
}

TEST(OpsNn, SoftmaxFamily) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 3});
  Tensor labels = g.Input("labels", DType::kFloat32, {kBatch, 3});
  Tensor index = g.Input("index", DType::kInt64, {kBatch});
  g.Output("softmax", Softmax(x));
  g.Output("log_softmax", LogSoftmax(x));
  g.Output("dense", SoftmaxCrossEntropyWithLogits(labels, x));
  g.Output("sparse", SparseSoftmaxCrossEntropyWithLogits(index, x));
  ASSERT_TRUE(g.status().ok()) << g.status();
  // The second row overflows exp unless it is shifted.
  auto out = Outputs(g, {{"x", HostTensor::FromVector<float>({2, 3}, {1, 2, 3, 1000, 1001, 998})},
                         {"labels", HostTensor::FromVector<float>({2, 3}, {0.25f, 0.25f, 0.5f, 0, 1, 0})},
                         {"index", HostTensor::FromVector<int64_t>({2}, {2, 0})}});
  EXPECT_THAT(out["softmax"], Pointwise(Near(1e-12), {0.09003057317038043, 0.24472847105479767, 0.6652409557748219,
                                                      0.2594964603424192, 0.7053845126982412, 0.03511902695933973}));
  EXPECT_THAT(out["log_softmax"],
              Pointwise(Near(1e-12), {-2.4076059644443806, -1.4076059644443804, -0.40760596444438035,
                                      -1.3490122167681862, -0.3490122167681863, -3.349012216768186}));
  EXPECT_THAT(out["dense"], Pointwise(Near(1e-12), {1.1576059644443804, 0.3490122167681863}));
  EXPECT_THAT(out["sparse"], Pointwise(Near(1e-12), {0.40760596444438035, 1.3490122167681862}));
}

TEST(OpsNn, BatchMoments) {
  GraphBuilder g;
  Moments batched = BatchMoments(g.Input("x", DType::kFloat32, {kBatch, 2}));
  Moments fixed = BatchMoments(Values(g, {3, 2}, {1, 2, 3, 5, 8, -1}), "global");
  g.Output("mean", batched.mean);
  g.Output("variance", batched.variance);
  g.Output("fixed_mean", fixed.mean);
  g.Output("fixed_variance", fixed.variance);
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto out = Outputs(g, {{"x", HostTensor::FromVector<float>({3, 2}, {1, 2, 3, 5, 8, -1})}});
  for (std::string prefix : {"", "fixed_"}) {
    EXPECT_THAT(out[prefix + "mean"], Pointwise(Near(1e-12), {4.0, 2.0})) << prefix;
    EXPECT_THAT(out[prefix + "variance"], Pointwise(Near(1e-12), {26.0 / 3, 6.0})) << prefix;
  }
}

TEST(OpsNn, RandomUniformIsKeyedByNameSeedAndStep) {
  GraphBuilder g;
  g.Input("x", DType::kFloat32, {kBatch, 1});
  g.Output("a", RandomUniform(&g, {kBatch, 5}));
  g.Output("b", RandomUniform(&g, {kBatch, 5}));
  {
    NameScope scope(&g, "dropout");
    g.Output("c", RandomUniform(&g, {kBatch, 5}));
  }
  {
    NameScope scope(&g, "dropout_1");
    g.Output("d", RandomUniform(&g, {kBatch, 5}));
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  TensorMap x = {{"x", HostTensor::Zeros(DType::kFloat32, {3, 1})}};
  auto scalars = [](int64_t seed, int64_t step) -> TensorMap {
    return {{"seed", HostTensor::Scalar<int64_t>(seed)}, {"global_step", HostTensor::Scalar<int64_t>(step)}};
  };
  auto first = Outputs(g, x, scalars(1, 0)), again = Outputs(g, x, scalars(1, 0));
  auto seed = Outputs(g, x, scalars(2, 0)), step = Outputs(g, x, scalars(1, 1));
  ASSERT_EQ(first["a"].size(), 15);
  EXPECT_EQ(first, again);
  EXPECT_NE(first["a"], first["b"]);
  EXPECT_NE(first["c"], first["d"]);
  EXPECT_NE(first["a"], seed["a"]);
  EXPECT_NE(first["a"], step["a"]);
}

TEST(OpsUpdate, Formulas) {
  GraphBuilder g;
  auto one = [&](float v) { return Values(g, {1}, {v}); };
  Tensor var = one(1.5f), accum = one(0.25f), m = one(0.1f), v = one(0.3f), grad = one(-0.5f), lr = g.Constant(0.1f);
  g.Output("sgd", ApplySgd(var, grad, lr));
  UpdateResult momentum = ApplyMomentum(var, accum, grad, lr, 0.9, false);
  UpdateResult nesterov = ApplyMomentum(var, accum, grad, lr, 0.9, true);
  UpdateResult adam = ApplyAdam(var, m, v, grad, lr, 0.9, 0.99, 1e-3);
  UpdateResult rms = ApplyRmsProp(var, {v}, grad, lr, 0.8, 0, 1e-3);
  UpdateResult rms_momentum = ApplyRmsProp(var, {v, accum}, grad, lr, 0.8, 0.9, 1e-3);
  ASSERT_TRUE(g.status().ok()) << g.status();
  int n = 0;
  for (const UpdateResult& u : {momentum, nesterov, adam, rms, rms_momentum}) {
    std::string name(1, static_cast<char>('a' + n++));
    g.Output(name, u.var);
    for (size_t i = 0; i < u.slots.size(); ++i) g.Output(name + std::to_string(i), u.slots[i]);
  }
  auto out = Outputs(g, {});
  const std::map<std::string, double> expected = {{"sgd", 1.55},
                                                  {"a", 1.5275},
                                                  {"a0", -0.275},
                                                  {"b", 1.57475},
                                                  {"b0", -0.275},
                                                  {"c", 1.4927042703755207},
                                                  {"c0", 0.04},
                                                  {"c1", 0.2995},
                                                  {"d", 1.5926755748663703},
                                                  {"d0", 0.29},
                                                  {"e", 1.3676755748663703},
                                                  {"e0", 0.29},
                                                  {"e1", 0.1323244251336297}};
  EXPECT_EQ(out.size(), expected.size());
  for (const auto& [name, value] : expected) {
    ASSERT_EQ(out[name].size(), 1) << name;
    EXPECT_NEAR(out[name][0], value, 1e-6) << name;  // 0.1f is not 0.1
  }
}

struct Mistake {
  const char* name;
  void (*make)(GraphBuilder& g, Tensor x, Tensor image);  // x: [b,4], image: [b,5,5,32]
  const char* message;
};

const Mistake kMistakes[] = {
    {"inner",
     [](GraphBuilder& g, Tensor x, Tensor) {
       MatMul(x, Values(g, {3, 2}, {1, 2, 3, 4, 5, 6}));
     },
     "inner sizes of [b,4] and [3,2] differ"},
    {"columns", [](GraphBuilder& g, Tensor x, Tensor) { MatMul(x, x, false, true); },
     "the batch of [b,4] would become columns"},
    {"kernel",
     [](GraphBuilder& g, Tensor, Tensor image) {
       Conv2DOp(image, g.Variable({.name = "k", .shape = {7, 7, 32, 64}}), {});
     },
     "input [b,5,5,32] is smaller than the kernel [7,7,32,64] with VALID padding"},
    {"channels",
     [](GraphBuilder& g, Tensor, Tensor image) {
       Conv2DOp(image, g.Variable({.name = "k", .shape = {3, 3, 8, 4}}), {});
     },
     "input [b,5,5,32] has 32 channels, but the kernel [3,3,8,4] takes 8"},
    {"stride",
     [](GraphBuilder& g, Tensor, Tensor image) {
       Conv2DOp(image, g.Variable({.name = "k", .shape = {3, 3, 32, 4}}), {.strides = {0, 1}});
     },
     "needs windows and strides of at least 1"},
    {"labels",
     [](GraphBuilder& g, Tensor x, Tensor) { SparseSoftmaxCrossEntropyWithLogits(Cast(x, DType::kInt64), x); },
     "labels [b,4] do not fit logits [b,4]: one integer per example is needed"},
    {"classes", [](GraphBuilder& g, Tensor x, Tensor) { Softmax(ReduceSum(x, {1})); }, "[b]"},
    {"scope", [](GraphBuilder& g, Tensor x, Tensor) { BatchMoments(x, "worker"); },
     "`scope` must be one of global, replica, got \"worker\""},
    {"random",
     [](GraphBuilder& g, Tensor, Tensor) {
       RandomUniform(&g, {3, kBatch});
     },
     "the batch is dimension 0 only"},
    {"gradient",
     [](GraphBuilder& g, Tensor, Tensor) {
       ApplySgd(Values(g, {2}, {1, 2}), Values(g, {1}, {1}), g.Constant(1.f));
     },
     "gradient float32 [1] does not fit the variable float32 [2]: shape and dtype must be the same"},
    {"slots",
     [](GraphBuilder& g, Tensor, Tensor) {
       Tensor v = Values(g, {1}, {1});
       ApplyRmsProp(v, {v}, v, g.Constant(1.f), 0.9, 0.5, 1e-7);
     },
     "got 1 slots; with momentum 0.5 it needs 2"},
};

class NnMistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(NnMistakeTest, IsToldWithShapes) {
  GraphBuilder g;
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 4});
  Tensor image = g.Input("image", DType::kFloat32, {kBatch, 5, 5, 32});
  GetParam().make(g, x, image);
  EXPECT_EQ(g.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(g), HasSubstr(GetParam().message));
  EXPECT_THAT(Message(g), HasSubstr("ops_nn_test.cc:"));
}

INSTANTIATE_TEST_SUITE_P(OpsNn, NnMistakeTest, testing::ValuesIn(kMistakes),
                         [](const testing::TestParamInfo<Mistake>& info) { return info.param.name; });

}  // namespace
}  // namespace tandem

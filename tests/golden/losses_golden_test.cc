// Losses and their gradients, compiled, against TensorFlow's (make_losses.py): 200 cases each, on one device and on
// three, with batches that leave devices short or empty.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/env.h"
#include "estimator/checkpoint/safetensors.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using losses::Reduction;

constexpr int64_t kRows = 6;  // of a batch: 1 x 6 or 3 x 2
constexpr int64_t kClasses = 3;

struct Inputs {
  explicit Inputs(GraphBuilder& g)
      : label(g.Input("label", DType::kInt32, {kBatch})),
        hot(OneHot(label, kClasses)),
        binary(g.Input("binary", DType::kInt32, {kBatch, kClasses})),
        soft(g.Input("soft", DType::kFloat32, {kBatch, kClasses})),
        real(g.Input("real", DType::kFloat32, {kBatch, kClasses})),
        weight(g.Input("weight", DType::kFloat32, {kBatch})) {}
  Tensor label, hot, binary, soft, real, weight;
};

struct Loss {
  const char* name;
  const char* predictions;  // the input
  std::function<Tensor(const Inputs& in, const Tensor& p)> build;
};

const std::vector<Loss>& Losses() {
  using namespace losses;  // NOLINT: what the test is about
  static const auto* all = new std::vector<Loss>{
      {"mse", "logits", [](auto& in, auto& p) { return MeanSquaredError(in.real, p, {.weights = in.weight}); }},
      {"mae", "logits", [](auto& in, auto& p) { return MeanAbsoluteError(in.real, p, {.weights = in.weight}); }},
      {"huber", "logits", [](auto& in, auto& p) { return Huber(in.real, p, {.weights = in.weight}); }},
      {"huber_3", "logits",
       [](auto& in, auto& p) {
         return Huber(in.real, p, {.weights = in.weight, .reduction = Reduction::kSum, .delta = 3});
       }},
      {"log_cosh", "logits", [](auto& in, auto& p) { return LogCosh(in.real, p, {.weights = in.weight}); }},
      {"poisson", "rate", [](auto& in, auto& p) { return Poisson(in.soft, p, {.weights = in.weight}); }},
      {"hinge", "logits",
       [](auto& in, auto& p) {
         return Hinge(2.0 * Cast(in.binary, DType::kFloat32) + -1.0, p, {.weights = in.weight});
       }},
      {"hinge_binary", "logits", [](auto& in, auto& p) { return Hinge(in.binary, p, {.weights = in.weight}); }},
      {"squared_hinge", "logits", [](auto& in, auto& p) { return SquaredHinge(in.binary, p, {.weights = in.weight}); }},
      {"categorical_hinge", "logits",
       [](auto& in, auto& p) { return CategoricalHinge(in.hot, p, {.weights = in.weight}); }},
      {"kl_divergence", "share", [](auto& in, auto& p) { return KLDivergence(in.soft, p, {.weights = in.weight}); }},
      {"cosine_similarity", "logits",
       [](auto& in, auto& p) { return CosineSimilarity(in.real, p, {.weights = in.weight}); }},
      {"binary", "probability",
       [](auto& in, auto& p) { return BinaryCrossEntropy(in.binary, p, {.weights = in.weight}); }},
      {"binary_smoothed", "probability",
       [](auto& in, auto& p) {
         return BinaryCrossEntropy(in.binary, p,
                                   {.weights = in.weight, .reduction = Reduction::kSum, .label_smoothing = 0.1});
       }},
      {"binary_logits", "logits",
       [](auto& in, auto& p) { return BinaryCrossEntropy(in.binary, p, {.weights = in.weight, .from_logits = true}); }},
      {"binary_logits_smoothed", "logits",
       [](auto& in, auto& p) {
         return BinaryCrossEntropy(in.soft, p, {.weights = in.weight, .label_smoothing = 0.2, .from_logits = true});
       }},
      {"binary_focal", "probability",
       [](auto& in, auto& p) { return BinaryFocalCrossEntropy(in.binary, p, {.weights = in.weight}); }},
      {"binary_focal_logits", "logits",
       [](auto& in, auto& p) {
         return BinaryFocalCrossEntropy(in.binary, p,
                                        {.weights = in.weight,
                                         .label_smoothing = 0.1,
                                         .from_logits = true,
                                         .gamma = 1.5,
                                         .alpha = 0.3,
                                         .apply_class_balancing = true});
       }},
      {"categorical", "share",
       [](auto& in, auto& p) {
         return CategoricalCrossEntropy(in.hot, p, {.weights = in.weight, .label_smoothing = 0.1});
       }},
      {"categorical_logits", "logits",
       [](auto& in, auto& p) {
         return CategoricalCrossEntropy(in.soft, p, {.weights = in.weight, .from_logits = true});
       }},
      {"categorical_focal", "share",
       [](auto& in, auto& p) { return CategoricalFocalCrossEntropy(in.hot, p, {.weights = in.weight}); }},
      {"categorical_focal_logits", "logits",
       [](auto& in, auto& p) {
         return CategoricalFocalCrossEntropy(
             in.hot, p,
             {.weights = in.weight, .label_smoothing = 0.1, .from_logits = true, .gamma = 1.5, .alpha = 0.5});
       }},
      {"sparse_categorical", "share",
       [](auto& in, auto& p) { return SparseCategoricalCrossEntropy(in.label, p, {.weights = in.weight}); }},
      {"sparse_categorical_logits", "logits",
       [](auto& in, auto& p) {
         return SparseCategoricalCrossEntropy(
             in.label, p, {.weights = in.weight, .reduction = Reduction::kSum, .from_logits = true});
       }},
      {"class_weights", "logits",
       [](auto& in, auto& p) {
         return losses::SparseSoftmaxCrossEntropy(in.label, p,
                                                  {.weights = ClassWeights(in.label, {0.5, 1, 20}) * in.weight});
       }},
  };
  return *all;
}

// Every loss has a variable of zeros, one row for each row of the batch, that is added to its predictions: after a step
// of gradient descent at rate 1 it is minus the gradient.
void AllLosses(GraphBuilder& g) {
  const Inputs in(g);
  Tensor row = OneHot(g.Input("row", DType::kInt32, {kBatch}), kRows);
  Tensor total;
  for (const Loss& loss : Losses()) {
    Tensor v = g.Variable({.name = loss.name, .shape = {kRows, kClasses}});
    Tensor p = g.Input(loss.predictions, DType::kFloat32, {kBatch, kClasses}) + MatMul(row, v);
    Tensor value = loss.build(in, p);
    g.Output(std::string(loss.name) + "/loss", value);
    total = total.ok() ? total + value : value;
  }
  optimizers::SGD({.learning_rate = 1.0}).Minimize(total);
}

// Where the values of a case are as far off as rounding may take them: by the largest of them.
double Allowed(const HostTensor& want) { return 2e-5 * std::max(MaxMagnitude(want), 0.05); }

class LossesGoldenTest : public testing::TestWithParam<int> {};

TEST_P(LossesGoldenTest, LossesAndGradientsAreTensorFlows) {
  const int devices = GetParam();
  absl::StatusOr<TensorMap> golden = ReadSafetensors(Env::Default(), "tests/golden/losses.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status();
  absl::StatusOr<Program> program = Prepare(AllLosses, {.devices = devices, .batch = kRows / devices});
  ASSERT_TRUE(program.ok()) << program.status();
  const HostTensor& rows = golden->at("rows");
  ASSERT_GE(rows.num_elements(), 200);
  HostTensor row_numbers = HostTensor::FromVector<int32_t>({kRows}, {0, 1, 2, 3, 4, 5});
  int64_t begin = 0;
  for (int64_t c = 0; c < rows.num_elements(); ++c) {
    SCOPED_TRACE(c);
    const int64_t n = rows.data<int32_t>()[c];
    TensorMap batch = {{"row", Rows(row_numbers, 0, n)}};
    for (const auto& input : program->executable->index().inputs) {
      if (input.name != "row") batch[input.name] = Rows(golden->at(input.name), begin, begin + n);
    }
    for (const Loss& loss : Losses()) {
      ASSERT_TRUE(program->variables->Assign(loss.name, HostTensor::Zeros(DType::kFloat32, {kRows, kClasses})).ok());
    }
    std::vector<int64_t> dealt;
    for (int64_t left = n; dealt.size() < static_cast<size_t>(devices); left -= dealt.back()) {
      dealt.push_back(std::min(left, kRows / devices));
    }
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, dealt, c));
    ASSERT_TRUE(result.ok()) << result.status();
    ASSERT_TRUE(result->finite);
    for (size_t i = 0; i < result->outputs.size(); ++i) {
      const std::string& name = program->executable->index().outputs[i].name;
      if (!golden->count(name)) continue;
      HostTensor want = HostTensor::FromVector<float>({}, {golden->at(name).data<float>()[c]});
      EXPECT_LE(MaxDifference(result->outputs[i], want), Allowed(want))
          << name << " " << *result->outputs[i].data<float>() << " != " << *want.data<float>();
    }
    for (const Loss& loss : Losses()) {
      HostTensor got = Rows(program->variables->Read(loss.name).value(), 0, n);
      for (int64_t i = 0; i < got.num_elements(); ++i) got.data<float>()[i] *= -1;
      const HostTensor want = Rows(golden->at(std::string(loss.name) + "/gradient"), begin, begin + n);
      EXPECT_LE(MaxDifference(got, want), Allowed(want)) << "gradient of " << loss.name;
    }
    begin += n;
    if (HasFailure()) return;
  }
  EXPECT_EQ(begin, golden->at("label").num_elements());
}

INSTANTIATE_TEST_SUITE_P(Devices, LossesGoldenTest, testing::Values(1, 3));

}  // namespace
}  // namespace tandem::compiled

// mixed_bfloat16 keeps losses, metrics and what they are computed from in float32: the sixteen numbers of eight losses
// and their slopes, against calculus. What is rounded is what the phase `precision` says: for a GPU on any machine, for
// a CPU where the library has bfloat16 products.
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"
#include "runtime/cpu/kernels/instruction_set.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"
#include "tools/run/reference_check.h"

namespace tandem::compiled {
namespace {

constexpr int64_t kRows = 4, kWidth = 512;
constexpr double kPrediction = 1000.5, kTarget = 1001.5;  // bfloat16 has 1000 and 1000

using LossFn = std::function<Tensor(const Tensor& target, const Tensor& prediction)>;

// What the targets make of a wide network whose prediction is its last bias, and of that bias after a step of SGD with
// a rate of 1.
class Judged {
 public:
  explicit Judged(const std::function<void(GraphBuilder&)>& build, const std::string& mode = "train") {
    Add(build, mode, "cuda:sm_90", "gpu:0", /*machine_model=*/"");
    if (UsesAvx512()) Add(build, mode, "cpu:x86-64-v4", "cpu:0", MachineForBFloat16("cpu:x86-64-v4"));
  }

  void ExpectOutput(const std::string& name, double value) { Expect(name, value, /*variable=*/false); }
  void ExpectSlope(double slope) { Expect("y/bias", kPrediction - slope, /*variable=*/true); }

 private:
  void Add(const std::function<void(GraphBuilder&)>& build, const std::string& mode, const std::string& target,
           const std::string& device, const std::string& machine_model) {
    SCOPED_TRACE(target);
    GraphBuilder graph("test");
    build(graph);
    CompileOptions options;
    options.batch_per_replica = kRows;
    options.precision = Precision::kMixedBfloat16;
    options.target = target;
    options.devices = {device};
    options.machine_model = machine_model;
    absl::StatusOr<std::shared_ptr<const Executable>> executable = CompileGraph(graph, mode, options);
    EXPECT_TRUE(executable.ok()) << executable.status();
    if (!executable.ok()) return;
    for (const std::string& warning : (*executable)->index().warnings) {
      EXPECT_EQ(warning.find("computed in float32"), std::string::npos) << warning;
    }
    auto check = ReferenceCheck::Create(**executable);
    EXPECT_TRUE(check.ok()) << check.status();
    std::map<std::string, HostTensor> inputs, variables;
    for (const auto& input : (*executable)->index().inputs) {
      Shape shape(input.shape.begin(), input.shape.end());
      shape[0] = kRows;
      HostTensor& value = inputs[input.name] = Filled(shape, input.name == "t" ? kTarget : 0.5);
      if (input.name == "row") {
        for (int64_t i = 0; i < kRows; ++i) value.data<float>()[i * (kWidth + 1) + kWidth] = kTarget;
      }
    }
    for (const auto& v : (*executable)->index().variables) {
      const Shape shape(v.shape.begin(), v.shape.end());
      variables[v.name] = Filled(shape, v.name == "y/bias" ? kPrediction : v.name == "y/kernel" ? 0 : 0.01);
    }
    StepScalars scalars(graph.scalar_defaults().begin(), graph.scalar_defaults().end());
    scalars["seed"] = 1;
    scalars["global_step"] = 0;
    absl::Status status = (*check)->Evaluate(kRows, inputs, variables, scalars);
    EXPECT_TRUE(status.ok()) << status;
    checks_.emplace_back(target, *std::move(check));
  }

  static HostTensor Filled(const Shape& shape, double value) {
    return HostTensor::FromVector<float>(shape, std::vector<float>(NumElements(shape), static_cast<float>(value)));
  }

  void Expect(const std::string& name, double value, bool variable) {
    ASSERT_FALSE(checks_.empty());
    const HostTensor expected = Filled(variable ? Shape{1} : Shape{}, value);
    for (const auto& [target, check] : checks_) {
      const absl::StatusOr<TensorError> error =
          variable ? check->CompareVariable(name, expected) : check->CompareOutput(name, expected);
      ASSERT_TRUE(error.ok()) << error.status();
      EXPECT_LE(error->error, 2e-4) << target << ": " << name << " is not " << value;
    }
  }

  std::vector<std::pair<std::string, std::unique_ptr<ReferenceCheck>>> checks_;
};

Tensor Prediction(const Tensor& x) {
  Tensor h = layers::Dense(x, {.units = 1024, .activation = Relu});
  h = layers::Dense(h, {.units = 1024, .activation = Relu});
  return layers::Dense(h, {.units = 1, .name = "y"});
}

void Train(GraphBuilder& g, const Tensor& loss) {
  g.Output("loss", loss);
  optimizers::SGD({.learning_rate = 1.0}).Minimize(loss);
}

struct LossCase {
  std::string name;
  LossFn loss;
  double value, slope;  // for each row, and so for their mean
};
void PrintTo(const LossCase& c, std::ostream* os) { *os << c.name; }

const double kLogRatio = std::log((kTarget + 1) / (kPrediction + 1));

const LossCase kLosses[] = {
    {"MeanSquaredError", [](auto& t, auto& y) { return losses::MeanSquaredError(t, y); }, 1, -2},
    {"MeanAbsoluteError", [](auto& t, auto& y) { return losses::MeanAbsoluteError(t, y); }, 1, -1},
    {"Huber", [](auto& t, auto& y) { return losses::Huber(t, y, {.delta = 2}); }, 0.5, -1},
    {"LogCosh", [](auto& t, auto& y) { return losses::LogCosh(t, y); }, std::log(std::cosh(1)), -std::tanh(1)},
    {"PercentageByHand", [](auto& t, auto& y) { return ReduceMean(100.0 * Abs((t - y) / t)); }, 100 / kTarget,
     -100 / kTarget},
    {"LogarithmsByHand", [](auto& t, auto& y) { return ReduceMean(Square(Log(t + 1.0) - Log(y + 1.0))); },
     kLogRatio* kLogRatio, -2 * kLogRatio / (kPrediction + 1)},
    {"NormalisedByHand", [](auto& t, auto& y) { return ReduceMean(Square((t - 1000.0) / 2.0 - (y - 1000.0) / 2.0)); },
     0.25, -0.5},
    {"Weighted",
     [](auto& t, auto& y) { return losses::MeanSquaredError(t, y, {.weights = (t - kPrediction) * 0.501}); }, 0.501,
     -1.002},
};

class MixedPrecisionLosses : public testing::TestWithParam<LossCase> {};

TEST_P(MixedPrecisionLosses, AreComputedInFloat32) {
  const LossCase& c = GetParam();
  Judged judged([&](GraphBuilder& g) {
    const Tensor y = Prediction(g.Input("x", DType::kFloat32, {kBatch, kWidth}));
    Train(g, c.loss(g.Input("t", DType::kFloat32, {kBatch, 1}), y));
  });
  judged.ExpectOutput("loss", c.value);
  judged.ExpectSlope(c.slope);
}

// The target is a slice of the feature row that the network reads.
TEST_P(MixedPrecisionLosses, KeepATargetThatIsPartOfAWideFeature) {
  const LossCase& c = GetParam();
  Judged judged([&](GraphBuilder& g) {
    const Tensor row = g.Input("row", DType::kFloat32, {kBatch, kWidth + 1});
    const Tensor y = Prediction(Slice(row, {0, 0}, {-1, kWidth}));
    Train(g, c.loss(Slice(row, {0, kWidth}, {-1, 1}), y));
  });
  judged.ExpectOutput("loss", c.value);
  judged.ExpectSlope(c.slope);
}

// The same values in training metrics, whatever the loss is, and in an evaluation.
TEST_P(MixedPrecisionLosses, AsMetricsAndInEvaluation) {
  const LossCase& c = GetParam();
  Judged training([&](GraphBuilder& g) {
    const Tensor y = Prediction(g.Input("x", DType::kFloat32, {kBatch, kWidth}));
    const Tensor t = g.Input("t", DType::kFloat32, {kBatch, 1});
    g.Output("metric", c.loss(t, y));
    Train(g, losses::MeanSquaredError(t, y));
  });
  training.ExpectOutput("metric", c.value);
  Judged evaluation(
      [&](GraphBuilder& g) {
        const Tensor y = Prediction(g.Input("x", DType::kFloat32, {kBatch, kWidth}));
        g.Output("loss", c.loss(g.Input("t", DType::kFloat32, {kBatch, 1}), y));
      },
      "eval");
  evaluation.ExpectOutput("loss", c.value);
}

INSTANTIATE_TEST_SUITE_P(Losses, MixedPrecisionLosses, testing::ValuesIn(kLosses),
                         [](const auto& info) { return info.param.name; });

// What one product reads rounded, and an output as it is.
TEST(MixedPrecisionInputs, AreNotRoundedForWhatIsNoProduct) {
  Judged judged([&](GraphBuilder& g) {
    const Tensor row = Reshape(g.Input("row", DType::kFloat32, {kBatch, kWidth + 1}), {kBatch, kWidth + 1, 1});
    const Tensor flat = Reshape(row, {kBatch, kWidth + 1});
    g.Output("id", ReduceMean(Cast(Cast(Slice(flat, {0, kWidth}, {-1, 1}), DType::kInt32), DType::kFloat32)));
    g.Output("decay", ReduceMean(Slice(flat, {0, kWidth}, {-1, 1})));
    const Tensor y = Prediction(flat);
    Train(g, losses::MeanSquaredError(g.Input("t", DType::kFloat32, {kBatch, 1}), y));
  });
  judged.ExpectOutput("id", 1001);
  judged.ExpectOutput("decay", kTarget);
  judged.ExpectOutput("loss", 1);
}

}  // namespace
}  // namespace tandem::compiled

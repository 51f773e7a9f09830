// Two networks with an optimizer each: a generator of points, and a critic that tells them from those of a file. Both
// learn in every step, or by turns, through rates that a schedule or a hook makes 0.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "estimator/config/strategy.h"
#include "estimator/estimator.h"
#include "estimator/train_and_evaluate.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/metrics.h"
#include "frontends/optimizers.h"
#include "frontends/schedules.h"
#include "graph/ops.h"

ABSL_FLAG(std::string, data_dir, "", "Folder with points.csv.");
ABSL_FLAG(std::string, model_dir, "", "Folder for checkpoints.");
ABSL_FLAG(std::string, devices, "cpu:0", "Devices that share each batch, separated by commas.");
ABSL_FLAG(std::string, turns, "", "Who learns in a step: both; or by turns, as a \"schedule\" or a \"hook\" says.");

namespace tandem {
namespace {

constexpr double kRate = 0.002;

// [..., n] to [..., units]. The variables are named `name`/dense/kernel and so on.
Tensor Network(const std::string& name, Tensor x, int64_t units) {
  const NameScope scope(x.graph(), name);
  for (int layer = 0; layer < 2; ++layer) x = layers::Dense(x, {.units = 32, .activation = Relu});
  return layers::Dense(x, {.units = units});
}

// kRate in the steps `turn`, `turn` + 2, ..., and 0 in between.
Schedule Turns(double turn) {
  return [turn](const Tensor& step) {
    const Tensor half = (step + turn) / 2.0;
    return Select(Equal(half, Floor(half)), FullLike(step, kRate), ZerosLike(step));
  };
}

EstimatorSpec ModelFn(const Features& features, const Tensor&, Mode mode, const Params& params) {
  GraphBuilder* const graph = features.graph();
  const Tensor fake = Network("generator", RandomNormal(graph, {kBatch, 4}), 2);
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"point", fake}});
  // One critic sees both, beside each other.
  const Tensor points = Stack({Stack({features["x"], features["y"]}, 1), fake}, 1);
  const std::vector<Tensor> scores = Unstack(Network("critic", points, 1), 2, 1);
  const losses::LossOptions logits{.from_logits = true};
  const Tensor ones = OnesLike(scores[0]);
  const Tensor critic_loss = losses::BinaryCrossEntropy(ones, scores[0], logits) +
                             losses::BinaryCrossEntropy(ZerosLike(ones), scores[1], logits);
  const Tensor loss = losses::BinaryCrossEntropy(ones, scores[1], logits);
  if (mode == Mode::kEval) {
    const Tensor error = Abs(Norm(fake, {1}) - 2.0);
    return EstimatorSpec::Eval(loss, {{"on_ring", metrics::Mean(Cast(Less(error, 0.5), DType::kFloat32))},
                                      {"spread", metrics::Mean(Square(fake))}});
  }
  const bool scheduled = params.String("turns", "") == "schedule";
  const auto adam = [&](double turn) {
    return optimizers::Adam({.learning_rate = scheduled ? LearningRate(Turns(turn)) : kRate, .beta1 = 0.5});
  };
  adam(0).WithGroup({.variables = "generator/.*", .frozen = true}).Minimize(critic_loss);
  return EstimatorSpec::Train(loss, adam(1).WithGroup({.variables = "critic/.*", .frozen = true}).Minimize(loss));
}

class TakeTurns : public SessionRunHook {
 public:
  std::string name() const override { return "TakeTurns"; }
  std::vector<std::string> BeforeRun(RunContext& context) override {
    const bool is_critics = context.global_step() % 2 == 0;
    context.Fail(context.SetStepScalar("learning_rate", is_critics ? kRate : 0));
    context.Fail(context.SetStepScalar("learning_rate_1", is_critics ? 0 : kRate));
    return {};
  }
};

absl::Status Run() {
  const std::string turns = absl::GetFlag(FLAGS_turns);
  if (turns != "" && turns != "schedule" && turns != "hook") {
    return absl::InvalidArgumentError(
        absl::StrCat("--turns=", turns, " is unknown; use schedule or hook, or leave it"));
  }
  const DistributionStrategy strategy = StrategyFromFlag(absl::GetFlag(FLAGS_devices));
  const int64_t batch = 128 / strategy.num_replicas();
  const Dataset points = Dataset::Csv({JoinPath(absl::GetFlag(FLAGS_data_dir), "points.csv")},
                                      {{"x", DType::kFloat32}, {"y", DType::kFloat32}})
                             .Cache();
  const InputFn train_input = [=](const InputContext&) { return points.Shuffle(2048).Repeat().Batch(batch); };
  const InputFn eval_input = [=](const InputContext&) { return points.Batch(batch); };
  Estimator estimator(ModelFn, {.model_dir = absl::GetFlag(FLAGS_model_dir), .train_distribute = strategy},
                      {{"turns", turns}});
  TrainSpec train{.input_fn = train_input, .max_steps = turns.empty() ? 1000 : 2000};
  if (turns == "hook") train.hooks = {std::make_shared<TakeTurns>()};
  TD_ASSIGN_OR_RETURN(const EvalResult result, TrainAndEvaluate(estimator, train, {.input_fn = eval_input}));
  std::printf("%s\n", result.ToString().c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "generates points like those of a file.", tandem::Run);
}

// Global batches in parts for the replicas of a step, and the ends of passes in hooks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/loop/batch_dealer.h"
#include "estimator/test_models.h"

namespace tandem {
namespace {

using namespace test;  // NOLINT: this file's vocabulary

// `passes` passes over 11 points in batches of `rows` for all replicas together.
InputFn GlobalBatches(int64_t rows, int64_t passes) {
  return [=](const InputContext& context) -> absl::StatusOr<Dataset> {
    return LinePoints(11).Shuffle(5, {.seed = 2}).Batch(rows).Repeat(passes).Parts(context.num_replicas_in_sync);
  };
}

struct Step {
  double loss = 0;
  int64_t examples = 0;
  bool ends_pass = false;
};

// Remembers the steps.
std::shared_ptr<StepHook> Watch(std::vector<Step>* steps) {
  return std::make_shared<StepHook>([steps](RunContext& context, const RunValues& values) {
    steps->push_back({values.Number("loss"), values.examples, context.ends_pass()});
  });
}

RunConfig Unsaved(const std::string& dir, int replicas) {
  RunConfig config = Config(dir, replicas);
  config.save_checkpoints_steps = 0;
  return config;
}

// Empty parts are steps of no rows on their replicas: what is computed is what one device computes of whole batches.
TEST(PartsOfBatches, AreWholeBatchesToAllReplicasTogether) {
  for (const int64_t rows : {1, 3, 5}) {
    std::vector<Step> alone;
    Estimator one(LineModel, Unsaved(ModelDir("one"), 1));
    ASSERT_EQ(one.Train(GlobalBatches(rows, 2), {.hooks = {Watch(&alone)}}), absl::OkStatus());
    const NamedTensors expected = *one.ReadVariables();
    const int64_t in_pass = (11 + rows - 1) / rows;
    ASSERT_EQ(static_cast<int64_t>(alone.size()), 2 * in_pass);
    for (const int replicas : {2, 4}) {
      std::vector<Step> steps;
      Estimator several(LineModel, Unsaved(ModelDir(absl::StrCat(replicas)), replicas));
      ASSERT_EQ(several.Train(GlobalBatches(rows, 2), {.hooks = {Watch(&steps)}}), absl::OkStatus());
      ASSERT_EQ(steps.size(), alone.size()) << rows << " rows, " << replicas << " replicas";
      for (size_t i = 0; i < steps.size(); ++i) {
        const bool last = (i + 1) % in_pass == 0;
        EXPECT_NEAR(steps[i].loss, alone[i].loss, 1e-5 * std::abs(alone[i].loss) + 1e-7) << i;
        EXPECT_EQ(steps[i].examples, last && 11 % rows != 0 ? 11 % rows : rows) << i;
        EXPECT_EQ(steps[i].ends_pass, last) << i;
        EXPECT_EQ(alone[i].ends_pass, last) << i;
      }
      const NamedTensors values = *several.ReadVariables();
      for (const auto& [name, value] : expected) {
        for (int64_t i = 0; i < value.num_elements(); ++i) {
          EXPECT_NEAR(values.at(name).values<float>()[i], value.values<float>()[i], 1e-5) << name;
        }
      }
      const EvalResult whole = *one.Evaluate(GlobalBatches(rows, 1)), parts = *several.Evaluate(GlobalBatches(rows, 1));
      EXPECT_NEAR(whole["loss"], parts["loss"], 1e-5);
    }
  }
}

// In plain batches too, of which a step takes one for each replica.
TEST(EndsOfPasses, AreToldAtTheStepThatHasTheLastBatch) {
  for (const int replicas : {1, 2}) {
    const InputFn input = [](const InputContext&) -> absl::StatusOr<Dataset> {
      return LinePoints(12).Batch(3).Repeat(3).Prefetch(2);
    };
    std::vector<Step> steps;
    Estimator estimator(LineModel, Unsaved(ModelDir(absl::StrCat(replicas)), replicas));
    ASSERT_EQ(estimator.Train(input, {.hooks = {Watch(&steps)}}), absl::OkStatus());
    const size_t in_pass = 4 / replicas;
    ASSERT_EQ(steps.size(), 3 * in_pass);
    for (size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i].ends_pass, (i + 1) % in_pass == 0) << i;
  }
}

TEST(EndsOfPasses, OfADealersRounds) {
  const auto ends = [](const Dataset& dataset, int replicas) {
    auto dealer = *BatchDealer::Create(dataset, ReplicaShare::OneProcess(replicas));
    std::string text;
    for (BatchRound round; *dealer->Next(&round);) text += dealer->ends_pass() ? '|' : '.';
    return text;
  };
  const Dataset five = Dataset::Range(5).Batch(1);
  EXPECT_EQ(ends(five.Repeat(2), 1), "....|....|");
  EXPECT_EQ(ends(five.Repeat(2), 2), "..|.|");  // the third round has a batch of each pass
  EXPECT_EQ(ends(five.Repeat(2), 3), ".|.|");   // and the last one a batch alone
  EXPECT_EQ(ends(five.Repeat(2).Prefetch(3), 3), ".|.|");
  EXPECT_EQ(ends(Dataset::Range(5).Batch(2).Repeat(2).Parts(4), 4), "..|..|");
}

// A checkpoint behind every pass, and a run that goes on in the middle of one.
TEST(EndsOfPasses, HooksCanSaveThere) {
  RunConfig config = Config(ModelDir(), 2);
  config.save_checkpoints_steps = 1000;
  config.keep_checkpoint_max = 0;
  const auto save = [] {
    return std::make_shared<StepHook>([](RunContext& context, const RunValues&) {
      if (!context.ends_pass()) return;
      ASSERT_EQ(context.RequestSave(), absl::OkStatus());
    });
  };
  ASSERT_EQ(Estimator(LineModel, config).Train(GlobalBatches(4, 4), {.max_steps = 5, .hooks = {save()}}),
            absl::OkStatus());
  ASSERT_EQ(Estimator(LineModel, config).Train(GlobalBatches(4, 4), {.max_steps = 10, .hooks = {save()}}),
            absl::OkStatus());
  EXPECT_EQ(CheckpointNames(config.model_dir),
            (std::vector<std::string>{"model.ckpt-0", "model.ckpt-3", "model.ckpt-5", "model.ckpt-6", "model.ckpt-9",
                                      "model.ckpt-10"}));
}

TEST(EndsOfPasses, AreNoneOutsideOfAfterRun) {
  class Asks : public SessionRunHook {
   public:
    absl::Status AfterCreateSession(RunContext& context) override { return Ask(context); }
    std::vector<std::string> BeforeRun(RunContext& context) override {
      context.Fail(Ask(context));
      return {};
    }
    absl::Status End(RunContext& context) override { return Ask(context); }
    static absl::Status Ask(RunContext& context) {
      return context.ends_pass() ? absl::InternalError("it is no step's") : absl::OkStatus();
    }
  };
  Estimator estimator(LineModel, Unsaved(ModelDir(), 1));
  EXPECT_EQ(estimator.Train(GlobalBatches(11, 2), {.hooks = {std::make_shared<Asks>()}}), absl::OkStatus());
}

}  // namespace
}  // namespace tandem

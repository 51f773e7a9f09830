// Learning rates at the first step, at the ends of periods and far beyond, from the formulas of frontends/schedules.h,
// which are those of Keras, PyTorch and the papers named there.
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontends/schedules.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"
#include "tests/oracle/singular_points.h"

namespace tandem::oracle {
namespace {

using namespace schedules;  // NOLINT: what the test is about

struct ScheduleRow {
  std::string name;
  Schedule schedule;
  std::map<int64_t, double> rates;  // by step
};

constexpr int64_t kFar = 1000000000000000;  // 10^15 steps

std::vector<ScheduleRow> DecayRows() {
  const double before_the_end = 0.09 * std::pow(0.1, 0.5) + 0.01;
  return {
      {"Exponential",
       ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5}),
       {{0, 0.1}, {10, 0.05}, {kFar, 0}}},
      {"ExponentialStaircase",
       ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5, .staircase = true}),
       {{0, 0.1}, {9, 0.1}, {10, 0.05}, {kFar, 0}}},
      {"ExponentialOfHalfASteps",
       ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 0.5, .decay_rate = 0.5}),
       {{0, 0.1}, {1, 0.025}}},
      {"ExponentialOfTinySteps",
       ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 1e-280, .decay_rate = 0.5}),
       {{0, 0.1}, {1, 0}}},
      {"ExponentialOfHugeSteps",
       ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 1e300, .decay_rate = 0.5}),
       {{0, 0.1}, {kFar, 0.1}}},
      {"ExponentialOfRate1",
       ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 1e-280, .decay_rate = 1}),
       {{0, 0.1}, {kFar, 0.1}}},
      {"InverseTime",
       InverseTimeDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5}),
       {{0, 0.1}, {10, 0.1 / 1.5}, {kFar, 2e-15}}},
      {"InverseTimeOfRate0",
       InverseTimeDecay({.initial_learning_rate = 0.1, .decay_steps = 1e-280, .decay_rate = 0}),
       {{0, 0.1}, {kFar, 0.1}}},
      {"NaturalExp",
       NaturalExpDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .decay_rate = 0.5}),
       {{0, 0.1}, {10, 0.1 * std::exp(-0.5)}, {kFar, 0}}},
      {"NaturalExpOfRate0",
       NaturalExpDecay({.initial_learning_rate = 0.1, .decay_steps = 1e-280, .decay_rate = 0}),
       {{0, 0.1}, {kFar, 0.1}}},
      {"PiecewiseConstant",
       PiecewiseConstant({.boundaries = {0, 10}, .values = {1, 2, 3}}),
       {{0, 1}, {1, 2}, {10, 2}, {11, 3}, {kFar, 3}}},
      {"Polynomial",
       PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .end_learning_rate = 0.01}),
       {{0, 0.1}, {10, 0.01}, {11, 0.01}, {kFar, 0.01}}},
      {"PolynomialRoot",
       PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .end_learning_rate = 0.01, .power = 0.5}),
       {{0, 0.1}, {9, before_the_end}, {10, 0.01}, {kFar, 0.01}}},
      {"PolynomialCycle",
       PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .end_learning_rate = 0.01, .cycle = true}),
       {{0, 0.1}, {10, 0.01}, {11, 0.09 * 0.45 + 0.01}, {20, 0.01}, {kFar, 0.01}}},
      {"PolynomialRootCycle",
       PolynomialDecay(
           {.initial_learning_rate = 0.1, .decay_steps = 10, .end_learning_rate = 0.01, .power = 0.5, .cycle = true}),
       {{0, 0.1}, {10, 0.01}, {20, 0.01}, {30, 0.01}}},
  };
}

std::vector<ScheduleRow> CosineRows() {
  return {
      {"Cosine",
       CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10}),
       {{0, 0.1}, {5, 0.05}, {10, 0}, {kFar, 0}}},
      {"CosineToAShare",
       CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10, .alpha = 0.1}),
       {{0, 0.1}, {5, 0.055}, {10, 0.01}, {kFar, 0.01}}},
      {"CosineOfOneStep",
       CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 1, .alpha = 0.1}),
       {{0, 0.1}, {1, 0.01}, {2, 0.01}}},
      {"Restarts",
       CosineDecayRestarts({.initial_learning_rate = 0.1, .first_decay_steps = 10, .m_mul = 0.5}),
       {{0, 0.1}, {5, 0.05}, {10, 0.05}, {30, 0.025}, {70, 0.0125}}},
      {"EqualRestarts",
       CosineDecayRestarts({.initial_learning_rate = 0.1, .first_decay_steps = 10, .t_mul = 1, .m_mul = 0.5}),
       {{0, 0.1}, {10, 0.05}, {20, 0.025}, {30, 0.0125}}},
      {"OneCycle",
       OneCycle({.max_learning_rate = 0.1, .total_steps = 10}),
       {{0, 0.004}, {3, 0.1}, {10, 4e-7}, {kFar, 4e-7}}},
      {"OneCycleOfOneStep", OneCycle({.max_learning_rate = 0.1, .total_steps = 1}), {{0, 0.004}, {1, 4e-7}, {2, 4e-7}}},
      {"Warmup", LinearWarmup({.warmup_steps = 10, .then = 0.1}), {{0, 0}, {5, 0.05}, {10, 0.1}, {kFar, 0.1}}},
      {"WarmupThenCosine",
       LinearWarmup({.warmup_steps = 10, .then = CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 10})}),
       {{0, 0}, {10, 0.1}, {15, 0.05}, {20, 0}}},
  };
}

TEST(SingularPoints, OfSchedules) {
  std::vector<ScheduleRow> rows = DecayRows();
  for (ScheduleRow& row : CosineRows()) rows.push_back(std::move(row));
  auto build = [&](GraphBuilder& g) {
    for (const ScheduleRow& row : rows) g.Output(row.name, LearningRate(row.schedule).Build(&g));
  };
  absl::StatusOr<compiled::Program> program = compiled::Prepare(build, {.mode = "eval"});
  ASSERT_TRUE(program.ok()) << program.status();
  std::set<int64_t> steps;
  for (const ScheduleRow& row : rows) {
    for (const auto& entry : row.rates) steps.insert(entry.first);
  }
  size_t compared = 0, points = 0;
  for (const ScheduleRow& row : rows) points += row.rates.size();
  for (int64_t step : steps) {
    absl::StatusOr<StepResult> result = program->Run(compiled::Deal(*program, {}, {0}, step));
    ASSERT_TRUE(result.ok()) << result.status();
    for (size_t i = 0; i < result->outputs.size(); ++i) {
      const std::string& name = program->executable->index().outputs[i].name;
      for (const ScheduleRow& row : rows) {
        const auto rate = row.rates.find(step);
        if (row.name != name || rate == row.rates.end()) continue;
        const double got = *result->outputs[i].data<float>();
        EXPECT_TRUE(Agrees(got, rate->second, 1e-15))
            << name << " at step " << step << " is " << got << ", not " << rate->second;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, points);
}

}  // namespace
}  // namespace tandem::oracle

// Learning rates, compiled, against TensorFlow and NumPy (make_schedules.py).
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "base/env.h"
#include "estimator/checkpoint/safetensors.h"
#include "frontends/schedules.h"
#include "gtest/gtest.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using namespace schedules;  // NOLINT: what the test is about

// By name: the schedule of a row of options.
const std::map<std::string, std::function<Schedule(const double*)>>& All() {
  static const auto* all = new std::map<std::string, std::function<Schedule(const double*)>>{
      {"inverse_time",
       [](const double* o) {
         return InverseTimeDecay(
             {.initial_learning_rate = o[0], .decay_steps = o[1], .decay_rate = o[2], .staircase = o[3] != 0});
       }},
      {"natural_exp",
       [](const double* o) {
         return NaturalExpDecay(
             {.initial_learning_rate = o[0], .decay_steps = o[1], .decay_rate = o[2], .staircase = o[3] != 0});
       }},
      {"cosine_restarts",
       [](const double* o) {
         return CosineDecayRestarts(
             {.initial_learning_rate = o[0], .first_decay_steps = o[1], .t_mul = o[2], .m_mul = o[3], .alpha = o[4]});
       }},
      {"one_cycle",
       [](const double* o) {
         return OneCycle({.max_learning_rate = o[0],
                          .total_steps = o[1],
                          .rising_share = o[2],
                          .div_factor = o[3],
                          .final_div_factor = o[4]});
       }},
  };
  return *all;
}

TEST(SchedulesGoldenTest, RatesAreTensorFlowsAndNumPys) {
  absl::StatusOr<TensorMap> golden = ReadSafetensors(Env::Default(), "tests/golden/schedules.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status();
  const HostTensor& steps = golden->at("steps");
  auto build = [&](GraphBuilder& g) {
    for (const auto& [name, schedule] : All()) {
      const HostTensor& options = golden->at(name + "/options");
      for (int64_t i = 0; i < options.shape()[0]; ++i) {
        const double* row = options.data<double>() + i * options.shape()[1];
        g.Output(name + std::to_string(i), LearningRate(schedule(row)).Build(&g));
      }
    }
  };
  absl::StatusOr<Program> program = Prepare(build, {.mode = "eval"});
  ASSERT_TRUE(program.ok()) << program.status();
  int compared = 0;
  for (int64_t s = 0; s < steps.num_elements(); ++s) {
    const int64_t step = steps.data<int64_t>()[s];
    absl::StatusOr<StepResult> result = program->Run(Deal(*program, {}, {0}, step));
    ASSERT_TRUE(result.ok()) << result.status();
    for (size_t o = 0; o < result->outputs.size(); ++o) {
      const std::string& output = program->executable->index().outputs[o].name;
      const size_t digits = output.find_last_not_of("0123456789") + 1;
      const HostTensor& want = golden->at(output.substr(0, digits));
      const double rate = want.data<double>()[std::stoi(output.substr(digits)) * steps.num_elements() + s];
      EXPECT_NEAR(*result->outputs[o].data<float>(), rate, 1e-6 * std::max(rate, 1e-3)) << output << " step " << step;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 4 * 50 * steps.num_elements());
}

}  // namespace
}  // namespace tandem::compiled

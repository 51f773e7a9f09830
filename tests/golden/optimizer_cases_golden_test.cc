// 200 random cases of every optimizer, with groups, clipping and moving averages, compiled, against NumPy in float64
// (make_optimizer_cases.py), on one device and on three, of which the last has a short batch in every other step.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/moving_average_name.h"
#include "estimator/checkpoint/safetensors.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using namespace optimizers;  // NOLINT: what the test is about

constexpr int64_t kCases = 200, kSteps = 6;
constexpr int64_t kAtOnce = 25;  // cases in one program
constexpr int64_t kRows = 6;     // of a batch: 1 x 6 or 3 x 2

enum Group { kNone, kFactor, kRate, kDecay, kOwnClip, kFrozen, kAll };

// As CASE of make_optimizer_cases.py names the columns.
struct RandomCase {
  explicit RandomCase(const double* c)
      : kernel({static_cast<int64_t>(c[0]), static_cast<int64_t>(c[1])}),
        bias({static_cast<int64_t>(c[2])}),
        scale(std::exp2(c[3])),
        clip_norm(c[4] == 1 ? c[5] : 0),
        clip_value(c[4] == 2 ? c[5] : 0),
        excluded(c[6] != 0),
        group(static_cast<Group>(c[7])),
        factor(c[8]),
        rate(c[9]),
        decay(c[10]),
        group_limit(c[11]),
        average(static_cast<int>(c[12])),
        average_decay(c[13]),
        weight_decay(c[14]) {}

  int64_t kernel_size() const { return kernel[0] * kernel[1]; }
  int64_t size() const { return kernel_size() + bias[0]; }

  Shape kernel, bias;
  double scale, clip_norm, clip_value;
  bool excluded;
  Group group;
  double factor, rate, decay, group_limit;
  int average;
  double average_decay, weight_decay;
};

Optimizer Base(const std::string& name, const double* o, const RandomCase& c) {
  const double norm = c.clip_norm, value = c.clip_value, lr = o[0];
  const std::vector<std::string> exclude = c.excluded ? std::vector<std::string>{"bias"} : std::vector<std::string>();
  const std::map<std::string, std::function<Optimizer()>> all = {
      {"sgd", [&] { return SGD({.learning_rate = lr, .clip = {.global_norm = norm, .value = value}}); }},
      {"momentum",
       [&] {
         return Momentum({.learning_rate = lr,
                          .momentum = o[1],
                          .use_nesterov = o[2] != 0,
                          .clip = {.global_norm = norm, .value = value}});
       }},
      {"adam",
       [&] {
         return Adam({.learning_rate = lr,
                      .beta1 = o[1],
                      .beta2 = o[2],
                      .epsilon = o[3],
                      .clip = {.global_norm = norm, .value = value}});
       }},
      {"rmsprop",
       [&] {
         return RMSprop({.learning_rate = lr,
                         .rho = o[1],
                         .momentum = o[2],
                         .epsilon = o[3],
                         .epsilon_in_root = o[4] != 0,
                         .clip = {.global_norm = norm, .value = value}});
       }},
      {"adamw",
       [&] {
         return AdamW({.learning_rate = lr,
                       .weight_decay = c.weight_decay,
                       .beta1 = o[1],
                       .beta2 = o[2],
                       .epsilon = o[3],
                       .exclude = exclude,
                       .clip = {.global_norm = norm, .value = value}});
       }},
      {"adagrad",
       [&] {
         return Adagrad({.learning_rate = lr,
                         .initial_accumulator_value = o[1],
                         .epsilon = o[2],
                         .clip = {.global_norm = norm, .value = value}});
       }},
      {"adadelta",
       [&] {
         return Adadelta(
             {.learning_rate = lr, .rho = o[1], .epsilon = o[2], .clip = {.global_norm = norm, .value = value}});
       }},
      {"adamax",
       [&] {
         return Adamax({.learning_rate = lr,
                        .beta1 = o[1],
                        .beta2 = o[2],
                        .epsilon = o[3],
                        .clip = {.global_norm = norm, .value = value}});
       }},
      {"nadam",
       [&] {
         return Nadam({.learning_rate = lr,
                       .beta1 = o[1],
                       .beta2 = o[2],
                       .epsilon = o[3],
                       .clip = {.global_norm = norm, .value = value}});
       }},
      {"ftrl",
       [&] {
         return Ftrl({.learning_rate = lr,
                      .learning_rate_power = o[1],
                      .initial_accumulator_value = o[2],
                      .l1 = o[3],
                      .l2 = o[4],
                      .l2_shrinkage = o[5],
                      .beta = o[6],
                      .clip = {.global_norm = norm, .value = value}});
       }},
      {"lion",
       [&] {
         return Lion({.learning_rate = lr,
                      .weight_decay = c.weight_decay,
                      .beta1 = o[1],
                      .beta2 = o[2],
                      .exclude = exclude,
                      .clip = {.global_norm = norm, .value = value}});
       }},
      {"lamb",
       [&] {
         return LAMB({.learning_rate = lr,
                      .weight_decay = c.weight_decay,
                      .beta1 = o[1],
                      .beta2 = o[2],
                      .epsilon = o[3],
                      .exclude = exclude,
                      .clip = {.global_norm = norm, .value = value}});
       }},
      {"lars",
       [&] {
         return LARS({.learning_rate = lr,
                      .weight_decay = c.weight_decay,
                      .momentum = o[1],
                      .trust_coefficient = o[2],
                      .exclude = exclude,
                      .clip = {.global_norm = norm, .value = value}});
       }},
  };
  return all.at(name)();
}

Optimizer Make(const std::string& name, const double* options, const RandomCase& c, const std::string& scope) {
  Optimizer optimizer = Base(name, options, c);
  if (c.group != kNone) {
    GroupOptions group{.variables = scope + (c.group == kFrozen ? "/kernel" : "/bias")};
    group.frozen = c.group == kFrozen;
    if (c.group == kRate || c.group == kAll) group.learning_rate = c.rate;
    if (c.group == kFactor || c.group == kAll) group.learning_rate_factor = c.factor;
    if (c.group == kDecay || c.group == kAll) group.weight_decay = c.decay;
    if (c.group == kOwnClip) group.clip = ClipOptions{.value = c.group_limit};
    if (c.group == kAll) group.clip = ClipOptions{.global_norm = c.group_limit};
    optimizer = optimizer.WithGroup(group);
  }
  if (c.average == 0) return optimizer;
  return optimizer.WithMovingAverage({.decay = c.average_decay, .num_updates = c.average == 2});
}

std::string Scope(int64_t k) { return absl::StrCat("c", k); }

HostTensor RowsOfStep(const RandomCase& c, int64_t k, int64_t s) {
  const int64_t rows = kRows - s % 2;
  std::vector<float> x;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < c.size(); ++j) {
      const int64_t n = (37 * s + 11 * r + 7 * j + 13 * k) % 41 - 20;
      x.push_back(static_cast<float>(c.scale * (static_cast<double>(n) + 1.0 / 16) / 16));
    }
  }
  return HostTensor::FromVector<float>({rows, c.size()}, x);
}

std::vector<float> Start(const RandomCase& c, int64_t k) {
  std::vector<float> w;
  for (int64_t j = 0; j < c.size(); ++j) w.push_back(static_cast<float>((5 * j + 3 * k) % 17 - 8) / 8);
  return w;
}

class OptimizerCasesTest : public testing::TestWithParam<std::string> {};

void Compare(const std::string& name, int devices) {
  absl::StatusOr<TensorMap> golden = ReadSafetensors(Env::Default(), "tests/golden/optimizer_cases.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status();
  const HostTensor &options = golden->at(name + "/options"), &cases = golden->at(name + "/case");
  ASSERT_EQ(options.shape()[0], kCases);
  ASSERT_EQ(cases.shape()[0], kCases);
  std::vector<RandomCase> all;
  int64_t weights = 0;
  for (int64_t k = 0; k < kCases; ++k) {
    all.emplace_back(cases.data<double>() + k * cases.shape()[1]);
    weights += all.back().size();
  }
  const HostTensor& want = golden->at(name + "/weights");
  int64_t at = 0, average_at = weights, values = 0;  // in `want`; `values` were compared

  for (int64_t first = 0; first < kCases; first += kAtOnce) {
    auto build = [&](GraphBuilder& g) {
      for (int64_t k = first; k < first + kAtOnce; ++k) {
        const RandomCase& c = all[k];
        Tensor x = g.Input(Scope(k) + "_x", DType::kFloat32, {kBatch, c.size()});
        Tensor kernel = g.Variable({.name = Scope(k) + "/kernel", .shape = c.kernel});
        Tensor bias = g.Variable({.name = Scope(k) + "/bias", .shape = c.bias});
        Tensor w = Concat({Reshape(kernel, {c.kernel_size()}), bias}, 0);
        const double* o = options.data<double>() + k * options.shape()[1];
        Tensor loss = ReduceMean(ReduceSum(w * x, {1}));
        g.Output(Scope(k) + "_loss", loss);  // a frozen variable is in the program only where something reads it
        Make(name, o, c, Scope(k)).Minimize(loss, {.var_list = {kernel, bias}});
      }
    };
    absl::StatusOr<Program> program = Prepare(build, {.devices = devices, .batch = kRows / devices});
    ASSERT_TRUE(program.ok()) << program.status();
    for (int64_t k = first; k < first + kAtOnce; ++k) {
      const RandomCase& c = all[k];
      const std::vector<float> start = Start(c, k);
      const auto middle = start.begin() + c.kernel_size();
      const std::pair<const char*, HostTensor> variables[] = {
          {"/kernel", HostTensor::FromVector<float>(c.kernel, {start.begin(), middle})},
          {"/bias", HostTensor::FromVector<float>(c.bias, {middle, start.end()})}};
      for (const auto& [part, value] : variables) {
        const std::string variable = Scope(k) + part;
        ASSERT_TRUE(program->variables->Assign(variable, value).ok());
        if (!program->variables->Contains(MovingAverageName(variable))) continue;
        ASSERT_TRUE(program->variables->Assign(MovingAverageName(variable), value).ok());
      }
    }
    for (int64_t step = 0; step < kSteps; ++step) {
      TensorMap batch;
      for (int64_t k = first; k < first + kAtOnce; ++k) batch[Scope(k) + "_x"] = RowsOfStep(all[k], k, step);
      std::vector<int64_t> dealt;
      for (int64_t left = kRows - step % 2; dealt.size() < static_cast<size_t>(devices); left -= dealt.back()) {
        dealt.push_back(std::min(left, kRows / devices));
      }
      absl::StatusOr<StepResult> result = program->Run(Deal(*program, batch, dealt, step));
      ASSERT_TRUE(result.ok()) << result.status();
      ASSERT_TRUE(result->finite);
    }
    for (int64_t k = first; k < first + kAtOnce; ++k) {
      auto compare = [&](const std::string& variable, int64_t* position) {
        const absl::StatusOr<HostTensor> got = program->variables->Read(variable);
        ASSERT_TRUE(got.ok()) << got.status();
        for (int64_t i = 0; i < got->num_elements(); ++i, ++*position, ++values) {
          const double expected = want.data<double>()[*position];
          EXPECT_NEAR(got->data<float>()[i], expected, 2e-5 * (1 + std::abs(expected))) << variable << " " << i;
        }
      };
      for (const char* part : {"/kernel", "/bias"}) compare(Scope(k) + part, &at);
      for (const char* part : {"/kernel", "/bias"}) {
        const bool frozen = all[k].group == kFrozen && part == std::string("/kernel");
        if (all[k].average != 0 && !frozen) compare(MovingAverageName(Scope(k) + part), &average_at);
      }
    }
  }
  EXPECT_EQ(at, weights);
  EXPECT_EQ(average_at, want.num_elements());
  EXPECT_EQ(values, want.num_elements());
}

TEST_P(OptimizerCasesTest, AreNumPys) {
  for (int devices : {1, 3}) {
    SCOPED_TRACE(absl::StrCat(devices, " devices"));
    Compare(GetParam(), devices);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, OptimizerCasesTest,
                         testing::Values("sgd", "momentum", "adam", "rmsprop", "adamw", "adagrad", "adadelta", "adamax",
                                         "nadam", "ftrl", "lion", "lamb", "lars"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tandem::compiled

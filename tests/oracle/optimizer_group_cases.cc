#include "tests/oracle/optimizer_group_cases.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/optimizers.h"
#include "graph/graph_builder.h"
#include "tests/oracle/cover.h"

namespace tandem::oracle {
namespace {

using Group = OptimizerCase::Group;

// Biases are in one group and kernels in another, whatever else a model has.
std::function<Group(const std::string&)> ByName(Group biases, Group kernels, Group others = {}) {
  return [=](const std::string& variable) {
    return variable.ends_with("/bias") ? biases : variable.ends_with("/kernel") ? kernels : others;
  };
}

bool HasStatistics(const Tensor& loss) {
  for (const VariableSpec& spec : loss.graph()->variables()) {
    if (spec.name.ends_with("/moving_mean")) return true;
  }
  return false;
}

}  // namespace

std::vector<OptimizerCase> GroupCases() {
  auto with = [](std::string name, auto optimizer, double rate, ref::UpdateFn update, std::vector<std::string> slots,
                 std::function<Group(const std::string&)> group) {
    OptimizerCase c = CaseOf(std::move(name), optimizer, rate, std::move(update), std::move(slots));
    c.clips = true;
    c.group = std::move(group);
    return c;
  };
  return {
      with(
          "groups_of_rates",
          [](const ClipOptions& c) {
            const Optimizer halved = TD_COVER_METHOD(
                optimizers::Adam({.learning_rate = 0.02, .clip = {.global_norm = c.global_norm, .value = c.value}}),
                Optimizer, WithGroup, {.variables = ".*/bias", .learning_rate_factor = 0.5});
            return TD_COVER_METHOD(halved, Optimizer, WithGroup, {.variables = ".*/kernel", .learning_rate = 0.06});
          },
          0.02, ref::AdamUpdate(0.9, 0.999, 1e-8), {"/Adam", "/Adam_1"},
          ByName({.rate_factor = 0.5}, {.rate_factor = 3})),
      with(
          "groups_of_decay",
          [](const ClipOptions& c) {
            return TD_COVER_METHOD(
                optimizers::Momentum({.learning_rate = 0.1, .clip = {.global_norm = c.global_norm, .value = c.value}}),
                Optimizer, WithGroup, {.variables = ".*/kernel", .weight_decay = 0.4});
          },
          0.1, ref::DescendWithMomentum(0.9, false), {"/Momentum"}, ByName({}, {.decay = 0.4})),
      with(
          "groups_of_own_decay",
          [](const ClipOptions& c) {
            return optimizers::AdamW({.learning_rate = 0.02,
                                      .weight_decay = 0.3,
                                      .clip = {.global_norm = c.global_norm, .value = c.value}})
                .WithGroup({.variables = ".*/bias", .weight_decay = 0.7})
                .WithGroup({.variables = ".*/kernel", .weight_decay = 0});
          },
          0.02, ref::AdamUpdate(0.9, 0.999, 1e-7), {"/AdamW", "/AdamW_1"}, ByName({.decay = 0.7}, {}, {.decay = 0.3})),
      with(
          "groups_of_clipping",
          [](const ClipOptions& c) {
            const Optimizer by_norm = TD_COVER_METHOD(
                optimizers::SGD({.learning_rate = 0.2, .clip = {.global_norm = c.global_norm, .value = c.value}}),
                Optimizer, WithGroup, {.variables = ".*/kernel", .clip = ClipOptions{.global_norm = kClipNorm}});
            return by_norm.WithGroup({.variables = ".*/bias", .clip = ClipOptions{}});
          },
          0.2, ref::Descend(), {},
          ByName({.clip = ClipOptions{}, .part = 1}, {.clip = ClipOptions{.global_norm = kClipNorm}, .part = 2},
                 {.part = 3})),
      with(
          "group_frozen",
          [](const ClipOptions& c) {
            return TD_COVER_METHOD(
                optimizers::Adam({.learning_rate = 0.02, .clip = {.global_norm = c.global_norm, .value = c.value}}),
                Optimizer, WithGroup, {.variables = ".*/bias", .frozen = true});
          },
          0.02, ref::AdamUpdate(0.9, 0.999, 1e-8), {"/Adam", "/Adam_1"}, ByName({.frozen = true}, {})),
  };
}

std::vector<OptimizerCase> FactorCases() {
  return {{.name = "gradient_factor",
           .minimize =
               [](const Tensor& loss, const ClipOptions& c) {
                 const Optimizer momentum = optimizers::Momentum(
                     {.learning_rate = 0.1, .clip = {.global_norm = c.global_norm, .value = c.value}});
                 return TD_COVER_METHOD(momentum, Optimizer, WithGradientFactor, 3.0).Minimize(loss);
               },
           .rate = Constant(0.1),
           .update = ref::DescendWithMomentum(0.9, false),
           .slots = {"/Momentum"},
           .clips = true,
           .treat =
               [](ref::Gradients& g) {
                 for (auto& [name, gradient] : g) {
                   for (double& v : gradient) v *= 3;
                 }
               }}};
}

std::vector<OptimizerCase> AverageCases() {
  return {
      {.name = "moving_average",
       .minimize =
           [](const Tensor& loss, const ClipOptions& c) {
             const optimizers::AdamOptions adam{.learning_rate = 0.05,
                                                .clip = {.global_norm = c.global_norm, .value = c.value}};
             return TD_COVER_METHOD(optimizers::Adam(adam), Optimizer, WithMovingAverage, {.decay = 0.7})
                 .Minimize(loss);
           },
       .rate = Constant(0.05),
       .update = ref::AdamUpdate(0.9, 0.999, 1e-8),
       .slots = {"/Adam", "/Adam_1"},
       .clips = true,
       .average_decay = Constant(0.7)},
      {.name = "moving_average_of_all",
       .minimize =
           [](const Tensor& loss, const ClipOptions& c) {
             const optimizers::GradientDescentOptions sgd{.learning_rate = 0.2,
                                                          .clip = {.global_norm = c.global_norm, .value = c.value}};
             return TD_COVER_METHOD(optimizers::SGD(sgd), Optimizer, WithMovingAverage,
                                    {.decay = 0.24,
                                     .num_updates = true,
                                     .also = HasStatistics(loss) ? ".*/moving_(mean|variance)" : ""})
                 .Minimize(loss);
           },
       .rate = Constant(0.2),
       .update = ref::Descend(),
       .clips = true,
       .average_decay =
           [](int64_t step) {
             const double t = static_cast<double>(step) + 1;
             return std::min(0.24, (1 + t) / (10 + t));
           },
       .average_statistics = true},
  };
}

}  // namespace tandem::oracle

#include "tests/oracle/optimizer_cases.h"

#include <algorithm>
#include <utility>

#include "frontends/optimizers.h"
#include "frontends/schedules.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"
#include "tests/oracle/cover.h"
#include "tests/oracle/optimizer_group_cases.h"

namespace tandem::oracle {
namespace {

using RateFn = std::function<double(int64_t)>;

std::vector<OptimizerCase> MainCases() {
  auto main = [](std::string name, auto optimizer, double rate, ref::UpdateFn update, std::vector<std::string> slots) {
    OptimizerCase c = CaseOf(std::move(name), optimizer, rate, std::move(update), std::move(slots));
    c.main = true;
    return c;
  };
  return {
      main("gradient_descent",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::GradientDescent,
                             {.learning_rate = 0.2, .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.2, ref::Descend(), {}),
      main("momentum",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Momentum,
                             {.learning_rate = 0.1, .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.1, ref::DescendWithMomentum(0.9, false), {"/Momentum"}),
      main("nesterov",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Momentum, {.learning_rate = 0.1,
                                                    .momentum = 0.7,
                                                    .use_nesterov = true,
                                                    .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.1, ref::DescendWithMomentum(0.7, true), {"/Momentum"}),
      main("adam",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Adam,
                             {.learning_rate = 0.02, .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::AdamUpdate(0.9, 0.999, 1e-8), {"/Adam", "/Adam_1"}),
      main("rmsprop",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::RMSprop,
                             {.learning_rate = 0.02, .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::RmsPropUpdate(0.9, 0, 1e-7), {"/RMSProp"}),
      main("rmsprop_momentum",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::RMSprop, {.learning_rate = 0.02,
                                                   .rho = 0.8,
                                                   .momentum = 0.6,
                                                   .epsilon = 1e-3,
                                                   .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::RmsPropUpdate(0.8, 0.6, 1e-3), {"/RMSProp", "/RMSProp_1"}),
  };
}

// Those that meet three models only.
std::vector<OptimizerCase> AdaptiveCases() {
  auto with = [](std::string name, auto optimizer, double rate, ref::UpdateFn update, std::vector<std::string> slots,
                 ref::ScaleFn scale = {}) {
    OptimizerCase c = CaseOf(std::move(name), optimizer, rate, std::move(update), std::move(slots));
    c.clips = true;
    c.scale = std::move(scale);
    return c;
  };
  return {
      with("rmsprop_epsilon_in_root",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::RMSprop, {.learning_rate = 0.02,
                                                   .rho = 0.8,
                                                   .momentum = 0.6,
                                                   .epsilon = 1e-3,
                                                   .epsilon_in_root = true,
                                                   .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::RmsPropUpdate(0.8, 0.6, 1e-3, true), {"/RMSProp", "/RMSProp_1"}),
      with("adamw",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::AdamW, {.learning_rate = 0.02,
                                                 .weight_decay = 0.3,
                                                 .beta1 = 0.8,
                                                 .beta2 = 0.9,
                                                 .epsilon = 1e-3,
                                                 .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::AdamWUpdate(0.8, 0.9, 1e-3, 0.3), {"/AdamW", "/AdamW_1"}),
      with("adamw_excluded",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::AdamW, {.learning_rate = 0.02,
                                                 .exclude = {"e", "a"},
                                                 .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::AdamUpdate(0.9, 0.999, 1e-7), {"/AdamW", "/AdamW_1"}),
      with("adagrad",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Adagrad, {.learning_rate = 0.1,
                                                   .initial_accumulator_value = 0.2,
                                                   .epsilon = 1e-3,
                                                   .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.1, ref::AdagradUpdate(1e-3), {"/Adagrad"}),
      with("adadelta",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Adadelta, {.learning_rate = 0.5,
                                                    .rho = 0.8,
                                                    .epsilon = 1e-3,
                                                    .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.5, ref::AdadeltaUpdate(0.8, 1e-3), {"/Adadelta", "/Adadelta_1"}),
      with("adamax",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Adamax, {.learning_rate = 0.02,
                                                  .beta1 = 0.8,
                                                  .beta2 = 0.9,
                                                  .epsilon = 1e-3,
                                                  .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::AdamaxUpdate(0.8, 0.9, 1e-3), {"/Adamax", "/Adamax_1"}),
      with("nadam",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Nadam, {.learning_rate = 0.02,
                                                 .beta1 = 0.8,
                                                 .beta2 = 0.9,
                                                 .epsilon = 1e-3,
                                                 .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.02, ref::NadamUpdate(0.8, 0.9, 1e-3), {"/Nadam", "/Nadam_1", "/Nadam_2"}),
      with("ftrl",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Ftrl, {.learning_rate = 0.3,
                                                .initial_accumulator_value = 0.2,
                                                .l1 = 0.01,
                                                .l2 = 0.02,
                                                .l2_shrinkage = 0.1,
                                                .beta = 0.1,
                                                .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.3, ref::FtrlUpdate({.l1 = 0.01, .l2 = 0.02, .l2_shrinkage = 0.1, .beta = 0.1}), {"/Ftrl", "/Ftrl_1"}),
      with("ftrl_power",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Ftrl, {.learning_rate = 0.3,
                                                .learning_rate_power = -0.7,
                                                .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.3, ref::FtrlUpdate({.power = 0.7}), {"/Ftrl", "/Ftrl_1"}),
      with("lion",
           [](const ClipOptions& c) {
             return TD_COVER(optimizers::Lion, {.learning_rate = 0.01,
                                                .weight_decay = 0.2,
                                                .beta1 = 0.8,
                                                .beta2 = 0.7,
                                                .exclude = {"no such name"},
                                                .clip = {.global_norm = c.global_norm, .value = c.value}});
           },
           0.01, ref::LionUpdate(0.8, 0.7, 0.2), {"/Lion"}),
      with(
          "lamb",
          [](const ClipOptions& c) {
            return TD_COVER(optimizers::LAMB, {.learning_rate = 0.05,
                                               .weight_decay = 0.2,
                                               .beta1 = 0.8,
                                               .beta2 = 0.9,
                                               .epsilon = 1e-2,
                                               .exclude = {"no such name"},
                                               .clip = {.global_norm = c.global_norm, .value = c.value}});
          },
          0.05, ref::LambUpdate(0.8, 0.9, 1e-2, 0.2), {"/LAMB", "/LAMB_1"}, ref::LambScale(0.8, 0.9, 1e-2, 0.2)),
      with(
          "lars",
          [](const ClipOptions& c) {
            return TD_COVER(optimizers::LARS, {.learning_rate = 0.5,
                                               .weight_decay = 0.2,
                                               .momentum = 0.8,
                                               .trust_coefficient = 0.1,
                                               .exclude = {"no such name"},
                                               .clip = {.global_norm = c.global_norm, .value = c.value}});
          },
          0.5, ref::LarsUpdate(0.8, 0.2), {"/LARS"}, ref::LarsScale(0.1, 0.2)),
  };
}

// Two of the three steps of a case are beyond the first period or boundary.
std::vector<OptimizerCase> ScheduleCases() {
  auto descend = [](std::string name, std::function<Schedule()> schedule, RateFn rate) {
    return OptimizerCase{
        .name = std::move(name),
        .minimize =
            [schedule](const Tensor& loss, const ClipOptions& c) {
              return TD_COVER(optimizers::SGD,
                              {.learning_rate = schedule(), .clip = {.global_norm = c.global_norm, .value = c.value}})
                  .Minimize(loss);
            },
        .rate = std::move(rate),
        .update = ref::Descend()};
  };
  const std::vector<double> boundaries = {0, 1}, values = {0.5, 0.2, 0.1};
  return {
      descend(
          "exponential_decay",
          [] {
            return TD_COVER(schedules::ExponentialDecay,
                            {.initial_learning_rate = 0.4, .decay_steps = 1.5, .decay_rate = 0.5});
          },
          [](int64_t s) { return ref::ExponentialDecayAt(s, 0.4, 1.5, 0.5, false); }),
      descend(
          "exponential_decay_staircase",
          [] {
            return TD_COVER(schedules::ExponentialDecay,
                            {.initial_learning_rate = 0.1, .decay_steps = 2, .decay_rate = 0.3, .staircase = true});
          },
          [](int64_t s) { return ref::ExponentialDecayAt(s, 0.1, 2, 0.3, true); }),
      descend(
          "piecewise_constant",
          [=] { return TD_COVER(schedules::PiecewiseConstant, {.boundaries = boundaries, .values = values}); },
          [=](int64_t s) { return ref::PiecewiseConstantAt(s, boundaries, values); }),
      descend(
          "polynomial_decay",
          [] {
            return TD_COVER(schedules::PolynomialDecay,
                            {.initial_learning_rate = 0.5, .decay_steps = 1.6, .end_learning_rate = 0.1, .power = 2});
          },
          [](int64_t s) { return ref::PolynomialDecayAt(s, 0.5, 1.6, 0.1, 2, false); }),
      descend(
          "polynomial_decay_cycle",
          [] {
            return TD_COVER(schedules::PolynomialDecay,
                            {.initial_learning_rate = 0.1, .decay_steps = 1.5, .cycle = true});
          },
          [](int64_t s) { return ref::PolynomialDecayAt(s, 0.1, 1.5, 1e-4, 1, true); }),
      descend(
          "cosine_decay",
          [] {
            return TD_COVER(schedules::CosineDecay, {.initial_learning_rate = 0.6, .decay_steps = 1.7, .alpha = 0.2});
          },
          [](int64_t s) { return ref::CosineDecayAt(s, 0.6, 1.7, 0.2); }),
      descend(
          "inverse_time_decay",
          [] {
            return TD_COVER(schedules::InverseTimeDecay,
                            {.initial_learning_rate = 0.4, .decay_steps = 1.5, .decay_rate = 0.7});
          },
          [](int64_t s) { return ref::InverseTimeDecayAt(s, 0.4, 1.5, 0.7, false); }),
      descend(
          "inverse_time_decay_staircase",
          [] {
            return TD_COVER(schedules::InverseTimeDecay,
                            {.initial_learning_rate = 0.1, .decay_steps = 1.5, .staircase = true});
          },
          [](int64_t s) { return ref::InverseTimeDecayAt(s, 0.1, 1.5, 0.5, true); }),
      descend(
          "natural_exp_decay",
          [] {
            return TD_COVER(schedules::NaturalExpDecay,
                            {.initial_learning_rate = 0.1, .decay_steps = 1.5, .staircase = true});
          },
          [](int64_t s) { return ref::NaturalExpDecayAt(s, 0.1, 1.5, 0.5, true); }),
      descend(
          "natural_exp_decay_smooth",
          [] {
            return TD_COVER(schedules::NaturalExpDecay,
                            {.initial_learning_rate = 0.4, .decay_steps = 1.5, .decay_rate = 0.7});
          },
          [](int64_t s) { return ref::NaturalExpDecayAt(s, 0.4, 1.5, 0.7, false); }),
      descend(
          "cosine_decay_restarts",
          [] {
            return TD_COVER(
                schedules::CosineDecayRestarts,
                {.initial_learning_rate = 0.6, .first_decay_steps = 1.2, .t_mul = 1.5, .m_mul = 0.8, .alpha = 0.1});
          },
          [](int64_t s) { return ref::CosineDecayRestartsAt(s, 0.6, 1.2, 1.5, 0.8, 0.1); }),
      descend(
          "one_cycle",
          [] {
            return TD_COVER(schedules::OneCycle, {.max_learning_rate = 0.5,
                                                  .total_steps = 3,
                                                  .rising_share = 0.4,
                                                  .div_factor = 5,
                                                  .final_div_factor = 10});
          },
          [](int64_t s) { return ref::OneCycleAt(s, 0.5, 3, 0.4, 5, 10); }),
      descend(
          "linear_warmup",
          [] {
            return TD_COVER(schedules::LinearWarmup,
                            {.warmup_steps = 1.5,
                             .start_factor = 0.25,
                             .then = schedules::CosineDecay({.initial_learning_rate = 0.6, .decay_steps = 3})});
          },
          [](int64_t s) {
            return ref::LinearWarmupAt(s, 1.5, 0.25, [](double t) { return ref::CosineDecayAt(t, 0.6, 3, 0); });
          }),
  };
}

// A model_fn that treats the gradients between the two halves of Minimize.
OptimizerCase ByHand(std::string name, std::function<std::vector<Tensor>(const std::vector<Tensor>&)> treat,
                     std::function<void(ref::Gradients&)> reference) {
  return {.name = std::move(name),
          .minimize =
              [treat](const Tensor& loss, const ClipOptions& c) {
                const Optimizer optimizer = optimizers::Momentum(
                    {.learning_rate = 0.3, .clip = {.global_norm = c.global_norm, .value = c.value}});
                std::vector<GradientAndVariable> pairs = optimizer.ComputeGradients(loss);
                std::vector<Tensor> gradients;
                for (const GradientAndVariable& pair : pairs) gradients.push_back(pair.gradient);
                gradients = treat(gradients);
                for (size_t i = 0; i < pairs.size(); ++i) pairs[i].gradient = gradients[i];
                return optimizer.ApplyGradients(pairs);
              },
          .rate = Constant(0.3),
          .update = ref::DescendWithMomentum(0.9, false),
          .slots = {"/Momentum"},
          .treat = std::move(reference)};
}

std::vector<OptimizerCase> OtherCases() {
  using Tensors = std::vector<Tensor>;
  return {
      {.name = "adam_options",
       .minimize =
           [](const Tensor& loss, const ClipOptions& c) {
             return TD_COVER(optimizers::Adam, {.learning_rate = 0.05,
                                                .beta1 = 0.6,
                                                .beta2 = 0.8,
                                                .epsilon = 0.01,
                                                .clip = {.global_norm = c.global_norm, .value = c.value}})
                 .Minimize(loss);
           },
       .rate = Constant(0.05),
       .update = ref::AdamUpdate(0.6, 0.8, 0.01),
       .slots = {"/Adam", "/Adam_1"}},
      {.name = "first_variable_only",
       .minimize =
           [](const Tensor& loss, const ClipOptions& c) {
             return optimizers::Adam({.learning_rate = 0.05, .clip = {.global_norm = c.global_norm, .value = c.value}})
                 .Minimize(loss, {.var_list = {loss.graph()->trainable_variables()[0]}});
           },
       .rate = Constant(0.05),
       .update = ref::AdamUpdate(0.9, 0.999, 1e-8),
       .slots = {"/Adam", "/Adam_1"},
       .first_variable_only = true},
      ByHand(
          "clip_by_global_norm_by_hand", [](const Tensors& g) { return TD_COVER(ClipByGlobalNorm, g, kClipNorm); },
          [](ref::Gradients& g) { ref::ClipByGlobalNorm(g, kClipNorm); }),
      ByHand(
          "clip_by_value_by_hand",
          [](const Tensors& g) {
            Tensors clipped;
            for (const Tensor& t : g) clipped.push_back(ClipByValue(t, -kClipValue, kClipValue));
            return clipped;
          },
          [](ref::Gradients& g) { ref::ClipByValue(g, kClipValue); }),
      ByHand(
          "clip_gradients_by_hand",
          [](const Tensors& g) { return TD_COVER(ClipGradients, g, {.global_norm = kClipNorm}); },
          [](ref::Gradients& g) { ref::ClipByGlobalNorm(g, kClipNorm); }),
      ByHand(
          "clip_gradients_by_value_by_hand",
          [](const Tensors& g) { return TD_COVER(ClipGradients, g, {.value = kClipValue}); },
          [](ref::Gradients& g) { ref::ClipByValue(g, kClipValue); }),
      ByHand(
          "clip_gradients_by_norm_by_hand",
          [](const Tensors& g) { return TD_COVER(ClipGradients, g, {.norm = kClipNorm}); },
          [](ref::Gradients& g) { ref::ClipByNorm(g, kClipNorm); }),
      ByHand(
          "divide_by_global_norm",
          [](const Tensors& g) {
            Tensor norm = TD_COVER(GlobalNorm, g) + 0.1;
            Tensors divided;
            for (const Tensor& t : g) divided.push_back(t.ok() ? t / norm : t);
            return divided;
          },
          [](ref::Gradients& g) {
            const double norm = ref::GlobalNorm(g) + 0.1;
            for (auto& [name, gradient] : g) {
              for (double& v : gradient) v /= norm;
            }
          }),
  };
}

}  // namespace

const std::vector<OptimizerCase>& OptimizerCases() {
  static const auto* cases = [] {
    auto* all = new std::vector<OptimizerCase>;
    for (auto part : {MainCases, AdaptiveCases, ScheduleCases, OtherCases, GroupCases, FactorCases, AverageCases}) {
      for (OptimizerCase& c : part()) all->push_back(std::move(c));
    }
    return all;
  }();
  return *cases;
}

const std::vector<ClipCase>& ClipCases() {
  static const auto* cases = new std::vector<ClipCase>{
      {"no_clipping", {}}, {"global_norm", {.global_norm = kClipNorm}}, {"by_value", {.value = kClipValue}}};
  return *cases;
}

}  // namespace tandem::oracle

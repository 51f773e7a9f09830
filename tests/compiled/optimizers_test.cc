// Every optimizer and every schedule of the learning rate, compiled and in the reference interpreter.
#include "frontends/optimizers.h"

#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/schedules.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

Tensor Loss(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 7});
  x = layers::Dense(x, {.units = 9, .activation = Tanh});
  x = layers::Dense(x, {.units = 4});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), x);
  g.Output("loss", loss);
  return loss;
}

// The moments' rounding is divided by their root: a small gradient's update is known less well.
Case With(const char* name, const Optimizer& optimizer, Options options = {.devices = 2, .steps = 3}) {
  return {name, [=](GraphBuilder& g) { optimizer.Minimize(Loss(g)); }, options};
}

Case Scheduled(const char* name, const Schedule& schedule) {
  return With(name, optimizers::SGD({.learning_rate = schedule}), {.devices = 1, .steps = 6});
}

std::vector<Case> Cases() {
  using namespace optimizers;  // NOLINT
  return {
      With("Sgd", GradientDescent({.learning_rate = 0.5})),
      With("SgdClipValue", SGD({.learning_rate = 0.5, .clip = {.value = 0.01}})),
      With("SgdClipGlobalNorm", SGD({.learning_rate = 0.5, .clip = {.global_norm = 0.1}})),
      With("SgdClipNothing", SGD({.learning_rate = 0.5, .clip = {.global_norm = 1e6}})),
      With("Momentum", Momentum({.learning_rate = 0.5})),
      With("Nesterov", Momentum({.learning_rate = 0.5, .use_nesterov = true, .clip = {.global_norm = 0.2}})),
      With("Adam", Adam({.learning_rate = 0.1})),
      With("AdamClipValue", Adam({.learning_rate = 0.1, .epsilon = 1e-3, .clip = {.value = 0.02}})),
      With("RmsProp", RMSprop({.learning_rate = 0.1})),
      With("RmsPropMomentum", RMSprop({.learning_rate = 0.1, .momentum = 0.8, .clip = {.global_norm = 0.2}})),
      Scheduled("ExponentialDecay",
                schedules::ExponentialDecay({.initial_learning_rate = 0.1, .decay_steps = 3, .decay_rate = 0.5})),
      Scheduled("Staircase",
                schedules::ExponentialDecay(
                    {.initial_learning_rate = 0.1, .decay_steps = 2, .decay_rate = 0.5, .staircase = true})),
      Scheduled("PiecewiseConstant", schedules::PiecewiseConstant({.boundaries = {1, 3}, .values = {0.5, 0.2, 0.1}})),
      Scheduled("PolynomialDecay",
                schedules::PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 4, .power = 2})),
      Scheduled("PolynomialDecayCycle",
                schedules::PolynomialDecay({.initial_learning_rate = 0.1, .decay_steps = 2, .cycle = true})),
      Scheduled("CosineDecay", schedules::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 4, .alpha = 0.1})),
      Scheduled(
          "LinearWarmup",
          schedules::LinearWarmup({.warmup_steps = 3,
                                   .start_factor = 0.25,
                                   .then = schedules::CosineDecay({.initial_learning_rate = 0.1, .decay_steps = 3})})),
      With("AdamScheduled", Adam({.learning_rate = schedules::ExponentialDecay(
                                      {.initial_learning_rate = 0.1, .decay_steps = 3, .decay_rate = 0.5})})),
      {"SomeVariables",
       [](GraphBuilder& g) {
         Tensor loss = Loss(g);
         Adam({.learning_rate = 0.1}).Minimize(loss, {.var_list = {g.trainable_variables()[2]}});
       }},
      {"GradientsOfTwoKinds",
       [](GraphBuilder& g) {
         // Half of the gradients sum over the batch, the other half come from the penalty only.
         Tensor x = g.Input("x", DType::kFloat32, {kBatch, 7});
         Tensor w = g.Variable({.name = "w", .shape = {7}, .initializer = {Initializer::Kind::kConstant, 0.5, 0}});
         Tensor v = g.Variable({.name = "v", .shape = {3}, .initializer = {Initializer::Kind::kConstant, 0.5, 0}});
         Tensor loss = ReduceMean(Square(ReduceSum(x * w, {1}) - 1.0)) + ReduceSum(Square(v));
         RMSprop({.learning_rate = 0.1, .clip = {.global_norm = 0.5}}).Minimize(loss);
       },
       {.devices = 3, .batch = 5}},
      {"GradientsTreatedByHand",
       [](GraphBuilder& g) {
         Optimizer optimizer = Momentum({.learning_rate = 0.1});
         std::vector<GradientAndVariable> gradients = optimizer.ComputeGradients(Loss(g));
         for (GradientAndVariable& pair : gradients) {
           g.Output("norm_" + std::to_string(&pair - gradients.data()), ReduceSum(Square(pair.gradient)));
           pair.gradient = Tanh(pair.gradient * 2.0);
         }
         optimizer.ApplyGradients(gradients);
       },
       {.devices = 2}},
  };
}

class Optimizers : public testing::TestWithParam<Case> {};
TEST_P(Optimizers, AgreeWithTheReference) { ASSERT_NO_FATAL_FAILURE(CompareWithReference(GetParam())); }
INSTANTIATE_TEST_SUITE_P(All, Optimizers, testing::ValuesIn(Cases()), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tandem::compiled

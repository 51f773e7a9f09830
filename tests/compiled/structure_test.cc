// What a graph may look like around its layers: data movement, outputs, assignments, reductions; compiled and in the
// reference interpreter.
#include <string>
#include <vector>

#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

Tensor X(GraphBuilder& g, const Shape& shape = {kBatch, 6}) { return g.Input("x", DType::kFloat32, shape); }

Tensor Var(GraphBuilder& g, const char* name, const Shape& shape, bool trainable = true) {
  return g.Variable(
      {.name = name, .shape = shape, .initializer = {Initializer::Kind::kUniform, -1, 1}, .trainable = trainable});
}

void Sgd(const Tensor& loss) {
  loss.graph()->Output("loss", loss);
  optimizers::SGD({.learning_rate = 0.5}).Minimize(loss);
}

HostTensor Row(int64_t n) {
  HostTensor row(DType::kFloat32, {n});
  for (int64_t i = 0; i < n; ++i) row.data<float>()[i] = 0.25f * static_cast<float>(i) - 0.4f;
  return row;
}

std::vector<Case> DataMovement() {
  return {
      {"GatherFromVariable",
       [](GraphBuilder& g) {
         Tensor rows = Gather(Var(g, "table", {4, 6}), g.Input("index", DType::kInt32, {kBatch}));
         Sgd(ReduceMean(Square(rows - X(g))));
       },
       {.devices = 2}},
      {"GatherSequences",
       [](GraphBuilder& g) {
         Tensor rows = Gather(Var(g, "table", {4, 5}), g.Input("index", DType::kInt64, {kBatch, 3}));
         g.Output("rows", rows);
         Sgd(ReduceMean(Square(ReduceSum(rows, {1}) - 1.0)));
       },
       {.devices = 2, .rows = {9, 4}}},
      {"OneHot",
       [](GraphBuilder& g) {
         Tensor hot = OneHot(g.Input("index", DType::kInt32, {kBatch}), 5);
         g.Output("hot", hot);
         Sgd(ReduceMean(Square(MatMul(hot, Var(g, "w", {5, 6})) - X(g))));
       },
       {.ranges = {{"index", {-1, 6}}}}},  // outside: a row of zeros
      {"ConcatSlicePad",
       [](GraphBuilder& g) {
         Tensor x = X(g), w = Var(g, "w", {6});
         Tensor both = Concat({x * w, Pad(Slice(Tanh(x + w), {0, 1}, {kBatch, 3}), {0, 2}, {0, 1}, 0.5), x}, 1);
         g.Output("both", both);
         Sgd(ReduceMean(Square(both)));
       }},
      {"ConcatVariables",
       [](GraphBuilder& g) {
         Tensor w = Concat({Var(g, "a", {2, 4}), Var(g, "b", {4, 4})}, 0);
         Sgd(ReduceMean(Square(MatMul(X(g), w) - 1.0)));
       },
       {.devices = 2}},
      {"DropoutOfAVariable",
       [](GraphBuilder& g) {
         Tensor w = layers::Dropout(Var(g, "w", {6, 3}), {.rate = 0.5, .training = true});
         g.Output("dropped", w);
         Sgd(ReduceMean(Square(MatMul(X(g), w) - 1.0)));
       },
       {.devices = 2}},
      {"TransposeInner",
       [](GraphBuilder& g) {
         Tensor x = Transpose(X(g, {kBatch, 2, 3, 4}), {0, 3, 1, 2});
         g.Output("transposed", x);
         Sgd(ReduceMean(Square(ReduceSum(x * Var(g, "w", {4, 2, 3}), {2, 3}) - 1.0)));
       }},
      {"TransposeVariable",
       [](GraphBuilder& g) {
         Tensor w = Var(g, "w", {5, 6});
         g.Output("transposed", Transpose(w, {1, 0}));
         Sgd(ReduceMean(Square(MatMul(X(g), Transpose(w, {1, 0})))));
       }},
      {"ReshapeInput",
       [](GraphBuilder& g) {
         Tensor flat = layers::Flatten(X(g, {kBatch, 3, 4}));
         g.Output("flat", flat);
         Sgd(ReduceMean(Square(layers::Dense(flat, {.units = 3}) - 1.0)));
       },
       {.devices = 2, .rows = {16, 3}}},
      {"ReshapeVariable",
       [](GraphBuilder& g) {
         Tensor w = Var(g, "w", {2, 3, 5});
         g.Output("reshaped", Reshape(w, {5, 6}));
         Sgd(ReduceMean(Square(MatMul(X(g), Reshape(w, {6, 5})) - 1.0)));
       }},
      {"ReshapeScalar",
       [](GraphBuilder& g) {
         Tensor step = Cast(g.StepScalar("global_step", DType::kInt64), DType::kFloat32);
         g.Output("step", Reshape(g.StepScalar("rate", DType::kFloat32, 0.5), {1, 1}));
         g.Output("next", Reshape(step, {1}) + 1.0);
       }},
      {"ReshapeBatchVector",
       [](GraphBuilder& g) {
         Tensor x = g.Input("x", DType::kFloat32, {kBatch});
         g.Output("column", Reshape(x, {kBatch, 1}));
         Sgd(ReduceMean(Square(MatMul(Reshape(x, {kBatch, 1}), Var(g, "w", {1, 4})))));
       },
       {.devices = 2, .batch = 9}},
      {"ArgMaxEverywhere",
       [](GraphBuilder& g) {
         Tensor x = X(g, {kBatch, 3, 4});
         g.Output("last", ArgMax(x, -1));
         g.Output("inner", ArgMax(x, 1));
         g.Output("of_variable", ArgMax(Var(g, "w", {4, 3}), 0));
       }},
      {"IntegersAndBooleans",
       [](GraphBuilder& g) {
         Tensor n = g.Input("n", DType::kInt32, {kBatch, 3}), b = g.Input("b", DType::kBool, {kBatch, 3});
         Tensor u = g.Input("u", DType::kUInt8, {kBatch, 3}), l = g.Input("l", DType::kInt64, {kBatch, 3});
         g.Output("sum", ReduceSum(n * n - n));
         g.Output("rows", ReduceSum(Cast(And(b, Greater(n, Cast(u, DType::kInt32))), DType::kInt64) * l, {1}));
         g.Output("select", Select(b, n, -n));
         g.Output("not", Not(b));
         g.Output("scaled", Cast(u, DType::kFloat32) / 255.0);
       },
       {.devices = 2, .ranges = {{"u", {0, 255}}, {"n", {-9, 9}}}}},
      {"Float64",
       [](GraphBuilder& g) {
         Tensor x = g.Input("x", DType::kFloat64, {kBatch, 4});
         g.Output("mean", ReduceMean(Exp(x)));
         g.Output("row", ReduceSum(Tanh(x) * x, {1}));
       },
       {.devices = 2}},
      {"Embedding",
       [](GraphBuilder& g) {
         // The gather's gradient, a matmul and a reduction over an inner axis meet in one map.
         Tensor rows = Gather(Var(g, "table", {4, 8}), g.Input("index", DType::kInt32, {kBatch, 5}));
         Tensor logits = layers::Dense(ReduceMean(rows, {1}), {.units = 4});
         Sgd(losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), logits));
       },
       {.devices = 2}},
  };
}

std::vector<Case> OutputsAndAssignments() {
  return {
      {"InputsVariablesConstants",
       [](GraphBuilder& g) {
         Tensor x = X(g), w = Var(g, "w", {6});
         g.Output("x", x);
         g.Output("x_again", x);
         g.Output("w_value", w);
         g.Output("constant", g.Constant(2.5f));
         g.Output("row", g.Constant(Row(5)));
         g.Output("step", g.StepScalar("global_step", DType::kInt64));
         g.Output("index", g.Input("index", DType::kInt32, {kBatch}));
         g.Output("count", g.StepScalar("example_count", DType::kFloat32));
       },
       {.devices = 2, .rows = {16, 5}, .mode = "predict"}},
      {"OutputsOfATrainingStep",
       [](GraphBuilder& g) {
         Tensor x = X(g), w = Var(g, "w", {6});
         g.Output("x", x);
         g.Output("w_value", w);
         Tensor y = x * w;
         g.Output("y", y);
         g.Output("twice", y + y);
         g.Output("y_again", y);
         Sgd(ReduceMean(Square(y - 1.0)));
       },
       {.devices = 2}},
      {"UpdatedValueIsRead",
       [](GraphBuilder& g) {
         Tensor x = X(g), w = Var(g, "w", {6});
         Tensor grad = g.Gradients(ReduceMean(Square(x * w - 1.0)), {w})[0];
         Tensor next = ApplySgd(w, grad, g.Constant(0.5f));
         g.Assign(w, next);
         g.Output("next", next);
         g.Output("old", w);
         g.Output("change", ReduceSum(Square(next - w)));
         g.Output("predictions", x * next);
       },
       {.devices = 2}},
      {"OldValueIsReadAfterTheUpdate",
       [](GraphBuilder& g) {
         Tensor x = X(g), w = Var(g, "w", {6}), v = Var(g, "v", {6});
         Tensor next = Tanh(w * 1.5);
         g.Assign(w, next);
         g.Assign(v, Exp(-w) * next);
         g.Output("y", x * w + v);
       }},
      {"AssignConstant",
       [](GraphBuilder& g) {
         g.Assign(Var(g, "w", {5}), g.Constant(Row(5)));
         g.Assign(Var(g, "scalar", {}), g.Constant(3.0f));
         g.Output("x", X(g));
       },
       {.devices = 2}},
      {"AssignOtherVariable",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6});
         g.Assign(a, b);
         g.Output("a_value", a);
         g.Output("y", X(g) * a);
       },
       {.devices = 2}},
      {"AssignItself",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6});
         g.Assign(a, a);
         g.Output("y", X(g) * a);
       }},
      {"SwapVariables",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6});
         g.Assign(a, b);
         g.Assign(b, a);
         g.Output("y", X(g) * a + b);
       },
       {.devices = 2, .steps = 3}},
      {"RotateThreeVariables",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6}), c = Var(g, "c", {6});
         g.Assign(a, b);
         g.Assign(b, c);
         g.Assign(c, a * 2.0);
         g.Output("y", X(g) * a + b);
       },
       {.steps = 3}},
      // Updates of one kernel, each of which reads what another one writes: all read the values before the step.
      {"UpdatesReadEachOther",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6});
         g.Assign(a, a * 0.9 + b * 0.1);
         g.Assign(b, b * 0.9 + a * 0.1);
         g.Output("y", X(g) * a + b);
       },
       {.devices = 2, .steps = 3}},
      {"AProductOfTwoVariables",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6}), c = Var(g, "c", {6});
         Tensor loss = ReduceMean(Square(X(g) * (a * b) + c - 1.0)) + ReduceSum(a * b) * 0.1;
         g.Output("loss", loss);
         optimizers::SGD({.learning_rate = 0.1}).Minimize(loss);
       },
       {.devices = 2, .steps = 3}},
      {"ADelayLine",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {20000}), b = Var(g, "b", {20000}), c = Var(g, "c", {20000});
         g.Assign(b, a * 0.5);
         g.Assign(c, b * 0.5);
         g.Assign(a, c * 0.5);
         g.Output("half", a * 0.5);
         g.Output("y", ReduceSum(X(g)) + ReduceSum(a));
       },
       {.steps = 3}},
      {"UpdatesByOneKernelOfWhatTheyReadOrNot",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6}), c = Var(g, "c", {6}), d = Var(g, "d", {6});
         g.Assign(a, a * 0.5);
         g.Assign(c, b * 0.5);
         g.Assign(d, d * 0.5);
         g.Output("y", ReduceSum(X(g)) + ReduceSum(b));
       },
       {.steps = 3}},
      {"UpdatesByOneKernelOfAnyOperand",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6}), d = Var(g, "d", {6}), e = Var(g, "e", {6});
         Tensor x = Var(g, "x", {6}), y = Var(g, "y", {6}), z = Var(g, "z", {6}), u = Var(g, "u", {6});
         g.Assign(a, a - d);
         g.Assign(b, e - b);
         g.Assign(x, x * d);
         g.Assign(y, z * y);
         g.Assign(u, u * u);
         g.Output("sum", ReduceSum(X(g)));
       },
       {.steps = 3}},
      {"SwapReshaped",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {2, 3}), b = Var(g, "b", {6});
         g.Assign(a, Reshape(b, {2, 3}));
         g.Assign(b, Reshape(a, {6}));
         g.Output("y", X(g) * b);
       },
       {.steps = 3}},
      {"OneValueForTwoVariables",
       [](GraphBuilder& g) {
         Tensor a = Var(g, "a", {6}), b = Var(g, "b", {6});
         Tensor mean = ReduceMean(X(g), {0});
         g.Assign(a, mean);
         g.Assign(b, mean);
         g.Output("mean", mean);
         g.Output("difference", ReduceSum(Square(a - b)));
       },
       {.devices = 2}},
      {"AssignSumOfBatch",
       [](GraphBuilder& g) {
         Tensor total = Var(g, "total", {}), largest = Var(g, "largest", {6});
         Tensor x = X(g);
         g.Assign(total, total + ReduceSum(x));
         g.Assign(largest, Maximum(largest, ReduceMax(x, {0})));
       },
       {.devices = 2}},
      {"AssignStepScalar",
       [](GraphBuilder& g) {
         g.Assign(Var(g, "rate", {}), g.StepScalar("learning_rate", DType::kFloat32, 0.125));
         g.Output("x", X(g));
       }},
      {"NoBatch",
       [](GraphBuilder& g) {
         Tensor w = Var(g, "w", {3, 4});
         g.Output("sum", ReduceSum(w));
         Sgd(ReduceSum(Square(MatMul(w, Var(g, "v", {4, 2})) - 1.0)));
       },
       {.steps = 3}},
      {"NoBatchTwoDevices",
       [](GraphBuilder& g) {
         Sgd(ReduceSum(Square(Var(g, "w", {3, 4}) - 1.0)));
       },
       {.devices = 2}},
      {"NoTraining",
       [](GraphBuilder& g) { g.Output("y", Softmax(layers::Dense(X(g), {.units = 5}))); },
       {.devices = 3, .batch = 5, .rows = {5, 5, 2}, .mode = "predict"}},
      {"InputOnly", [](GraphBuilder& g) { g.Output("x", X(g)); }, {.devices = 2, .mode = "predict"}},
      {"UnusedVariables",
       [](GraphBuilder& g) {
         Tensor x = X(g);
         Var(g, "unused_variable", {3});
         Sgd(ReduceMean(Square(layers::Dense(x, {.units = 2}))));
       }},
  };
}

std::vector<Case> Reductions() {
  return {
      {"OverSeveralBatchedTensors",
       [](GraphBuilder& g) {
         Tensor x = X(g), w = Var(g, "w", {6});
         Tensor loss = ReduceMean(Square(x * w)) + ReduceSum(Abs(x - w)) * 0.01 + ReduceMax(x * w) - ReduceMin(x - w);
         Sgd(loss);
       },
       {.devices = 2, .rows = {16, 7}}},
      {"MeansOverAllAxes",
       [](GraphBuilder& g) {
         Tensor x = X(g, {kBatch, 3, 4}) * Var(g, "w", {3, 4});
         int i = 0;
         for (std::vector<int64_t> axes : {std::vector<int64_t>{}, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}) {
           g.Output("mean_" + std::to_string(i), ReduceMean(x, axes));
           g.Output("kept_" + std::to_string(i), ReduceMean(x, axes, true));
           g.Output("max_" + std::to_string(i), ReduceMax(x, axes));
           g.Output("min_" + std::to_string(i++), ReduceMin(x, axes));
         }
         Sgd(ReduceMean(Square(ReduceMean(x, {0, 2}))) + ReduceMean(Square(ReduceMean(x, {1}))));
       },
       {.devices = 2, .rows = {16, 3}}},
      {"BatchMeanSubtracted",
       [](GraphBuilder& g) {
         // The mean over all rows goes back into every row: a second map.
         Tensor x = X(g) * Var(g, "w", {6});
         Tensor centred = x - ReduceMean(x, {0});
         g.Output("centred", centred);
         Sgd(ReduceMean(Square(Square(centred) - 0.1)));
       },
       {.devices = 2, .rows = {16, 5}}},
      {"NormalisedByBatchMaximum",
       [](GraphBuilder& g) {
         Tensor x = X(g) + Var(g, "w", {6});
         Tensor scaled = x / (ReduceMax(Abs(x)) + 0.5);
         g.Output("scaled", scaled);
         Sgd(ReduceMean(Square(scaled - 0.3)));
       },
       {.devices = 2}},
      {"MaxWithTies",
       [](GraphBuilder& g) {
         Tensor n = Cast(g.Input("n", DType::kInt32, {kBatch, 3}), DType::kFloat32);
         Sgd(ReduceMax(n * Var(g, "w", {})) + ReduceMean(ReduceMax(Mul(n, 0.5) * Var(g, "v", {}), {1})));
       },
       {.devices = 2}},
      {"ConstantDivisor",
       [](GraphBuilder& g) { Sgd(ReduceSum(Square(X(g) * Var(g, "w", {6}) - 1.0)) / 32.0); },
       {.devices = 2, .rows = {16, 5}}},
      {"LossWithoutBatch",
       [](GraphBuilder& g) {
         Tensor w = Var(g, "w", {6});
         g.Output("y", X(g) * w);
         Sgd(ReduceMean(Square(w - 1.0)));
       },
       {.devices = 2}},
      {"LossOfExampleCount",
       [](GraphBuilder& g) {
         Tensor count = g.StepScalar("example_count", DType::kFloat32);
         Sgd(ReduceSum(Square(X(g) - Var(g, "w", {6}))) / count + ReduceSum(Var(g, "v", {3})) / count);
       },
       {.devices = 2, .rows = {16, 5}}},
      {"WeightGradientFromTwoMaps",
       [](GraphBuilder& g) {
         Tensor x = X(g), w = Var(g, "w", {6, 6});
         Tensor h = Tanh(MatMul(x, w));
         Tensor centred = h - ReduceMean(h, {0}, true);
         Sgd(ReduceMean(Square(MatMul(centred, w) - 0.2)));
       },
       {.devices = 2, .lanes = 4, .microbatch_rows = 3}},
  };
}

class Structure : public testing::TestWithParam<Case> {};
TEST_P(Structure, AgreesWithTheReference) { ASSERT_NO_FATAL_FAILURE(CompareWithReference(GetParam())); }
auto NameOf = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Data, Structure, testing::ValuesIn(DataMovement()), NameOf);
INSTANTIATE_TEST_SUITE_P(Outputs, Structure, testing::ValuesIn(OutputsAndAssignments()), NameOf);
INSTANTIATE_TEST_SUITE_P(Reductions, Structure, testing::ValuesIn(Reductions()), NameOf);

}  // namespace
}  // namespace tandem::compiled

// Models that have the ops of graph/ops.h.
#include "graph/ops.h"

#include "frontends/layers.h"
#include "tests/exported_models/models.h"

namespace tandem::exported_models {
namespace {

TensorsByName Elementwise(TensorsByName& inputs) {
  const Tensor x = inputs["x"], positive = Abs(x) + 0.5;
  const Tensor whole = Cast(Floor(x * 3.0), DType::kInt32);
  TensorsByName y = {{"neg", Neg(x)},
                     {"exp", Exp(x)},
                     {"log", Log(positive)},
                     {"sqrt", Sqrt(positive)},
                     {"rsqrt", Rsqrt(positive)},
                     {"square", Square(x)},
                     {"sin", Sin(x)},
                     {"cos", Cos(x)},
                     {"erf", Erf(x)},
                     {"sign", Sign(x)},
                     {"floor", Floor(x)},
                     {"round", Round(x)},
                     {"ceil", Ceil(x)},
                     {"pow", Pow(positive, x)},
                     {"div", Div(x, positive)},
                     {"max", Maximum(x, 0.25)},
                     {"min", Minimum(x, positive - 1.0)},
                     {"clip", ClipByValue(x, -0.5, 0.5)},
                     {"from", Sub(1.0, x)},
                     {"whole", whole},
                     {"stopped", StopGradient(x) * 2.0}};
  const Tensor finite = IsFinite(Log(x));
  y["finite"] = Cast(finite, DType::kInt32);
  y["selected"] = Select(And(finite, Not(Greater(x, 0.7))), x, Neg(x));
  y["either"] = Cast(Or(Less(x, -0.5), GreaterEqual(x, 0.5)), DType::kFloat32);
  y["equal"] = Cast(Equal(whole, 1), DType::kFloat32) + Cast(NotEqual(whole, 0), DType::kFloat32);
  y["most"] = Cast(LessEqual(x, 0.0), DType::kFloat32);
  y["integers"] = Maximum(whole * 2, whole + 1);
  y["doubles"] = Cast(x, DType::kFloat64) * 2.0;
  return y;
}

TensorsByName Shapes(TensorsByName& inputs) {
  const Tensor x = inputs["x"];  // [b, 4, 3]
  GraphBuilder* graph = x.graph();
  TensorsByName y = {{"transposed", Transpose(x, {0, 2, 1})},
                     {"reshaped", Reshape(x, {kBatch, 2, 6})},
                     {"cut", Slice(x, {0, 1, 0}, {-1, 2, -1})},
                     {"padded", Pad(x, {0, 1, 2}, {0, 0, 1}, -1)},
                     {"side_by_side", Concat({x, x * 2.0}, 1)},
                     {"stacked", Stack({x, Neg(x)}, 1)},
                     {"repeated", Repeat(x, 2, 1)},
                     {"row", Iota(graph, {kBatch}, 0, DType::kInt64)},
                     {"rows", Iota(graph, {kBatch, 2}, 0, DType::kFloat32)},
                     {"columns", Iota(graph, {kBatch, 3}, 1, DType::kInt32)},
                     {"full", Full(graph, {kBatch, 2}, 0.5)},
                     {"sum", ReduceSum(x, {1})},
                     {"kept", ReduceMean(x, {2}, /*keep_dims=*/true)},
                     {"least", ReduceMin(x, {1, 2})},
                     {"place", ArgMax(x, 1)},
                     {"norm", Norm(x, {2})},
                     {"log_sum_exp", LogSumExp(x, {1})},
                     {"running", CumSum(x, 1)},
                     {"sorted", Sort(x, 1)},
                     {"order", ArgSort(x, 1, /*descending=*/true)},
                     {"products", BatchMatMul(x, x, {.transpose_b = true})},
                     {"einsum", Einsum("bij,bik->bjk", {x, x})}};
  return y;
}

TensorsByName Lookups(TensorsByName& inputs) {
  const Tensor id = inputs["id"], x = inputs["x"];
  TensorsByName y = {{"one_hot", OneHot(id, 4)},
                     {"marked", OneHot(Sub(id, 2), 4, 2, -1)},
                     {"rows", GatherRows(x, Minimum(ExpandDims(id, 1), 3))},
                     {"loss", SparseSoftmaxCrossEntropyWithLogits(Minimum(id, 3), ReduceSum(x, {2}))},
                     {"losses", SoftmaxCrossEntropyWithLogits(OneHot(id, 4), ReduceSum(x, {2}))},
                     {"best", TopK(x, 2, 1).values}};
  y["table"] = Gather(layers::Embedding(Iota(x.graph(), {7}, 0, DType::kInt32), {.input_dim = 7, .output_dim = 3}), id);
  return y;
}

// Predictions that are a feature, each other, and the same for all examples; pictures as bytes.
TensorsByName Outputs(TensorsByName& inputs) {
  const Tensor picture = inputs["picture"];
  const Tensor x = Cast(picture, DType::kFloat32) / 255.0;
  const Tensor mean = ReduceMean(x, {1, 2, 3});
  return {{"as_it_is", picture}, {"picture", picture},     {"mean", mean},
          {"the_same", mean},    {"ones", OnesLike(mean)}, {"dense", layers::Dense(layers::Flatten(x), {.units = 2})}};
}

}  // namespace

void AddOps(std::vector<TestModel>& models) {
  models.push_back({"elementwise", {{"x", DType::kFloat32, {kBatch, 5}}}, Elementwise});
  models.push_back({"shapes", {{"x", DType::kFloat32, {kBatch, 4, 3}}}, Shapes});
  models.push_back({"lookups", {{"id", DType::kInt32, {kBatch}}, {"x", DType::kFloat32, {kBatch, 4, 3}}}, Lookups});
  models.push_back({"outputs", {{"picture", DType::kUInt8, {kBatch, 4, 4, 2}}}, Outputs});
}

std::vector<TestModel> TestModels(bool full) {
  std::vector<TestModel> models;
  AddNetworks(full, models);
  AddKeras(full, models);
  AddLayers(models);
  AddOps(models);
  return models;
}

}  // namespace tandem::exported_models

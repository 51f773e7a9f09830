// graph/ops.h with arguments that its functions cannot use.
#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "tests/errors/api_edge.h"

namespace tandem::edge {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Unary = Tensor (*)(const Tensor&, SourceLocation);
using Binary = Tensor (*)(const Tensor&, const Tensor&, SourceLocation);
using WithNumber = Tensor (*)(const Tensor&, double, SourceLocation);

SourceLocation Here() { return {"model.cc", 12}; }

void AddUnary(std::vector<Row>& rows, const std::string& name, Unary f, Tensor World::*wrong) {
  rows.push_back({name, "an empty tensor", Of([=](World& t) { return f(t.none, Here()); }), "model.cc:12"});
  rows.push_back({name, "a tensor of a graph that is gone", Of([=](World& t) { return f(t.gone, Here()); }), "gone"});
  if (wrong == nullptr) return;
  rows.push_back({name, "a tensor of another type", Of([=](World& t) { return f(t.*wrong, Here()); }), "model.cc:12"});
}

void AddBinary(std::vector<Row>& rows, const std::string& name, Binary f, Tensor World::*good, Tensor World::*wrong) {
  auto add = [&](const char* what, Tensor World::*a, Tensor World::*b, const char* says) {
    rows.push_back({name, what, Of([=](World& t) { return f(t.*a, t.*b, Here()); }), says});
  };
  add("two empty tensors", &World::none, &World::none, "model.cc:12");
  add("an empty first tensor", &World::none, good, "operand 0");
  add("an empty second tensor", good, &World::none, "operand 1");
  add("a tensor of a graph that is gone", good, &World::gone, "gone");
  add("a tensor of another graph", &World::x, &World::foreign, "another graph");
  add("two types", good, wrong, "model.cc:12");
  add("shapes that do not broadcast", &World::x, &World::image, "do not broadcast");
}

void AddWithNumber(std::vector<Row>& rows, const std::string& name, WithNumber f) {
  rows.push_back(
      {name, "an empty tensor and a number", Of([=](World& t) { return f(t.none, 1, Here()); }), "model.cc"});
  rows.push_back({name, "half for integers", Of([=](World& t) { return f(t.ints, 0.5, Here()); }), "does not fit"});
  rows.push_back({name, "NaN for integers", Of([=](World& t) { return f(t.ints, kNaN, Here()); }), "does not fit"});
}

std::vector<Row> Elementwise() {
  std::vector<Row> rows;
  for (const auto& [name, f] : std::vector<std::pair<const char*, Unary>>{{"Neg", Neg},
                                                                          {"Abs", Abs},
                                                                          {"Exp", Exp},
                                                                          {"Log", Log},
                                                                          {"Sqrt", Sqrt},
                                                                          {"Rsqrt", Rsqrt},
                                                                          {"Tanh", Tanh},
                                                                          {"Sin", Sin},
                                                                          {"Cos", Cos},
                                                                          {"Sigmoid", Sigmoid},
                                                                          {"Relu", Relu},
                                                                          {"Erf", Erf},
                                                                          {"Gelu", Gelu},
                                                                          {"Sign", Sign},
                                                                          {"Floor", Floor}}) {
    AddUnary(rows, name, f, &World::flags);
  }
  AddUnary(rows, "Not", Not, &World::x);
  AddUnary(rows, "IsFinite", IsFinite, &World::ints);
  AddUnary(rows, "StopGradient", StopGradient, nullptr);
  auto tensor = [&rows](const char* name, const char* what, std::function<Tensor(World&)> call, const char* says = "") {
    rows.push_back({name, what, Of(std::move(call)), says});
  };
  tensor("Cast", "an empty tensor", [](World& t) { return Cast(t.none, DType::kInt32); });
  tensor("Cast", "no type", [](World& t) { return Cast(t.x, DType::kInvalid); });
  tensor("Cast", "bfloat16", [](World& t) { return Cast(t.x, DType::kBFloat16); });
  for (const auto& [name, f] : std::vector<std::pair<const char*, Binary>>{
           {"Add", Add}, {"Sub", Sub}, {"Div", Div}, {"Pow", Pow}, {"Mul", Mul}}) {
    AddBinary(rows, name, f, &World::x, &World::ints);
  }
  for (const auto& [name, f] : std::vector<std::pair<const char*, Binary>>{{"Maximum", Maximum},
                                                                           {"Minimum", Minimum},
                                                                           {"Equal", Equal},
                                                                           {"NotEqual", NotEqual},
                                                                           {"Less", Less},
                                                                           {"LessEqual", LessEqual},
                                                                           {"Greater", Greater},
                                                                           {"GreaterEqual", GreaterEqual}}) {
    AddBinary(rows, name, f, &World::x, &World::ints);
  }
  AddBinary(rows, "And", And, &World::flags, &World::x);
  AddBinary(rows, "Or", Or, &World::flags, &World::x);
  for (const auto& [name, f] : std::vector<std::pair<const char*, WithNumber>>{{"Add", Add},
                                                                               {"Sub", Sub},
                                                                               {"Mul", Mul},
                                                                               {"Div", Div},
                                                                               {"Pow", Pow},
                                                                               {"Maximum", Maximum},
                                                                               {"Minimum", Minimum}}) {
    AddWithNumber(rows, name, f);
  }
  tensor("Select", "nothing", [](World& t) { return Select(t.none, t.none, t.none); });
  tensor("Select", "an empty condition", [](World& t) { return Select(t.none, t.x, t.x); });
  tensor("Select", "an empty value", [](World& t) { return Select(t.flags, t.x, t.none); });
  tensor("Select", "numbers for a condition", [](World& t) { return Select(t.x, t.x, t.x); });
  tensor("Select", "two types", [](World& t) { return Select(t.flags, t.x, t.ints); });
  tensor("Select", "another graph", [](World& t) { return Select(t.flags, t.x, t.foreign); });
  tensor("Select", "shapes", [](World& t) { return Select(t.flags, t.image, t.image); });
  rows.push_back({"Square", "an empty tensor", Of([](World& t) { return Square(t.none); }), "", "mul"});
  rows.push_back({"Square", "booleans", Of([](World& t) { return Square(t.flags); }), "", "mul"});
  rows.push_back({"GeluTanh", "an empty tensor", Of([](World& t) { return GeluTanh(t.none); }), "", "gelu"});
  rows.push_back({"GeluTanh", "integers", Of([](World& t) { return GeluTanh(t.ints); }), "", "gelu"});
  return rows;
}

std::vector<Row> Shapes() {
  std::vector<Row> rows;
  auto tensor = [&rows](const char* name, const char* what, std::function<Tensor(World&)> call, const char* says = "") {
    rows.push_back({name, what, Of(std::move(call)), says});
  };
  using Ints = std::vector<int64_t>;
  tensor("Broadcast", "an empty tensor", [](World& t) { return Broadcast(t.none, {2}); });
  tensor(
      "Broadcast", "a shape that does not fit",
      [](World& t) {
        return Broadcast(t.x, {kBatch, 5});
      },
      "[b,5]");
  tensor("Broadcast", "fewer dimensions", [](World& t) { return Broadcast(t.x, {}); });
  tensor("Broadcast", "a negative size", [](World& t) { return Broadcast(t.scalar, {-7}); });
  tensor(
      "Broadcast", "a huge shape", [](World& t) { return Broadcast(t.scalar, {kHuge}); }, "out of range");
  tensor(
      "Broadcast", "too many elements",
      [](World& t) {
        return Broadcast(t.scalar, {int64_t{1} << 39, int64_t{1} << 39});
      },
      "more elements");
  tensor("Reshape", "an empty tensor", [](World& t) { return Reshape(t.none, {2}); });
  tensor("Reshape", "another count", [](World& t) { return Reshape(t.x, {kBatch, 5}); });
  tensor(
      "Reshape", "the batch in the middle",
      [](World& t) {
        return Reshape(t.x, {4, kBatch});
      },
      "dimension 0 only");
  tensor(
      "Reshape", "size 0",
      [](World& t) {
        return Reshape(t.x, {kBatch, 0});
      },
      "at least 1");
  tensor(
      "Reshape", "a negative size",
      [](World& t) {
        return Reshape(t.x, {kBatch, -4});
      },
      "at least 1");
  tensor("Transpose", "an empty tensor", [](World& t) { return Transpose(t.none, {0}); });
  tensor(
      "Transpose", "no permutation", [](World& t) { return Transpose(t.x, {}); }, "permutation");
  tensor(
      "Transpose", "a dimension twice",
      [](World& t) {
        return Transpose(t.x, {0, 0});
      },
      "permutation");
  tensor("Transpose", "no such dimension", [](World& t) { return Transpose(t.x, {0, kHuge}); });
  tensor(
      "Transpose", "the batch",
      [](World& t) {
        return Transpose(t.x, {1, 0});
      },
      "batch");
  tensor("Slice", "an empty tensor", [](World& t) { return Slice(t.none, {0}, {1}); });
  tensor("Slice", "too few numbers", [](World& t) { return Slice(t.x, {0}, {1}); });
  tensor("Slice", "nothing", [](World& t) { return Slice(t.x, Ints{}, Ints{}); });
  tensor(
      "Slice", "part of the batch",
      [](World& t) {
        return Slice(t.x, {1, 0}, {1, 4});
      },
      "batch");
  tensor("Slice", "size 0", [](World& t) { return Slice(t.x, {0, 0}, {-1, 0}); });
  tensor("Slice", "a negative begin", [](World& t) { return Slice(t.x, {0, -1}, {-1, 2}); });
  tensor("Slice", "beyond the end", [](World& t) { return Slice(t.x, {0, 3}, {-1, kHuge}); });
  tensor("Pad", "an empty tensor", [](World& t) { return Pad(t.none, {0}, {1}); });
  tensor("Pad", "too few numbers", [](World& t) { return Pad(t.x, {0}, {1}); });
  tensor(
      "Pad", "a negative number",
      [](World& t) {
        return Pad(t.x, {0, -1}, {0, 0});
      },
      "negative");
  tensor(
      "Pad", "a huge number",
      [](World& t) {
        return Pad(t.x, {0, kHuge}, {0, kHuge});
      },
      "out of range");
  tensor(
      "Pad", "the batch",
      [](World& t) {
        return Pad(t.x, {1, 0}, {0, 0});
      },
      "batch");
  tensor("Concat", "nothing", [](World&) { return Concat({}, 0); });
  tensor("Concat", "an empty tensor", [](World& t) { return Concat({t.x, t.none}, 1); });
  tensor("Concat", "another graph", [](World& t) { return Concat({t.x, t.foreign}, 1); });
  tensor(
      "Concat", "no such axis",
      [](World& t) {
        return Concat({t.x, t.x}, 2);
      },
      "axis 2");
  tensor("Concat", "a huge axis", [](World& t) { return Concat({t.x, t.x}, kHuge); });
  tensor("Concat", "a negative axis", [](World& t) { return Concat({t.x, t.x}, -3); });
  tensor(
      "Concat", "the batch",
      [](World& t) {
        return Concat({t.x, t.x}, 0);
      },
      "batch");
  tensor("Concat", "two types", [](World& t) { return Concat({t.x, t.ints}, 1); });
  tensor("Gather", "nothing", [](World& t) { return Gather(t.none, t.none); });
  tensor("Gather", "no indices", [](World& t) { return Gather(t.m, t.none); });
  tensor("Gather", "indices that are no integers", [](World& t) { return Gather(t.m, t.x); });
  tensor(
      "Gather", "rows of the batch", [](World& t) { return Gather(t.x, t.labels); }, "batch");
  tensor("Gather", "rows of a scalar", [](World& t) { return Gather(t.scalar, t.labels); });
  tensor("OneHot", "an empty tensor", [](World& t) { return OneHot(t.none, 3); });
  tensor(
      "OneHot", "depth 0", [](World& t) { return OneHot(t.labels, 0); }, "depth 0");
  tensor(
      "OneHot", "a huge depth", [](World& t) { return OneHot(t.labels, kHuge); }, "out of range");
  tensor("OneHot", "no type", [](World& t) { return OneHot(t.labels, 3, DType::kInvalid); });
  tensor("OneHot", "numbers that are no integers", [](World& t) { return OneHot(t.x, 3); });
  tensor(
      "Iota", "no graph", [](World&) { return Iota(nullptr, {3}, 0, DType::kInt32); }, "null");
  tensor("Iota", "no such axis", [](World& t) { return Iota(&t.graph, {3}, 1, DType::kInt32); });
  tensor("Iota", "a scalar", [](World& t) { return Iota(&t.graph, {}, 0, DType::kInt32); });
  tensor(
      "Iota", "size 0", [](World& t) { return Iota(&t.graph, {0}, 0, DType::kInt32); }, "at least 1");
  tensor(
      "Iota", "a huge size", [](World& t) { return Iota(&t.graph, {kHuge}, 0, DType::kInt32); }, "out of range");
  tensor("Iota", "no type", [](World& t) { return Iota(&t.graph, {3}, 0, DType::kInvalid); });
  return rows;
}

std::vector<Row> Reductions() {
  std::vector<Row> rows;
  using Reduction = Tensor (*)(const Tensor&, std::vector<int64_t>, bool, SourceLocation);
  for (const auto& [name, f] : std::vector<std::pair<const char*, Reduction>>{
           {"ReduceSum", ReduceSum}, {"ReduceMean", ReduceMean}, {"ReduceMax", ReduceMax}, {"ReduceMin", ReduceMin}}) {
    const Reduction reduce = f;
    auto tensor = [&, name = name](const char* what, std::function<Tensor(World&)> call) {
      rows.push_back({name, what, Of(std::move(call)), "model.cc:12"});
    };
    tensor("an empty tensor", [=](World& t) { return reduce(t.none, {}, false, Here()); });
    tensor("an axis that is not there", [=](World& t) { return reduce(t.x, {2}, false, Here()); });
    tensor("a huge axis", [=](World& t) { return reduce(t.x, {kHuge}, false, Here()); });
    tensor("an axis of a scalar", [=](World& t) { return reduce(t.scalar, {0}, false, Here()); });
    tensor("an axis twice", [=](World& t) { return reduce(t.x, {1, -1}, false, Here()); });
    tensor("booleans", [=](World& t) { return reduce(t.flags, {}, false, Here()); });
  }
  auto tensor = [&rows](const char* name, const char* what, std::function<Tensor(World&)> call, const char* says = "") {
    rows.push_back({name, what, Of(std::move(call)), says});
  };
  tensor(
      "ReduceMean", "integers", [](World& t) { return ReduceMean(t.ints); }, "Cast first");
  tensor("ArgMax", "an empty tensor", [](World& t) { return ArgMax(t.none, 0); });
  tensor(
      "ArgMax", "an axis that is not there", [](World& t) { return ArgMax(t.x, 2); }, "axis 2");
  tensor(
      "ArgMax", "an axis too far back", [](World& t) { return ArgMax(t.x, -3); }, "axis -3");
  tensor("ArgMax", "a scalar", [](World& t) { return ArgMax(t.scalar, 0); });
  tensor("ArgMax", "a huge axis", [](World& t) { return ArgMax(t.x, -kHuge); });
  return rows;
}

std::vector<Row> Networks() {
  std::vector<Row> rows;
  auto tensor = [&rows](const char* name, const char* what, std::function<Tensor(World&)> call, const char* says = "") {
    rows.push_back({name, what, Of(std::move(call)), says});
  };
  tensor("MatMul", "nothing", [](World& t) { return MatMul(t.none, t.none); });
  tensor("MatMul", "an empty tensor", [](World& t) { return MatMul(t.x, t.none); });
  tensor("MatMul", "another graph", [](World& t) { return MatMul(t.x, t.foreign); });
  tensor("MatMul", "sizes", [](World& t) { return MatMul(t.m, t.m); });
  tensor("MatMul", "scalars", [](World& t) { return MatMul(t.scalar, t.scalar); });
  tensor("MatMul", "a vector", [](World& t) { return MatMul(t.labels, t.m); });
  tensor("MatMul", "integers", [](World& t) { return MatMul(t.ints, t.m); });
  tensor("BatchMatMul", "nothing", [](World& t) { return BatchMatMul(t.none, t.none); });
  tensor("BatchMatMul", "matrices", [](World& t) { return BatchMatMul(t.x, t.m); });
  tensor("BatchMatMul", "scalars", [](World& t) { return BatchMatMul(t.scalar, t.scalar); });
  tensor("BatchMatMul", "sizes", [](World& t) { return BatchMatMul(t.image, t.image); });
  tensor("BatchMatMul", "swapped scalars", [](World& t) { return BatchMatMul(t.scalar, t.scalar, {.swap_a = true}); });
  const WindowOptions valid;
  auto conv = [&rows](const char* what, std::function<Tensor(World&)> call, const char* says = "") {
    rows.push_back({"Conv2DOp", what, Of(std::move(call)), says, "conv2d"});
  };
  conv("nothing", [=](World& t) { return Conv2DOp(t.none, t.none, valid); });
  conv("no kernel", [=](World& t) { return Conv2DOp(t.image, t.none, valid); });
  conv("a flat input", [=](World& t) { return Conv2DOp(t.x, t.image, valid); });
  conv(
      "a flat kernel", [=](World& t) { return Conv2DOp(t.image, t.m, valid); }, "4 dimensions");
  auto depthwise = [&rows](const char* what, std::function<Tensor(World&)> call, const char* says = "") {
    rows.push_back({"DepthwiseConv2DOp", what, Of(std::move(call)), says, "depthwise_conv2d"});
  };
  depthwise("nothing", [=](World& t) { return DepthwiseConv2DOp(t.none, t.none, valid); });
  depthwise("no kernel", [=](World& t) { return DepthwiseConv2DOp(t.image, t.none, valid); });
  depthwise(
      "a flat kernel", [=](World& t) { return DepthwiseConv2DOp(t.image, t.m, valid); }, "4 dimensions");
  depthwise(
      "a flat input", [=](World& t) { return DepthwiseConv2DOp(t.x, t.image, valid); }, "does not fit the input");
  for (const auto& [name, pool] : {std::make_pair("MaxPool", MaxPool), std::make_pair("AvgPool", AvgPool)}) {
    const auto f = pool;
    tensor(name, "an empty tensor", [=](World& t) { return f(t.none, {2, 2}, {}, Here()); });
    tensor(
        name, "a flat input",
        [=](World& t) {
          return f(t.x, {2, 2}, {}, Here());
        },
        "4 dimensions");
    tensor(name, "no window", [=](World& t) { return f(t.image, {}, {}, Here()); });
    tensor(
        name, "a window of 0",
        [=](World& t) {
          return f(t.image, {0, 2}, {}, Here());
        },
        "at least 1");
    tensor(
        name, "a huge window",
        [=](World& t) {
          return f(t.image, {kHuge, 2}, {}, Here());
        },
        "at most");
    tensor(name, "a window that does not fit", [=](World& t) { return f(t.image, {9, 9}, {}, Here()); });
    tensor(name, "strides of 0", [=](World& t) { return f(t.image, {2, 2}, {.strides = {0, 1}}, Here()); });
    tensor(name, "one stride", [=](World& t) { return f(t.image, {2, 2}, {.strides = {1}}, Here()); });
    tensor(name, "huge strides", [=](World& t) {
      return f(t.image, {2, 2}, {.strides = {kHuge, 1}, .padding = Padding::kSame}, Here());
    });
  }
  tensor("LayerNorm", "an empty tensor", [](World& t) { return LayerNorm(t.none, 1e-3); });
  tensor("LayerNorm", "a scalar", [](World& t) { return LayerNorm(t.scalar, 1e-3); });
  tensor("LayerNorm", "integers", [](World& t) { return LayerNorm(t.ints, 1e-3); });
  tensor(
      "LayerNorm", "no epsilon", [](World& t) { return LayerNorm(t.x, kNaN); }, "epsilon");
  tensor("LayerNorm", "the batch", [](World& t) { return LayerNorm(Cast(t.labels, DType::kFloat32), 1e-3); });
  tensor("Softmax", "an empty tensor", [](World& t) { return Softmax(t.none); });
  tensor("Softmax", "a scalar", [](World& t) { return Softmax(t.scalar); });
  tensor("Softmax", "integers", [](World& t) { return Softmax(t.ints); });
  tensor("Softmax", "the batch", [](World& t) { return Softmax(Cast(t.labels, DType::kFloat32)); });
  tensor("LogSoftmax", "an empty tensor", [](World& t) { return LogSoftmax(t.none); });
  tensor("LogSoftmax", "a scalar", [](World& t) { return LogSoftmax(t.scalar); });
  // Their ops are named as td has them.
  const auto of_logits = [&](const std::string& op, const char* what, std::function<Tensor(World&)> call) {
    rows.push_back({op + "WithLogits", what, Of(std::move(call)), "", op});
  };
  of_logits("SoftmaxCrossEntropy", "nothing", [](World& t) { return SoftmaxCrossEntropyWithLogits(t.none, t.none); });
  of_logits("SoftmaxCrossEntropy", "no logits", [](World& t) { return SoftmaxCrossEntropyWithLogits(t.x, t.none); });
  of_logits("SoftmaxCrossEntropy", "integers", [](World& t) { return SoftmaxCrossEntropyWithLogits(t.ints, t.x); });
  of_logits("SoftmaxCrossEntropy", "scalars",
            [](World& t) { return SoftmaxCrossEntropyWithLogits(t.scalar, t.scalar); });
  of_logits("SparseSoftmaxCrossEntropy", "nothing",
            [](World& t) { return SparseSoftmaxCrossEntropyWithLogits(t.none, t.none); });
  of_logits("SparseSoftmaxCrossEntropy", "floats",
            [](World& t) { return SparseSoftmaxCrossEntropyWithLogits(t.x, t.x); });
  of_logits("SparseSoftmaxCrossEntropy", "rows",
            [](World& t) { return SparseSoftmaxCrossEntropyWithLogits(t.ints, t.x); });
  of_logits("SparseSoftmaxCrossEntropy", "scalars",
            [](World& t) { return SparseSoftmaxCrossEntropyWithLogits(Cast(t.scalar, DType::kInt32), t.scalar); });
  tensor("BatchMoments", "an empty tensor", [](World& t) { return BatchMoments(t.none).mean; });
  tensor("BatchMoments", "a scalar", [](World& t) { return BatchMoments(t.scalar).variance; });
  tensor("BatchMoments", "integers", [](World& t) { return BatchMoments(t.ints).mean; });
  tensor(
      "BatchMoments", "an unknown scope", [](World& t) { return BatchMoments(t.x, "world").mean; }, "scope");
  tensor("CrossReplicaSum", "rows", [](World& t) { return CrossReplicaSum(t.x); });
  tensor("CrossReplicaSum", "integers", [](World& t) { return CrossReplicaSum(t.ints); });
  tensor("CrossReplicaSum", "what replicas have in common", [](World& t) { return CrossReplicaSum(t.w); });
  tensor("CrossReplicaMean", "rows", [](World& t) { return CrossReplicaMean(t.x); });
  tensor("CrossReplicaMean", "integers", [](World& t) { return CrossReplicaMean(t.ints); });
  tensor("CrossReplicaMean", "what replicas have in common", [](World& t) { return CrossReplicaMean(t.w); });
  tensor(
      "RandomUniform", "no graph", [](World&) { return RandomUniform(nullptr, {3}); }, "null");
  tensor(
      "RandomUniform", "size 0", [](World& t) { return RandomUniform(&t.graph, {0}); }, "at least 1");
  tensor(
      "RandomUniform", "a huge size", [](World& t) { return RandomUniform(&t.graph, {kHuge}); }, "out of range");
  return rows;
}

std::vector<Row> Updates() {
  std::vector<Row> rows;
  auto tensor = [&rows](const char* name, const char* what, std::function<Tensor(World&)> call, const char* says = "") {
    rows.push_back({name, what, Of(std::move(call)), says});
  };
  tensor("ApplySgd", "nothing", [](World& t) { return ApplySgd(t.none, t.none, t.none); });
  tensor("ApplySgd", "no gradient", [](World& t) { return ApplySgd(t.w, t.none, t.scalar); });
  tensor("ApplySgd", "another shape", [](World& t) { return ApplySgd(t.w, t.x, t.scalar); });
  tensor("ApplySgd", "a rate that is no scalar", [](World& t) { return ApplySgd(t.w, t.m, t.m); });
  tensor("ApplyMomentum", "nothing",
         [](World& t) { return ApplyMomentum(t.none, t.none, t.none, t.none, 0.9, false).slots[0]; });
  tensor("ApplyMomentum", "no slot",
         [](World& t) { return ApplyMomentum(t.w, t.none, t.m, t.scalar, 0.9, false).slots[0]; });
  tensor("ApplyAdam", "nothing",
         [](World& t) { return ApplyAdam(t.none, t.none, t.none, t.none, t.none, 0.9, 0.9, 1e-8).slots[1]; });
  tensor("ApplyAdam", "another shape",
         [](World& t) { return ApplyAdam(t.w, t.m, t.x, t.m, t.scalar, 0.9, 0.9, 1e-8).var; });
  tensor("ApplyRmsProp", "nothing",
         [](World& t) { return ApplyRmsProp(t.none, {}, t.none, t.none, 0.9, 0, 1e-8).slots[0]; });
  tensor("ApplyRmsProp", "no slots", [](World& t) { return ApplyRmsProp(t.w, {}, t.m, t.scalar, 0.9, 0, 1e-8).var; });
  tensor(
      "ApplyRmsProp", "a slot too few",
      [](World& t) { return ApplyRmsProp(t.w, {t.m}, t.m, t.scalar, 0.9, 0.5, 1e-8).slots[1]; }, "it needs 2");
  return rows;
}

// Ops made of others: the message names the op that was called.
std::vector<Row> Composed() {
  Table t;
  using Ints = std::vector<int64_t>;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  t.Add(
      "Full", "no graph", [](World&) { return Full(nullptr, {2}, 0); }, "null");
  t.Add(
      "Full", "size 0", [](World& w) { return Full(&w.graph, {0}, 0); }, "the shape [0] must have sizes of at least 1");
  t.Add(
      "Full", "a huge size", [](World& w) { return Full(&w.graph, {kHuge}, 0); }, "more elements");
  t.Add(
      "Full", "the batch in the middle",
      [](World& w) {
        return Full(&w.graph, Ints{2, kBatch}, 0);
      },
      "the batch is dimension 0 only");
  t.Add(
      "Full", "half an integer", [](World& w) { return Full(&w.graph, {2}, 0.5, DType::kInt32); },
      "the number 0.5 does not fit the dtype int32");
  t.Add(
      "Full", "a string", [](World& w) { return Full(&w.graph, {2}, 0, DType::kString); }, "cannot be string");
  t.Add(
      "Full", "no type", [](World& w) { return Full(&w.graph, {2}, 0, DType::kInvalid); }, "no dtype");
  t.Add(
      "FullLike", "an empty tensor", [](World& w) { return FullLike(w.none, 1); }, "operand 0 is an empty Tensor");
  t.Add(
      "FullLike", "two of a bool", [](World& w) { return FullLike(w.flags, 2); }, "does not fit the dtype bool");
  t.Add(
      "ZerosLike", "an empty tensor", [](World& w) { return ZerosLike(w.none); }, "operand 0 is an empty Tensor");
  t.Add(
      "OnesLike", "a graph that is gone", [](World& w) { return OnesLike(w.gone); }, "gone");
  t.Add(
      "OneHot", "depth 0, two values", [](World& w) { return OneHot(w.labels, 0, 1, 0); }, "depth 0");
  t.Add(
      "OneHot", "half an integer", [](World& w) { return OneHot(w.labels, 3, 0.5, 0, DType::kInt32); }, "0.5");
  t.Add(
      "OneHot", "an empty tensor, two values", [](World& w) { return OneHot(w.none, 3, 1, 0); }, "operand 0");

  t.Add(
      "Stack", "nothing", [](World&) { return Stack({}, 0); }, "there are no operands");
  t.Add(
      "Stack", "an empty tensor",
      [](World& w) {
        return Stack({w.x, w.none}, 1);
      },
      "operand 1 is an empty Tensor");
  t.Add(
      "Stack", "another graph",
      [](World& w) {
        return Stack({w.x, w.foreign}, 1);
      },
      "another graph");
  t.Add(
      "Stack", "two shapes",
      [](World& w) {
        return Stack({w.x, w.m}, 1);
      },
      "operand 1 is float32 [4,3], and operand 0 float32 [b,4]; all need one shape and dtype");
  t.Add(
      "Stack", "two types",
      [](World& w) {
        return Stack({w.x, w.ints}, 1);
      },
      "operand 1 is int32 [b,4]");
  t.Add(
      "Stack", "the batch",
      [](World& w) {
        return Stack({w.x, w.x}, 0);
      },
      "axis 0 is the batch of [b,4], which stays dimension 0; choose 1 to 2");
  t.Add(
      "Stack", "an axis that is not there",
      [](World& w) {
        return Stack({w.x, w.x}, 3);
      },
      "axis 3 is no place for a new dimension of [b,4]; choose -3 to 2");
  auto part = [](std::vector<Tensor> parts) { return parts.back(); };
  t.Add(
      "Unstack", "an empty tensor", [=](World& w) { return part(Unstack(w.none, 4, 1)); }, "operand 0");
  t.Add(
      "Unstack", "another count", [=](World& w) { return part(Unstack(w.x, 3, 1)); },
      "axis 1 of [b,4] has size 4, not 3; `count` must be that size");
  t.Add(
      "Unstack", "a huge count", [=](World& w) { return part(Unstack(w.x, kHuge, 1)); }, "has size 4");
  t.Add(
      "Unstack", "the batch", [=](World& w) { return part(Unstack(w.x, 4, 0)); }, "axis 0 is the batch of [b,4]");
  t.Add(
      "Split", "an empty tensor", [=](World& w) { return part(Split(w.none, 2, 1)); }, "operand 0");
  t.Add(
      "Split", "an empty tensor by sizes",
      [=](World& w) {
        return part(Split(w.none, {1, 2}, 1));
      },
      "operand 0");
  t.Add(
      "Split", "parts that are not equal", [=](World& w) { return part(Split(w.x, 3, 1)); },
      "axis 1 of [b,4] has size 4, which is no multiple of 3; give a list of sizes that add up to 4");
  t.Graph(
      "Split", "no parts", [](World& w) { Split(w.x, 0, 1); }, "must be at least 1, got 0");
  t.Graph(
      "Split", "no sizes", [](World& w) { Split(w.x, Ints{}, 1); }, "must add up to 4");
  t.Add(
      "Split", "the batch", [=](World& w) { return part(Split(w.x, 2, -2)); }, "axis -2 is the batch of [b,4]");
  t.Add(
      "Split", "sizes of another sum",
      [=](World& w) {
        return part(Split(w.x, {1, 2}, 1));
      },
      "sizes {1, 2} must add up to 4, the size of axis 1 of [b,4]; one may be -1, for what is left");
  t.Add(
      "Split", "two sizes of what is left",
      [=](World& w) {
        return part(Split(w.x, {-1, -1}, 1));
      },
      "one may be -1");
  t.Add(
      "Split", "huge sizes",
      [=](World& w) {
        return part(Split(w.x, {kHuge, kHuge}, 1));
      },
      "must add up to 4");
  t.Add(
      "ExpandDims", "an empty tensor", [](World& w) { return ExpandDims(w.none, 1); }, "operand 0");
  t.Add(
      "ExpandDims", "the batch", [](World& w) { return ExpandDims(w.x, 0); }, "is the batch of [b,4]");
  t.Add(
      "ExpandDims", "a huge axis", [](World& w) { return ExpandDims(w.x, kHuge); }, "choose -3 to 2");
  t.Add(
      "Squeeze", "an empty tensor", [](World& w) { return Squeeze(w.none); }, "operand 0");
  t.Add(
      "Squeeze", "a size of 4", [](World& w) { return Squeeze(w.x, {1}); },
      "axis 1 of [b,4] has size 4, and only dimensions of size 1 can be dropped; leave it out of `axes`");
  t.Add(
      "Squeeze", "the batch", [](World& w) { return Squeeze(w.x, {0}); }, "axis 0 of [b,4] is the batch");
  t.Add(
      "Squeeze", "an axis that is not there", [](World& w) { return Squeeze(w.x, {2}); }, "axis 2");
  t.Add(
      "Repeat", "an empty tensor", [](World& w) { return Repeat(w.none, 2, 1); }, "operand 0");
  t.Add(
      "Repeat", "the batch", [](World& w) { return Repeat(w.x, 2, 0); }, "axis 0 is the batch of [b,4]");
  t.Add(
      "Repeat", "0 times", [](World& w) { return Repeat(w.x, 0, 1); }, "`count` must be at least 1");
  t.Add(
      "Repeat", "too often", [](World& w) { return Repeat(w.x, kHuge, 1); }, "at most 2^40");
  t.Add(
      "Reshape", "two sizes of what is left",
      [](World& w) {
        return Reshape(w.x, {kBatch, -1, -1});
      },
      "the shape [-1,-1,-1] has more than one -1 after the batch");
  t.Add(
      "Reshape", "what is left without a batch",
      [](World& w) {
        return Reshape(w.m, {-1, -1});
      },
      "the shape [-1,-1] has more than one -1; only one size can be what is left");
  t.Add(
      "Reshape", "sizes that do not divide",
      [](World& w) {
        return Reshape(w.x, {kBatch, 3, -1});
      },
      "the shape [-1,3,-1] leaves no whole size for the -1: [b,4] has 4 elements per example");
  t.Add(
      "Reshape", "0 beside what is left",
      [](World& w) {
        return Reshape(w.x, {kBatch, 0, -1});
      },
      "at least 1");

  for (const auto& [name, f] : std::vector<std::pair<const char*, Unary>>{{"Round", Round}, {"Ceil", Ceil}}) {
    const Unary unary = f;
    t.Add(
        name, "an empty tensor", [=](World& w) { return unary(w.none, SourceLocation::Current()); }, "operand 0");
    t.Add(
        name, "integers", [=](World& w) { return unary(w.ints, SourceLocation::Current()); },
        "needs floating-point numbers, got int32 [b,4]; convert it with Cast(x, DType::kFloat32)");
  }
  t.Add(
      "ClipByValue", "an empty tensor", [](World& w) { return ClipByValue(w.none, 0, 1); }, "operand 0");
  t.Add(
      "ClipByValue", "bounds the wrong way round", [](World& w) { return ClipByValue(w.x, 2, 1); },
      "`low` must not be above `high`, got 2 and 1");
  t.Add(
      "ClipByValue", "no bound", [](World& w) { return ClipByValue(w.x, kNaN, 1); }, "got nan and 1");
  t.Add(
      "ClipByValue", "half for integers", [](World& w) { return ClipByValue(w.ints, 0.5, 1); }, "0.5 does not fit");
  t.Add(
      "ClipByValue", "booleans", [](World& w) { return ClipByValue(w.flags, 0, 1); }, "needs numbers, got bool");
  t.Add(
      "ClipByNorm", "an empty tensor", [](World& w) { return ClipByNorm(w.none, 1); }, "operand 0");
  t.Add(
      "ClipByNorm", "norm 0", [](World& w) { return ClipByNorm(w.x, 0); }, "must be a positive number, got 0");
  t.Add(
      "ClipByNorm", "integers", [](World& w) { return ClipByNorm(w.ints, 1); }, "got int32 [b,4]");
  t.Add(
      "ClipByNorm", "an axis that is not there", [](World& w) { return ClipByNorm(w.x, 1, {2}); }, "axis 2");
  t.Add(
      "Norm", "an empty tensor", [](World& w) { return Norm(w.none); }, "operand 0");
  t.Add(
      "Norm", "of another order", [](World& w) { return Norm(w.x, {1}, 3); }, "must be 1, 2 or infinity, got 3");
  t.Add(
      "Norm", "of no order", [](World& w) { return Norm(w.x, {1}, kNaN); }, "got nan");
  t.Add(
      "Norm", "integers", [](World& w) { return Norm(w.ints); }, "got int32 [b,4]");
  t.Add(
      "Norm", "an axis twice",
      [](World& w) {
        return Norm(w.x, {1, -1});
      },
      "twice");
  t.Add(
      "LogSumExp", "an empty tensor", [](World& w) { return LogSumExp(w.none); }, "operand 0");
  t.Add(
      "LogSumExp", "integers", [](World& w) { return LogSumExp(w.ints); }, "got int32 [b,4]");
  t.Add(
      "LogSumExp", "an axis that is not there", [](World& w) { return LogSumExp(w.x, {-3}); }, "axis -3");

  t.Add(
      "RandomNormal", "no graph", [](World&) { return RandomNormal(nullptr, {3}); }, "null");
  t.Add(
      "RandomNormal", "size 0", [](World& w) { return RandomNormal(&w.graph, {0}); }, "at least 1");
  t.Add(
      "RandomNormal", "a negative deviation", [](World& w) { return RandomNormal(&w.graph, {3}, 0, -1); },
      "a standard deviation >= 0, got 0 and -1");
  t.Add(
      "TruncatedNormal", "no graph", [](World&) { return TruncatedNormal(nullptr, {3}); }, "null");
  t.Add(
      "TruncatedNormal", "a huge size", [](World& w) { return TruncatedNormal(&w.graph, {kHuge}); }, "more elements");
  t.Add(
      "TruncatedNormal", "no mean", [](World& w) { return TruncatedNormal(&w.graph, {3}, kInf); }, "finite mean");

  t.Add(
      "Gather", "rows of each example", [](World& w) { return Gather(w.x, w.labels); }, "GatherRows takes");
  t.Add(
      "GatherRows", "nothing", [](World& w) { return GatherRows(w.none, w.none); }, "operand 0");
  t.Add(
      "GatherRows", "no indices", [](World& w) { return GatherRows(w.x, w.none); }, "operand 1");
  t.Add(
      "GatherRows", "indices that are no integers", [](World& w) { return GatherRows(w.x, w.x); },
      "indices must be int32 or int64, got float32 [b,4]");
  t.Add(
      "GatherRows", "a table for all", [](World& w) { return GatherRows(w.m, w.labels); },
      "params [4,3] and indices [b] need one dimension 0");
  t.Add(
      "GatherRows", "no rows", [](World& w) { return GatherRows(w.labels, w.labels); }, "of rows that all examples");
  t.Add(
      "GatherBatch", "an empty tensor", [](World& w) { return GatherBatch(w.none, 8); }, "operand 0");
  t.Add(
      "GatherBatch", "no rows", [](World& w) { return GatherBatch(w.x, 0); }, "`rows` must be from 1 to");
  t.Add(
      "GatherBatch", "integers", [](World& w) { return GatherBatch(w.ints, 8); }, "got int32 [b,4]");
  t.Add(
      "GatherBatch", "no batch", [](World& w) { return GatherBatch(w.m, 8); }, "[b, ...], got [4,3]");
  t.Add(
      "BatchMask", "no graph", [](World&) { return BatchMask(nullptr, 8); }, "null");
  t.Add(
      "BatchMask", "huge", [](World& w) { return BatchMask(&w.graph, kHuge); }, "batch_size * params.num_replicas()");
  t.Add(
      "PairwiseProducts", "nothing", [](World& w) { return PairwiseProducts(w.x, w.none, 8); }, "operand 1");
  t.Add(
      "PairwiseProducts", "a matrix", [](World& w) { return PairwiseProducts(w.x, w.m, 8); },
      "two tensors [b, d] of one type, got float32 [b,4] and float32 [4,3]");
  t.Add(
      "PairwiseProducts", "negative rows", [](World& w) { return PairwiseProducts(w.x, w.x, -1); }, "got -1");
  for (const auto& [name, f] :
       std::vector<std::pair<const char*, decltype(&CumSum)>>{{"CumSum", CumSum}, {"CumProd", CumProd}}) {
    const auto scan = [f = f](const Tensor& x, int64_t axis) {
      return f(x, axis, false, false, SourceLocation::Current());
    };
    t.Add(
        name, "an empty tensor", [=](World& w) { return scan(w.none, 1); }, "operand 0");
    t.Add(
        name, "the batch", [=](World& w) { return scan(w.x, 0); }, "axis 0 is the batch of [b,4]");
    t.Add(
        name, "a huge axis", [=](World& w) { return scan(w.x, kHuge); }, "is not a dimension of [b,4]");
    t.Add(
        name, "a scalar", [=](World& w) { return scan(w.scalar, 0); }, "is not a dimension of []");
    t.Add(
        name, "booleans", [=](World& w) { return scan(w.flags, 1); }, "needs numbers, got bool [b,4]");
  }
  for (const auto& [name, f] :
       std::vector<std::pair<const char*, decltype(&Sort)>>{{"Sort", Sort}, {"ArgSort", ArgSort}}) {
    const auto sort = [f = f](const Tensor& x, int64_t axis) { return f(x, axis, false, SourceLocation::Current()); };
    t.Add(
        name, "an empty tensor", [=](World& w) { return sort(w.none, 1); }, "operand 0");
    t.Add(
        name, "the batch", [=](World& w) { return sort(w.x, -2); }, "axis -2 is the batch of [b,4]");
    t.Add(
        name, "an axis that is not there", [=](World& w) { return sort(w.x, 2); }, "axis 2");
    t.Add(
        name, "booleans", [=](World& w) { return sort(w.flags, 1); }, "needs numbers, got bool [b,4]");
  }
  t.Add(
      "TopK", "an empty tensor", [](World& w) { return TopK(w.none, 1).values; }, "operand 0");
  t.Add(
      "TopK", "more than there are", [](World& w) { return TopK(w.x, 5).values; },
      "`k` must be 1 to 4, the size of axis 1 of [b,4], got 5");
  t.Add(
      "TopK", "none", [](World& w) { return TopK(w.x, 0).indices; }, "got 0");
  t.Add(
      "TopK", "the batch", [](World& w) { return TopK(w.x, 1, 0).indices; }, "axis 0 is the batch of [b,4]");

  auto einsum = [&t](const char* what, const char* equation, std::vector<Tensor World::*> operands, const char* says) {
    t.Add(
        "Einsum", what,
        [=](World& w) {
          std::vector<Tensor> xs;
          for (Tensor World::*operand : operands) xs.push_back(w.*operand);
          return Einsum(equation, xs);
        },
        says);
  };
  constexpr Tensor World::*kX = &World::x, World::*kM = &World::m;
  einsum("nothing", "->", {}, "there are no operands");
  einsum("an empty tensor", "ij,jk->ik", {kX, &World::none}, "operand 1 is an empty Tensor");
  einsum("three operands", "ij,jk,kl->il", {kX, kM, kM}, "takes one or two operands, got 3; multiply two at a time");
  einsum("integers", "ij->j", {&World::ints}, "needs floating-point numbers, got int32 [b,4]");
  einsum("no output", "ij,jk", {kX, kM}, "the equation \"ij,jk\" has no \"->\"");
  einsum("too few terms", "ij->ij", {kX, kM}, "names 1 operands, and there are 2");
  einsum("dots", "...j,jk->...k", {kX, kM}, "has \".\"; dimensions are lower-case letters");
  einsum("capitals", "Ij,jk->Ik", {kX, kM}, "has \"I\"; dimensions are lower-case letters");
  einsum("a diagonal", "ii->i", {kM}, "has i twice in \"ii\"; diagonals do not exist");
  einsum("too many dimensions", "ijk,jk->ik", {kX, kM}, "names 3 dimensions of operand 0, which is [b,4]");
  einsum("two sizes", "ij,kj->ik", {kX, kM}, "has j of two sizes in operands [b,4] and [4,3]");
  einsum("two batches", "ik,jk->ij", {kX, kX}, "gives the batch two letters, i and j: rows of the batch would mix");
  einsum("a letter of the output only", "ij,jk->iz", {kX, kM}, "has z in the output only");
  einsum("the batch behind", "ij,jk->ki", {kX, kM}, "moves the batch, i; it must be the output's first letter");
  return t.rows();
}

std::vector<Row> AllRows() {
  std::vector<Row> all;
  for (const std::vector<Row>& rows : {Elementwise(), Shapes(), Reductions(), Networks(), Composed(), Updates()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

TEST(OpsEdgeTest, Elementwise) { Check(Elementwise()); }
TEST(OpsEdgeTest, Shapes) { Check(Shapes()); }
TEST(OpsEdgeTest, Reductions) { Check(Reductions()); }
TEST(OpsEdgeTest, Networks) { Check(Networks()); }
TEST(OpsEdgeTest, Updates) { Check(Updates()); }
TEST(OpsEdgeTest, Composed) { Check(Composed()); }
TEST(OpsEdgeTest, ComposedSayTheUsersLine) {
  for (const Row& row : Composed()) {
    World world;
    const absl::Status status = row.call(world);
    if (status == world.gone.status()) continue;
    EXPECT_NE(status.message().find("tests/errors/api_edge_ops_test.cc:"), std::string::npos) << status;
  }
}
TEST(OpsEdgeTest, EveryFunctionHasARow) {
  EXPECT_GT(AllRows().size(), 250u);
  CheckCoverage("graph/ops.h", AllRows());
}

}  // namespace
}  // namespace tandem::edge

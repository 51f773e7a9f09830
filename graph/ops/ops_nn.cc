#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "graph/ir/random.h"
#include "graph/module/graph_module.h"
#include "graph/ops.h"
#include "graph/ops/ops_internal.h"

namespace tandem {

using internal::EmitOp;

namespace {

constexpr int64_t kMaxWindow = 1 << 30;

// Computes strides and explicit pads of windows over an NHWC image. False after an error.
bool ResolveWindow(absl::string_view op, const Tensor& x, const std::vector<int64_t>& window,
                   const WindowOptions& options, Attrs* attrs, SourceLocation loc) {
  std::string problem;
  if (x.rank() != 4) {
    problem =
        absl::StrCat("input ", ShapeString(x.shape()), " must have 4 dimensions [batch, height, width, channels]");
  }
  if (window.size() != 2 || options.strides.size() != 2) problem = "needs a height and a width for window and strides";
  for (size_t i = 0; i < 2 && problem.empty(); ++i) {
    if (window[i] < 1 || options.strides[i] < 1) problem = "needs windows and strides of at least 1";
    if (window[i] > kMaxWindow || options.strides[i] > kMaxWindow) {
      problem = absl::StrCat("needs windows and strides of at most ", kMaxWindow);
    }
  }
  if (!problem.empty()) {
    x.graph()->FailAt(op, problem, loc);
    return false;
  }
  std::vector<int64_t> low = {0, 0}, high = {0, 0};
  for (int i = 0; i < 2 && options.padding == Padding::kSame; ++i) {
    // Pads as TensorFlow does: there are ceil(size / stride) outputs, and of an odd number of zeros one more is at the
    // end.
    int64_t size = x.shape()[1 + i], stride = options.strides[i];
    int64_t total = std::max<int64_t>(((size + stride - 1) / stride - 1) * stride + window[i] - size, 0);
    low[i] = total / 2;
    high[i] = total - low[i];
  }
  *attrs = {{"strides", options.strides}, {"pad_low", low}, {"pad_high", high}};
  return true;
}

Tensor Pool(absl::string_view op, const Tensor& x, const std::vector<int64_t>& window, const WindowOptions& options,
            SourceLocation loc) {
  if (!x.ok()) return EmitOp(op, {x}, {}, loc);
  Attrs attrs;
  if (!ResolveWindow(op, x, window, options, &attrs, loc)) return x.graph()->Poisoned();
  attrs.push_back({"window", window});
  return EmitOp(op, {x}, attrs, loc);
}

}  // namespace

Tensor MatMul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b, SourceLocation loc) {
  if (a.ok() && b.ok() && transpose_b && !transpose_a && !b.shape().empty() && b.shape()[0] == kBatch) {
    return a.graph()->FailAt(
        "matmul",
        absl::StrCat("the batch of ", ShapeString(b.shape()),
                     " would become columns; it must stay dimension 0. The "
                     "products of all examples with each other are PairwiseProducts(x, y, rows), those within an "
                     "example, [b, n, d], BatchMatMul(x, x, {.transpose_b = true})"),
        loc);
  }
  return EmitOp("matmul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}}, loc);
}

Tensor BatchMatMul(const Tensor& a, const Tensor& b, const BatchMatMulOptions& options, SourceLocation loc) {
  return EmitOp("batch_matmul", {a, b},
                {{"transpose_a", options.transpose_a},
                 {"transpose_b", options.transpose_b},
                 {"swap_a", options.swap_a},
                 {"swap_b", options.swap_b},
                 {"swap_output", options.swap_output}},
                loc);
}

// `dimensions` describes the kernel's dimensions, for errors.
static Tensor Convolve(const char* op, const Tensor& x, Tensor kernel, const char* dimensions,
                       const WindowOptions& options, SourceLocation loc) {
  if (!x.ok() || !kernel.ok()) return EmitOp(op, {x, kernel}, {}, loc);
  const Shape shape = kernel.shape();
  if (shape.size() != 4) {
    return x.graph()->FailAt(op, absl::StrCat("kernel ", ShapeString(shape), " must have 4 dimensions ", dimensions),
                             loc);
  }
  Attrs attrs;
  if (!ResolveWindow(op, x, {shape[0], shape[1]}, options, &attrs, loc)) return x.graph()->Poisoned();
  return EmitOp(op, {x, kernel}, attrs, loc);
}

Tensor Conv2DOp(const Tensor& x, const Tensor& kernel, const WindowOptions& options, SourceLocation loc) {
  return Convolve("conv2d", x, kernel, "[height, width, in, out]", options, loc);
}

Tensor DepthwiseConv2DOp(const Tensor& x, const Tensor& kernel, const WindowOptions& options, SourceLocation loc) {
  const char *op = "depthwise_conv2d", *dimensions = "[height, width, channels, multiplier]";
  if (!x.ok() || !kernel.ok() || kernel.rank() != 4) return Convolve(op, x, kernel, dimensions, options, loc);
  const Shape k = kernel.shape();
  if (x.rank() != 4 || x.shape()[3] != k[2]) {
    return x.graph()->FailAt(op,
                             absl::StrCat("kernel ", ShapeString(k), " ", dimensions, " does not fit the input ",
                                          ShapeString(x.shape()), " [batch, height, width, channels]"),
                             loc);
  }
  // td has the kernel of a grouped convolution, in which all output channels are one dimension.
  return Convolve(op, x, Reshape(kernel, {k[0], k[1], 1, k[2] * k[3]}, loc), dimensions, options, loc);
}

Tensor MaxPool(const Tensor& x, const std::vector<int64_t>& window, const WindowOptions& options, SourceLocation loc) {
  return Pool("max_pool", x, window, options, loc);
}
Tensor AvgPool(const Tensor& x, const std::vector<int64_t>& window, const WindowOptions& options, SourceLocation loc) {
  return Pool("avg_pool", x, window, options, loc);
}

Tensor Softmax(const Tensor& logits, SourceLocation loc) { return EmitOp("softmax", {logits}, {}, loc); }
Tensor LogSoftmax(const Tensor& logits, SourceLocation loc) { return EmitOp("log_softmax", {logits}, {}, loc); }
Tensor SoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, SourceLocation loc) {
  return EmitOp("softmax_cross_entropy", {labels, logits}, {}, loc);
}
Tensor SparseSoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, SourceLocation loc) {
  return EmitOp("sparse_softmax_cross_entropy", {labels, logits}, {}, loc);
}

Tensor LayerNorm(const Tensor& x, double epsilon, SourceLocation loc) {
  if (!x.ok()) return EmitOp("layer_norm", {x}, {{"epsilon", epsilon}}, loc);
  if (!(std::isfinite(epsilon) && epsilon >= 0)) {
    return x.graph()->FailAt("layer_norm", absl::StrCat("`epsilon` must be a number >= 0, got ", epsilon), loc);
  }
  std::vector<Tensor> results = x.graph()->EmitMulti("layer_norm", {x}, {{"epsilon", epsilon}}, loc);
  return results.empty() ? x.graph()->Poisoned() : results[0];
}

Moments BatchMoments(const Tensor& x, const std::string& scope, SourceLocation loc) {
  if (!x.ok() || x.rank() == 0) {
    const Tensor failed = EmitOp("batch_moments", {x, x}, {{"scope", scope}}, loc);
    return {failed, failed};
  }
  // The number of rows, which is known only at run time for the batch.
  Tensor count = x.shape()[0] == kBatch
                     ? x.graph()->StepScalar(scope == "replica" ? "replica_example_count" : "example_count",
                                             DType::kFloat32, std::nullopt, loc)
                     : x.graph()->Constant(static_cast<float>(x.shape()[0]), loc);
  std::vector<Tensor> moments = x.graph()->EmitMulti("batch_moments", {x, count}, {{"scope", scope}}, loc);
  return moments.size() == 2 ? Moments{moments[0], moments[1]} : Moments{x.graph()->Poisoned(), x.graph()->Poisoned()};
}

Tensor RandomUniform(GraphBuilder* graph, const Shape& shape, SourceLocation loc) {
  if (graph == nullptr) return internal::WithoutBuilder("random_uniform", loc);
  Tensor seed = graph->StepScalar("seed", DType::kInt64, std::nullopt, loc);
  Tensor step = graph->StepScalar("global_step", DType::kInt64, std::nullopt, loc);
  Tensor u = graph->Emit("random_uniform", {seed, step}, {{"key", int64_t{0}}, {"shape", shape}}, loc);
  if (!u.ok()) return u;
  // The key, which selects the op's random numbers, is a fingerprint of the op's name, which is known only now. That
  // name is unique in the graph, and the same in every run of this model_fn.
  std::string name = u.name();
  auto op = graph->module().Find(name).getDefiningOp<td::RandomUniformOp>();
  op.setKey(static_cast<int64_t>(Fingerprint64(name)));
  return u;
}

}  // namespace tandem

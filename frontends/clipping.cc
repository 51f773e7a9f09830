#include "frontends/clipping.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontends/check.h"
#include "graph/graph_builder.h"
#include "graph/ops.h"

namespace tandem {
namespace {

GraphBuilder* GraphOf(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors) {
    if (t.ok()) return t.graph();
  }
  return nullptr;
}

bool IsLimit(double value) { return std::isfinite(value) && value > 0; }

std::vector<Tensor> ClipEachByNorm(GraphBuilder* graph, const std::vector<Tensor>& gradients, double norm,
                                   SourceLocation loc) {
  if (!IsLimit(norm)) {
    graph->FailAt("Optimizer", absl::StrCat("`clip.norm` must be a positive number, got ", norm), loc);
    return gradients;
  }
  std::vector<Tensor> clipped;
  NameScope scope(graph, graph->UniqueName("clip_by_norm"));
  for (const Tensor& g : gradients) {
    clipped.push_back(g);
    if (!g.ok()) continue;
    Tensor size = Norm(g, {}, 2, false, loc);
    graph->CheckFinite(size, loc);
    clipped.back() = Mul(g, Div(norm, Maximum(size, norm, loc), loc), loc);
  }
  return clipped;
}

}  // namespace

Tensor GlobalNorm(const std::vector<Tensor>& tensors, SourceLocation loc) {
  Tensor sum;
  for (const Tensor& t : tensors) {
    if (!t.ok()) continue;
    Tensor squares = ReduceSum(Square(t, loc), {}, false, loc);
    if (squares.dtype() != DType::kFloat32) squares = Cast(squares, DType::kFloat32, loc);
    sum = sum.ok() ? Add(sum, squares, loc) : squares;
  }
  return sum.ok() ? Sqrt(sum, loc) : frontends::WithoutGraph("GlobalNorm", "there is no tensor to take it of", loc);
}

std::vector<Tensor> ClipByGlobalNorm(const std::vector<Tensor>& tensors, double clip_norm, SourceLocation loc) {
  GraphBuilder* graph = GraphOf(tensors);
  if (graph == nullptr) return tensors;
  if (!IsLimit(clip_norm)) {
    graph->FailAt("ClipByGlobalNorm", absl::StrCat("the norm must be a positive number, got ", clip_norm), loc);
    return tensors;
  }
  NameScope scope(graph, graph->UniqueName("clip_by_global_norm"));
  Tensor norm = GlobalNorm(tensors, loc);
  graph->CheckFinite(norm, loc);
  Tensor scale = Div(graph->Constant(static_cast<float>(clip_norm), loc), Maximum(norm, clip_norm, loc), loc);
  std::vector<Tensor> clipped;
  for (const Tensor& t : tensors) {
    clipped.push_back(!t.ok() ? t : Mul(t, t.dtype() == scale.dtype() ? scale : Cast(scale, t.dtype(), loc), loc));
  }
  return clipped;
}

std::vector<Tensor> ClipGradients(const std::vector<Tensor>& gradients, const ClipOptions& options,
                                  SourceLocation loc) {
  GraphBuilder* graph = GraphOf(gradients);
  if (graph == nullptr) return gradients;
  if ((options.global_norm != 0) + (options.value != 0) + (options.norm != 0) > 1) {
    graph->FailAt("Optimizer",
                  absl::StrCat("set only one of `clip.global_norm`, `clip.value` and `clip.norm`, got ",
                               options.global_norm, ", ", options.value, " and ", options.norm),
                  loc);
    return gradients;
  }
  if (options.global_norm != 0) return ClipByGlobalNorm(gradients, options.global_norm, loc);
  if (options.norm != 0) return ClipEachByNorm(graph, gradients, options.norm, loc);
  if (options.value == 0) return gradients;
  if (!IsLimit(options.value)) {
    graph->FailAt("Optimizer", absl::StrCat("`clip.value` must be a positive number, got ", options.value), loc);
    return gradients;
  }
  std::vector<Tensor> clipped;
  NameScope scope(graph, graph->UniqueName("clip_by_value"));
  for (const Tensor& g : gradients) {
    clipped.push_back(g.ok() ? Maximum(Minimum(g, options.value, loc), -options.value, loc) : g);
  }
  return clipped;
}

}  // namespace tandem

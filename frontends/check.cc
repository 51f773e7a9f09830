#include "frontends/check.h"

#include "absl/strings/str_cat.h"
#include "base/host_tensor.h"

namespace tandem::frontends {

GraphBuilder* CommonGraph(absl::string_view op, std::initializer_list<NamedTensor> arguments, SourceLocation loc) {
  GraphBuilder* graph = nullptr;
  for (const NamedTensor& argument : arguments) {
    if (graph == nullptr) graph = argument.tensor.graph();
  }
  if (graph == nullptr) return nullptr;
  for (const NamedTensor& argument : arguments) {
    if (!argument.tensor.ok()) {
      // With an error on record this tensor is only its consequence, and FailAt keeps the first.
      graph->FailAt(op, absl::StrCat("`", argument.name, "` ", graph->WhyAbsent(argument.tensor)), loc);
      return nullptr;
    }
    if (argument.tensor.graph() != graph) {
      graph->FailAt(op, absl::StrCat("`", argument.name, "` belongs to another graph; model_fn must build its own"),
                    loc);
      return nullptr;
    }
  }
  return graph;
}

bool IsFloat(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

bool IsInteger(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kUInt8; }

std::string TypeString(const Tensor& x) { return absl::StrCat(Name(x.dtype()), " ", ShapeString(x.shape())); }

Tensor ScalarConstant(GraphBuilder* graph, double value, DType dtype, SourceLocation loc) {
  return dtype == DType::kFloat64 ? graph->Constant(HostTensor::Scalar<double>(value), loc)
                                  : graph->Constant(static_cast<float>(value), loc);
}

}  // namespace tandem::frontends

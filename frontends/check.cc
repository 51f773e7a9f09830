#include "frontends/check.h"

#include "absl/strings/str_cat.h"
#include "base/host_tensor.h"

namespace tandem::frontends {

GraphBuilder* CommonGraph(absl::string_view op, std::initializer_list<NamedTensor> arguments, SourceLocation loc,
                          Tensor* failed) {
  GraphBuilder* graph = nullptr;
  for (const NamedTensor& argument : arguments) {
    if (graph == nullptr) graph = argument.tensor.graph();
  }
  auto fail = [&](absl::string_view problem) {
    // If the graph already has an error, this one is only its consequence. FailAt records only the first error of a
    // graph.
    *failed = graph != nullptr ? graph->FailAt(op, problem, loc) : WithoutGraph(op, problem, loc);
    return nullptr;
  };
  for (const NamedTensor& argument : arguments) {
    if (!argument.tensor.ok()) {
      return fail(absl::StrCat("`", argument.name, "` ",
                               graph != nullptr ? graph->WhyAbsent(argument.tensor) : WhyAbsent(argument.tensor)));
    }
    if (argument.tensor.graph() != graph) {
      return fail(absl::StrCat("`", argument.name,
                               "` belongs to another graph: it was kept from an earlier call of the model_fn, or built "
                               "by another; build it anew in every call"));
    }
  }
  return graph;
}

Tensor WithoutGraph(absl::string_view op, absl::string_view problem, SourceLocation loc) {
  return Tensor::Poisoned(absl::InvalidArgumentError(absl::StrCat(op, " at ", loc.file, ":", loc.line, ": ", problem)));
}

bool IsFloat(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

bool IsInteger(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kUInt8; }

std::string TypeString(const Tensor& x) { return absl::StrCat(Name(x.dtype()), " ", ShapeString(x.shape())); }

Tensor ScalarConstant(GraphBuilder* graph, double value, DType dtype, SourceLocation loc) {
  return dtype == DType::kFloat64 ? graph->Constant(HostTensor::Scalar<double>(value), loc)
                                  : graph->Constant(static_cast<float>(value), loc);
}

}  // namespace tandem::frontends

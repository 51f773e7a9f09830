#include "graph/reference/reference.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/module/graph_module.h"
#include "graph/reference/interpreter.h"

namespace tandem {

absl::StatusOr<TensorMap> Evaluate(const GraphBuilder& graph, const TensorMap& inputs, const TensorMap& variables,
                                   const TensorMap& scalars) {
  TD_RETURN_IF_ERROR(graph.status());
  InterpreterInputs in;
  bool first = true;
  for (const auto& [name, tensor] : inputs) {
    if (tensor.rank() < 1) return absl::InvalidArgumentError(absl::StrCat("input \"", name, "\" has no rows"));
    if (!first && tensor.shape()[0] != in.batch)
      return absl::InvalidArgumentError(
          absl::StrCat("input \"", name, "\" has ", tensor.shape()[0], " rows, others have ", in.batch));
    in.batch = tensor.shape()[0];
    first = false;
    in.inputs[name] = ToRefTensor(tensor);
  }
  for (const auto& [name, tensor] : variables) in.variables[name] = ToRefTensor(tensor);
  for (const auto& [name, value] : graph.scalar_defaults())
    in.scalars[name] = {.dtype = DType::kFloat64, .shape = {}, .values = {value}};
  for (const char* name : {"example_count", "replica_example_count"})
    in.scalars[name] = {.dtype = DType::kFloat64, .shape = {}, .values = {static_cast<double>(in.batch)}};
  for (const auto& [name, tensor] : scalars) in.scalars[name] = ToRefTensor(tensor);
  TD_ASSIGN_OR_RETURN(InterpreterResults results, Interpret(graph.module().main(), in));
  TensorMap out;
  for (const auto& [name, tensor] : results.variables) out[name] = ToHostTensor(tensor);
  for (const auto& [name, tensor] : results.outputs) out[name] = ToHostTensor(tensor);
  return out;
}

}  // namespace tandem

// Checks of arguments that the frontends share. Internal to frontends/.
#ifndef TANDEM_FRONTENDS_CHECK_H_
#define TANDEM_FRONTENDS_CHECK_H_

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "base/dtype.h"
#include "base/source_location.h"
#include "graph/graph_builder.h"
#include "graph/tensor.h"

namespace tandem::frontends {

struct NamedTensor {
  const char* name;  // the parameter's name, as the user knows it
  const Tensor& tensor;
};

// Returns the graph that the arguments of `op` belong to. Returns null when an argument is poisoned (the result of an
// op with an error) or they belong to different graphs; `op` must then return *failed. A poisoned argument whose error
// is not recorded yet (a Tensor that was never set) is reported as missing.
GraphBuilder* CommonGraph(absl::string_view op, std::initializer_list<NamedTensor> arguments, SourceLocation loc,
                          Tensor* failed);

// Returns a tensor that carries the error "Dense at model.cc:12: `x` is missing". It is for cases where there is no
// graph that could record the error.
Tensor WithoutGraph(absl::string_view op, absl::string_view problem, SourceLocation loc);

bool IsFloat(DType dtype);
bool IsInteger(DType dtype);

// Returns type and shape: "float32 [b,28,28,1]".
std::string TypeString(const Tensor& x);

// Returns a scalar constant of the given floating-point type.
Tensor ScalarConstant(GraphBuilder* graph, double value, DType dtype, SourceLocation loc);

}  // namespace tandem::frontends

#endif  // TANDEM_FRONTENDS_CHECK_H_

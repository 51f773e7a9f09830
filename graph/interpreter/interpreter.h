// The reference interpreter: evaluates td programs of every phase op by op in double precision. The oracle of tests;
// slow.
#ifndef TANDEM_GRAPH_INTERPRETER_INTERPRETER_H_
#define TANDEM_GRAPH_INTERPRETER_INTERPRETER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "graph/ir/interfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Values of every dtype are exact in double, but for int64 beyond 2^53.
td::RefTensor ToRefTensor(const HostTensor& tensor);
// As float64, whatever the dtype.
HostTensor ToHostTensor(const td::RefTensor& tensor);

struct InterpreterInputs {
  // By name, for td.input, td.read, td.scalar and for arguments with these attributes (td.input, td.variable,
  // td.scalar).
  std::map<std::string, td::RefTensor> inputs, variables, scalars;
  std::vector<td::RefTensor> arguments;  // for arguments without such an attribute, in order
  int64_t batch = 0;                     // rows of every batched value
  int64_t row_offset = 0;                // global row of row 0
};

struct InterpreterResults {
  std::map<std::string, td::RefTensor> outputs;    // td.output
  std::map<std::string, td::RefTensor> variables;  // td.assign and td.update: the new values
  std::vector<td::RefTensor> results;              // results of the function without such an attribute
};

// Runs `function` as one replica with one microbatch that holds all rows. Errors: InvalidArgument for a missing input
// or one of another shape, naming it; Unimplemented for an op without a reference; what the op reports otherwise, with
// its name.
absl::StatusOr<InterpreterResults> Interpret(mlir::func::FuncOp function, const InterpreterInputs& inputs);

}  // namespace tandem

#endif  // TANDEM_GRAPH_INTERPRETER_INTERPRETER_H_

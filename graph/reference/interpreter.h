// The reference interpreter: evaluates td programs of every phase op by op in double precision. Slow; tests compare
// with it.
#ifndef TANDEM_GRAPH_REFERENCE_INTERPRETER_H_
#define TANDEM_GRAPH_REFERENCE_INTERPRETER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "graph/ir/interfaces.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tandem {

// Converts to doubles, which hold the values of every dtype exactly, except int64 beyond 2^53.
td::RefTensor ToRefTensor(const HostTensor& tensor);
// Converts to float64, whatever the dtype.
HostTensor ToHostTensor(const td::RefTensor& tensor);

struct InterpreterInputs {
  // Values by name, for td.input, td.read and td.scalar, and for arguments with the attributes td.input, td.variable
  // and td.scalar.
  std::map<std::string, td::RefTensor> inputs, variables, scalars;
  std::vector<td::RefTensor> arguments;  // values of arguments with none of these attributes, in order
  int64_t batch = 0;                     // rows of every batched value
  int64_t row_offset = 0;                // number of row 0 in the global batch
};

struct InterpreterResults {
  std::map<std::string, td::RefTensor> outputs;    // values of td.output ops by their names
  std::map<std::string, td::RefTensor> variables;  // new values of variables: td.assign ops, results with td.update
  std::vector<td::RefTensor> results;              // function results that are neither outputs nor updates
};

// Runs `function` as one replica with one microbatch that holds all rows. Errors: InvalidArgument, with its name, for
// an input that is missing or has a wrong shape; Unimplemented for an op without a reference; otherwise the op's own
// error, with its name.
absl::StatusOr<InterpreterResults> Interpret(mlir::func::FuncOp function, const InterpreterInputs& inputs);

}  // namespace tandem

#endif  // TANDEM_GRAPH_REFERENCE_INTERPRETER_H_

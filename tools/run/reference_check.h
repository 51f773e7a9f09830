// Compares the results of an executable with those of the reference interpreter for the graph stored in it.
#ifndef TANDEM_TOOLS_RUN_REFERENCE_CHECK_H_
#define TANDEM_TOOLS_RUN_REFERENCE_CHECK_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "runtime/executable/executable.h"
#include "runtime/session/scalar_value.h"

namespace tandem {

// The largest difference of a tensor's elements.
struct TensorError {
  double error = 0;      // infinite if only one of both is NaN or infinite
  double magnitude = 0;  // largest magnitude of the reference's elements
  // `absolute` is for sums of terms that cancel: only rounding errors remain of them.
  bool Within(double tolerance, double absolute) const { return error <= std::max(tolerance * magnitude, absolute); }
};

class ReferenceCheck {
 public:
  using Tensors = std::map<std::string, HostTensor>;

  // Parses the IR of phase `input`; for a program with mixed_bfloat16 that of phase `precision`. FailedPrecondition if
  // the executable has none, DataLoss if it cannot be parsed.
  static absl::StatusOr<std::unique_ptr<ReferenceCheck>> Create(const Executable& executable);
  ~ReferenceCheck();

  // OK if the interpreter, which runs as one replica, gives the results of a step in which `replicas` replicas have
  // rows. FailedPrecondition for programs with statistics of single replicas.
  absl::Status CanStandFor(int replicas) const;

  // Evaluates a step in double precision; the results stay until the next one. `inputs` are the whole batch of `rows`
  // rows, `variables` the values before the step.
  absl::Status Evaluate(int64_t rows, const Tensors& inputs, const Tensors& variables, const StepScalars& scalars);
  // The names of the variables that the step assigns.
  std::vector<std::string> updated_variables() const;
  // Compare with the reference. Internal error if it has no such value, or one with another number of elements.
  absl::StatusOr<TensorError> CompareOutput(const std::string& name, const HostTensor& value) const;
  absl::StatusOr<TensorError> CompareVariable(const std::string& name, const HostTensor& value) const;

 private:
  struct Impl;
  explicit ReferenceCheck(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_REFERENCE_CHECK_H_

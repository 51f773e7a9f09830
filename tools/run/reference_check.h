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

// The largest difference between the elements of a tensor and those that the reference interpreter computes for it.
struct TensorError {
  double error = 0;      // infinite if only one of the two elements is NaN or infinite
  double magnitude = 0;  // largest absolute value of the reference's elements
  // True if the error is at most `tolerance`, relative to the magnitude, or at most `absolute`. The latter is for sums
  // whose terms cancel, so that little more than rounding errors is left.
  bool Within(double tolerance, double absolute) const { return error <= std::max(tolerance * magnitude, absolute); }
};

class ReferenceCheck {
 public:
  using Tensors = std::map<std::string, HostTensor>;

  // Parses the IR at the end of phase `input`, or of phase `precision` for a program with mixed_bfloat16.
  // FailedPrecondition if the executable does not have it, DataLoss if it cannot be parsed.
  static absl::StatusOr<std::unique_ptr<ReferenceCheck>> Create(const Executable& executable);
  ~ReferenceCheck();

  // Returns OK if the interpreter, which runs as one replica, computes the results of a step in which `replicas`
  // replicas have rows. FailedPrecondition for programs that compute statistics of single replicas, such as batch
  // normalisation.
  absl::Status CanStandFor(int replicas) const;

  // Evaluates a step in double precision; its results are kept until the next call. `inputs` are the whole batch of
  // `rows` rows, and `variables` the values before the step.
  absl::Status Evaluate(int64_t rows, const Tensors& inputs, const Tensors& variables, const StepScalars& scalars);
  // The names of the variables that the step assigns.
  std::vector<std::string> updated_variables() const;
  // Compare a value with the reference's. Internal error if the reference has no such value, or one with another number
  // of elements.
  absl::StatusOr<TensorError> CompareOutput(const std::string& name, const HostTensor& value) const;
  absl::StatusOr<TensorError> CompareVariable(const std::string& name, const HostTensor& value) const;

 private:
  struct Impl;
  explicit ReferenceCheck(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_REFERENCE_CHECK_H_

// Compares what an executable computes with what the reference interpreter makes of the graph that is stored in it.
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
  double error = 0;      // infinite where only one of both is a NaN or infinity
  double magnitude = 0;  // of the reference's largest element
  // `absolute` is for values that are sums of terms that cancel: nothing but rounding is left of them.
  bool Within(double tolerance, double absolute) const { return error <= std::max(tolerance * magnitude, absolute); }
};

class ReferenceCheck {
 public:
  using Tensors = std::map<std::string, HostTensor>;

  // Parses the IR of phase `input`; that of `precision` for a program with mixed_bfloat16. FailedPrecondition when the
  // executable has none, DataLoss when it does not parse.
  static absl::StatusOr<std::unique_ptr<ReferenceCheck>> Create(const Executable& executable);
  ~ReferenceCheck();

  // Whether the interpreter, which runs as one replica, can stand for a step in which `replicas` replicas have rows.
  // FailedPrecondition for programs with statistics of single replicas.
  absl::Status CanStandFor(int replicas) const;

  // Evaluates a step in double precision; the results stay until the next one. `inputs`: the whole batch of `rows`
  // rows. `variables`: the values before the step.
  absl::Status Evaluate(int64_t rows, const Tensors& inputs, const Tensors& variables, const StepScalars& scalars);
  // The names that the step assigns to.
  std::vector<std::string> updated_variables() const;
  // Internal for a name that the reference did not compute or another number of elements.
  absl::StatusOr<TensorError> CompareOutput(const std::string& name, const HostTensor& value) const;
  absl::StatusOr<TensorError> CompareVariable(const std::string& name, const HostTensor& value) const;

 private:
  struct Impl;
  explicit ReferenceCheck(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_RUN_REFERENCE_CHECK_H_

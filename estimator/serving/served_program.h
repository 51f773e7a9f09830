// ServedProgram: a compiled program of mode predict with its weights, which answers several callers at the same time.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVED_PROGRAM_H_
#define TANDEM_ESTIMATOR_SERVING_SERVED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/named_tensors.h"
#include "estimator/serving/tensor_signature.h"
#include "runtime/session/concurrent_sessions.h"

namespace tandem {

// Thread-safe.
class ServedProgram {
 public:
  struct Parts {
    std::shared_ptr<const Executable> executable;
    std::shared_ptr<VariableStore> variables;  // with their values, which must not change any more
    // What a call is given and what it gets. The program may leave inputs unused and may have more outputs.
    std::vector<TensorSignature> inputs, outputs;
    int64_t rows_per_replica = 1;  // rows that a step computes on each replica; larger calls take several steps
    StepScalars scalars;           // values of the program's step scalars, except the seed
    int64_t seed = 0;              // seed of random numbers in the program
  };
  // Errors: DataLoss if the program does not have these inputs and outputs; those of ConcurrentSessions::Create.
  static absl::StatusOr<std::unique_ptr<ServedProgram>> Create(Parts parts, ConcurrentSessions::Options options);

  // Returns the outputs for a batch of any number of rows, including none. A call has the same bits whenever it is
  // made, also one with random numbers, and whatever other calls run. Errors: those of Model::Predict.
  absl::StatusOr<NamedTensors> Predict(const NamedTensors& inputs);

  const std::vector<TensorSignature>& inputs() const { return parts_.inputs; }
  const std::vector<TensorSignature>& outputs() const { return parts_.outputs; }

 private:
  explicit ServedProgram(Parts parts) : parts_(std::move(parts)) {}

  const Executable& executable() const { return *parts_.executable; }
  // Finds the places of the program's inputs and outputs.
  absl::Status Match();
  // Returns the tensors of a call in the order of the program's inputs, and their number of rows.
  absl::StatusOr<std::vector<HostTensor>> InOrder(const NamedTensors& inputs, int64_t* rows) const;
  // Computes the outputs of rows [begin, end) of a batch and writes them to the same rows of `outputs`, which are in
  // the order of outputs(); sets those that are empty. `step`: the number of the step among those of the call.
  absl::Status RunRows(const std::vector<HostTensor>& batch, int64_t begin, int64_t end, int64_t step,
                       std::vector<HostTensor>& outputs);

  const Parts parts_;
  std::vector<int> fetches_;  // for each of outputs(), its index among the program's outputs
  std::unique_ptr<ConcurrentSessions> sessions_;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_SERVING_SERVED_PROGRAM_H_

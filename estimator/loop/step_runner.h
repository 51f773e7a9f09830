// The interfaces that a loop of steps calls: a BatchSource provides the batches, and a StepRunner makes a step with
// them.
#ifndef TANDEM_ESTIMATOR_LOOP_STEP_RUNNER_H_
#define TANDEM_ESTIMATOR_LOOP_STEP_RUNNER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "runtime/session/scalar_value.h"

namespace tandem {

class Tracer;  // defined in estimator/trace/tracer.h

// The batches of one step. replicas[r][i] is component i of the batch of this process's replica r, [rows, ...]; rows
// may be 0.
struct BatchRound {
  std::vector<std::vector<HostTensor>> replicas;  // batches of this process's replicas
  std::vector<int64_t> rows;                      // rows in the batch of each replica of the step, over all processes
  int64_t examples = 0;                           // sum of `rows`
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Sets `round` to the batches of the next step; returns false at the end of the input.
  virtual absl::StatusOr<bool> Next(BatchRound* round) = 0;
  // If the batches that Next will return are ready, sets `round` to their tensors, which are not checked yet, and
  // returns true.
  virtual bool Peek(BatchRound* round) { return false; }
  // True if the batches that Next returned last end a pass over the input, as Iterator::ends_pass says of one of them.
  virtual bool ends_pass() { return false; }
  // Returns the source's speed so far, for a trace: members of a JSON object, without its braces.
  virtual std::string TraceArgs() const { return ""; }
};

struct StepRequest {
  const BatchRound* round = nullptr;
  StepScalars scalars;  // "global_step", "seed", and scalars that the model added
  std::vector<std::string> fetches;
  Tracer* tracer = nullptr;  // records the program's commands while tracing; may be null
};

struct StepOutcome {
  std::map<std::string, HostTensor> values;
  int64_t examples = 0;
  // False if a NaN or infinity was found. Then no variable has changed.
  bool finite = true;
  // The global step after this step; set only if other workers make steps as well (parameter servers).
  std::optional<int64_t> global_step;
};

// Makes the steps of one compiled mode. Implemented by SessionRunner.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual absl::StatusOr<StepOutcome> Run(const StepRequest& request) = 0;
  // True if Prefetch makes steps faster.
  virtual bool WantsNext() const { return false; }
  // Announces the batches of the step after the next Run, so that copying them to the devices may begin. Returns at
  // once.
  virtual void Prefetch(const BatchRound& round) {}
  // Returns the first op with a NaN or infinity in that step, with its source line; "" if there is none.
  virtual absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_STEP_RUNNER_H_

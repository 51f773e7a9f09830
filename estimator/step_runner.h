// The two things a loop needs: where its batches come from, and who runs a step on them.
#ifndef TANDEM_ESTIMATOR_STEP_RUNNER_H_
#define TANDEM_ESTIMATOR_STEP_RUNNER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/host_tensor.h"
#include "runtime/scalar_value.h"

namespace tandem {

class Tracer;  // estimator/trace/tracer.h

// The batches of one step. replicas[r][i] is component i of replica r's batch, [rows, ...]; rows may be 0.
struct BatchRound {
  std::vector<std::vector<HostTensor>> replicas;  // of this process
  std::vector<int64_t> rows;                      // of every replica, those of other processes too
  int64_t examples = 0;                           // of all of them
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // The batches of the next step; false at the end of the input.
  virtual absl::StatusOr<bool> Next(BatchRound* round) = 0;
  // Whether the round that Next will give is there already, and then its tensors, without their checks.
  virtual bool Peek(BatchRound* round) { return false; }
  // Whether the round that Next has given last ends a pass over the input: Iterator::ends_pass of one of its batches.
  virtual bool ends_pass() { return false; }
  // How fast it has been so far, for a trace: the inside of a JSON object.
  virtual std::string TraceArgs() const { return ""; }
};

struct StepRequest {
  const BatchRound* round = nullptr;
  StepScalars scalars;  // "global_step", "seed", and what the model added
  std::vector<std::string> fetches;
  Tracer* tracer = nullptr;  // gets the program's commands while it records; may be null
};

struct StepOutcome {
  std::map<std::string, HostTensor> values;
  int64_t examples = 0;
  bool finite = true;  // false: a NaN or infinity was found and no variable has changed
  // The global step behind it, where others make steps as well.
  std::optional<int64_t> global_step;
};

// Runs the steps of one compiled mode. Implemented by SessionRunner.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual absl::StatusOr<StepOutcome> Run(const StepRequest& request) = 0;
  // Whether it helps to know the next round before it is run.
  virtual bool WantsNext() const { return false; }
  // The round of the coming Run but one: its copies to the devices may begin. Returns at once.
  virtual void Prefetch(const BatchRound& round) {}
  // The first op with a NaN or infinity in that step, with its source line; empty when there is none.
  virtual absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) = 0;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_STEP_RUNNER_H_

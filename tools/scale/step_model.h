// A model of a compiled training step for the scaling study: its computation time, and when each bucket of gradients is
// ready to be combined.
#ifndef TANDEM_TOOLS_SCALE_STEP_MODEL_H_
#define TANDEM_TOOLS_SCALE_STEP_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// The seconds that one device takes for each command of the program, all its lanes and microbatches together, indexed
// by the id of ListCommands (runtime/executable/command_info.h). Also the number of microbatches.
struct CommandSeconds {
  std::vector<double> seconds;
  double microbatches = 1;
};

struct Bucket {
  int seq = 0;
  std::string name;  // number of the bucket, and its first tensor
  double bytes = 0;
  double ready = 0;  // seconds into the step at which the bucket's last tensor is ready
  // True if the computation cannot continue before the all-reduce is done, as for statistics over all replicas.
  bool blocking = false;
};

struct StepModel {
  double compute = 0;           // seconds from the start of the step to the end of the backward pass
  double tail = 0;              // seconds after the last collective: check for NaN and infinity, and update
  std::vector<Bucket> buckets;  // in the order of their numbers
};

// Makes the model from the program's collectives and the commands that compute their inputs. The gradients of the last
// microbatch become ready one by one during its backward pass; those of earlier microbatches have been added before. If
// `overlap` is false, no bucket is ready before the whole backward pass is done, as in the CPU runtime. `times` has one
// entry for each command of ListCommands. InvalidArgument if the program has no collectives because it was compiled for
// one device.
absl::StatusOr<StepModel> MakeStepModel(const Executable& executable, const CommandSeconds& times, bool overlap);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_STEP_MODEL_H_

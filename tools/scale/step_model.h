// A model of a compiled training step for the scaling study: its computation time, and when each bucket of gradients is
// ready to be combined.
#ifndef TANDEM_TOOLS_SCALE_STEP_MODEL_H_
#define TANDEM_TOOLS_SCALE_STEP_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Seconds that one device takes for each command of the program, by id in ListCommands
// (runtime/executable/command_info.h): all
// its lanes and microbatches together. Also the number of microbatches.
struct CommandSeconds {
  std::vector<double> seconds;
  double microbatches = 1;
};

struct Bucket {
  int seq = 0;
  std::string name;  // scope of the collective and its first tensor
  double bytes = 0;
  double ready = 0;       // seconds into the step at which its last tensor is ready
  bool blocking = false;  // the step cannot continue before it is done (statistics of all replicas)
};

struct StepModel {
  double compute = 0;           // seconds from the start of the step to the end of the backward pass
  double tail = 0;              // seconds after the last collective: finite check and update
  std::vector<Bucket> buckets;  // in the order of their numbers
};

// Reads the collectives and the producers of their inputs. The gradients of the last microbatch become ready one by one
// during its backward pass; those of earlier microbatches have been added before. With `overlap` false no bucket is
// ready before the whole backward pass is done, as in the CPU runtime. `times` has one entry per command of
// ListCommands. InvalidArgument when the program has no collectives: it was compiled for one device.
absl::StatusOr<StepModel> MakeStepModel(const Executable& executable, const CommandSeconds& times, bool overlap);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_STEP_MODEL_H_

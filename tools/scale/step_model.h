// A compiled training step as the scaling study sees it: how long it computes, and when each bucket of gradients is
// ready to be combined.
#ifndef TANDEM_TOOLS_SCALE_STEP_MODEL_H_
#define TANDEM_TOOLS_SCALE_STEP_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"

namespace tandem {

// Seconds that one device takes for a command of the program, by id of ListCommands
// (runtime/executable/command_info.h): all its lanes and microbatches together, and how many microbatches there were.
struct CommandSeconds {
  std::vector<double> seconds;
  double microbatches = 1;
};

struct Bucket {
  int seq = 0;
  std::string name;  // scope of the collective and its first tensor
  double bytes = 0;
  double ready = 0;       // seconds into the step when the last of its tensors is there
  bool blocking = false;  // the step cannot compute on before it is done (statistics of all replicas)
};

struct StepModel {
  double compute = 0;           // seconds from the start of the step to the end of the backward pass
  double tail = 0;              // seconds behind the last collective: finite check and update
  std::vector<Bucket> buckets;  // in the order of their numbers
};

// Reads the collectives and their inputs' producers. The last microbatch's gradients become ready one by one as its
// backward pass goes on; those of earlier microbatches have been added before. With `overlap` false no bucket is ready
// before the whole backward pass is done, as in the CPU runtime. `times` has one entry per command of ListCommands.
// InvalidArgument when the program has no collectives: it was compiled for one device.
absl::StatusOr<StepModel> MakeStepModel(const Executable& executable, const CommandSeconds& times, bool overlap);

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_STEP_MODEL_H_

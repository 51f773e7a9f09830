// The .npz file of a step that was made again: its tensors by their names, and under kStepEntry, as UTF-8 in bytes,
//
//   {"format": "tandem-step-1", "step": 234, "run": "/data/run",
//    "order": [["dense/MatMul", "matmul of flatten/Reshape, dense/kernel: float32 [b,64], at model.cc:48"], ...]}
//
// in which the order is that of the model: what a tensor is computed from stands before it.
#ifndef TANDEM_ESTIMATOR_REPLAY_STEP_FILE_H_
#define TANDEM_ESTIMATOR_REPLAY_STEP_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/host_tensor.h"

namespace tandem {

inline constexpr char kStepEntry[] = "@step";

struct StepFile {
  int64_t step = -1;  // -1: an archive that somebody else has written
  std::string run;    // its model_dir
  // Names of tensors, with what is to be said of them. Those that no op makes come last: values behind the step.
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::string, HostTensor> arrays;  // without kStepEntry
};

// The order of `sources`, names in the file and the names in the graph of what they are, by the parts of the graph
// (GraphPartsOf). Names that are in no part are left out.
std::vector<std::pair<std::string, std::string>> OrderOfModel(
    const std::vector<std::pair<std::string, std::string>>& parts, const std::map<std::string, std::string>& sources);

// Errors: those of SerializeNpz.
absl::StatusOr<std::string> SerializeStepFile(const StepFile& file);
// Errors: those of ReadNpz; DataLoss where kStepEntry is there and is not what it should be.
absl::StatusOr<StepFile> ReadStepFile(const std::string& path);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_STEP_FILE_H_

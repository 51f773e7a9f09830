// The .npz file of a replayed step: its tensors by name and, as an array kStepEntry of UTF-8 bytes,
//
//   {"format": "tandem-step-1", "step": 234, "run": "/data/run",
//    "order": [["dense/MatMul", "matmul of flatten/Reshape, dense/kernel: float32 [b,64], at model.cc:48"], ...]}
//
// The order is that of the model: a tensor comes after those that it is computed from.
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
  int64_t step = -1;  // -1 if the archive is not from a replay
  std::string run;    // the run's model_dir
  // Names of tensors with texts about them. Tensors that no op makes, such as values after the step, are not listed,
  // and count as coming after the listed ones.
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::string, HostTensor> arrays;  // the tensors, without the entry kStepEntry
};

// Returns the names in `sources`, in the order of the parts of the graph (GraphPartsOf), with the parts' texts.
// `sources` maps names in the file to names in the graph. Leaves out names that are in no part.
std::vector<std::pair<std::string, std::string>> OrderOfModel(
    const std::vector<std::pair<std::string, std::string>>& parts, const std::map<std::string, std::string>& sources);

// Returns the bytes of the file. Errors: those of SerializeNpz.
absl::StatusOr<std::string> SerializeStepFile(const StepFile& file);
// Reads a file. Errors: those of ReadNpz; DataLoss if the entry kStepEntry exists and is malformed.
absl::StatusOr<StepFile> ReadStepFile(const std::string& path);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_REPLAY_STEP_FILE_H_

// run.json: what a run is made of, beside its record of steps (steps_file.h), so that a replay can tell another program
// and `tandem-compare` can say in what two runs differ.
//
//   {"format": "tandem-run-1",
//    "starts": [{"step": 0, "seed": 0, "replicas": 2, ..., "configuration": [["precision", "float32"], ...]}, ...],
//    "programs": {"0123456789abcdef": [["the op dense/MatMul", "matmul of ..., at model.cc:48"], ...]}}
#ifndef TANDEM_ESTIMATOR_RECORD_RUN_DESCRIPTION_H_
#define TANDEM_ESTIMATOR_RECORD_RUN_DESCRIPTION_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

inline constexpr char kRunName[] = "run.json";

// Names with what is to be said of them, in order.
using Facts = std::vector<std::pair<std::string, std::string>>;

// A start of the training: from nothing, or from a checkpoint.
struct RunStart {
  int64_t step = 0;
  uint64_t seed = 0;
  int64_t replicas = 1, workers = 1;
  int64_t batch = 0;  // examples of a replica in a step
  int64_t lanes = 0, microbatch_rows = 0;
  std::vector<std::string> fetches;  // by hooks: the program has them as outputs
  std::string program;               // a key of RunDescription::programs
  std::string data;                  // Dataset::Fingerprint
  std::string input;    // a fingerprint of the input's position at the start: of its stages, their options and seeds
  Facts configuration;  // RunConfig
  Facts numbers;        // of model_fn, which no program has: rates; and hyperparameters
  Facts compiler;       // options and machine model
  Facts machine;        // processor, target, build

  bool operator==(const RunStart&) const = default;
};

struct RunDescription {
  std::vector<RunStart> starts;  // by step
  std::map<std::string, Facts> programs;

  // The start that made a step; null where none is known.
  const RunStart* At(int64_t step) const;
  // Adds a start, which takes the place of those of its step and later ones. One like the last makes no difference.
  void Add(RunStart start, Facts program);
};

// Nothing where there is no file. DataLoss for one that is no description.
absl::StatusOr<std::optional<RunDescription>> ReadRunDescription(Env* env, const std::string& model_dir);
absl::Status WriteRunDescription(Env* env, const std::string& model_dir, const RunDescription& description);

// A program without the lines that made it, so that a comment more is no other program.
std::string ProgramFingerprint(const Facts& program);
// "matmul of a, b: float32 [b,64]" of "matmul of a, b: float32 [b,64], at model.cc:48".
absl::string_view WithoutPlace(absl::string_view words);

// The differences of two lists by name, each a line "NAME is X, and was Y" by the words that are given. At most
// `most` of them; a last line counts the others.
std::vector<std::string> FactDifferences(const Facts& a, const Facts& b, absl::string_view of_a, absl::string_view of_b,
                                         bool without_places = false, size_t most = 8);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_RUN_DESCRIPTION_H_

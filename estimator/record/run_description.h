// run.json describes a run, beside its record of steps (steps_file.h). With it a replay notices another program, and
// `tandem-compare` can say how two runs differ.
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

// Names with texts about them, in order.
using Facts = std::vector<std::pair<std::string, std::string>>;

// A start of the training: from the beginning, or from a checkpoint.
struct RunStart {
  int64_t step = 0;
  uint64_t seed = 0;
  int64_t replicas = 1, workers = 1;
  int64_t batch = 0;  // examples per replica and step
  int64_t lanes = 0, microbatch_rows = 0;
  std::vector<std::string> fetches;  // tensors that hooks fetch, which are outputs of the program
  std::string program;               // the program's key in RunDescription::programs
  std::string data;                  // Dataset::Fingerprint of the input
  // fingerprint of the input's position at the start; depends on the input's stages, their options and seeds
  std::string input;
  Facts configuration;  // fields of RunConfig
  Facts numbers;        // numbers that are not part of a program: learning rates and hyperparameters
  Facts compiler;       // compiler options and machine model
  Facts machine;        // processor, target and build of the library

  bool operator==(const RunStart&) const = default;
};

struct RunDescription {
  std::vector<RunStart> starts;  // sorted by step
  std::map<std::string, Facts> programs;

  // Returns the start that led to a step; null if none is known.
  const RunStart* At(int64_t step) const;
  // Adds a start and removes those of its step and later steps. A start that equals the last one is not added.
  void Add(RunStart start, Facts program);
};

// Returns nothing if the file does not exist. DataLoss if it is no description.
absl::StatusOr<std::optional<RunDescription>> ReadRunDescription(Env* env, const std::string& model_dir);
absl::Status WriteRunDescription(Env* env, const std::string& model_dir, const RunDescription& description);

// Returns a fingerprint of a program without its source lines, so that adding a comment does not change it.
std::string ProgramFingerprint(const Facts& program);
// Returns "matmul of a, b: float32 [b,64]" for "matmul of a, b: float32 [b,64], at model.cc:48".
absl::string_view WithoutPlace(absl::string_view words);

// Returns the differences of two lists by name, each a line such as "NAME is X in A and Y in B"; `of_a` and `of_b` name
// the lists. Returns at most `most` of them; a last line counts the others.
std::vector<std::string> FactDifferences(const Facts& a, const Facts& b, absl::string_view of_a, absl::string_view of_b,
                                         bool without_places = false, size_t most = 8);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_RUN_DESCRIPTION_H_

// The side of a program that runs in turns with the frameworks of benchmarks/peers: reads commands from standard input
// and writes answers to standard output, one line each (the other side is benchmarks/peers/protocol.py).
#ifndef TANDEM_BENCHMARKS_WORKER_H_
#define TANDEM_BENCHMARKS_WORKER_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace tandem::benchmarks {

// Returns the largest amount of memory that this process has used so far, in bytes.
double PeakRssBytes();

void Answer(const nlohmann::json& line);
// Prints the answer to "run N": a line of JSON with the event "ran", the number of steps and the members of `more`.
void AnswerRan(int64_t steps, nlohmann::json more);

// Reads the next command: returns N for "run N", and nullopt for "quit" or at the end of the input. InvalidArgument for
// any other line.
absl::StatusOr<std::optional<int64_t>> NextRun();

// Reads commands until "quit" or the end of the input. For each "run N", calls `run`(N) and answers "ran" with its
// result.
absl::Status ObeyCommands(absl::FunctionRef<absl::StatusOr<nlohmann::json>(int64_t steps)> run);

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_WORKER_H_

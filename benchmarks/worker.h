// The side of a program that takes turns with the peers of benchmarks/peers: commands on standard input, answers on
// standard output, one line each (benchmarks/peers/protocol.py speaks the same).
#ifndef TANDEM_BENCHMARKS_WORKER_H_
#define TANDEM_BENCHMARKS_WORKER_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace tandem::benchmarks {

// The most memory that this process has had.
double PeakRssBytes();

void Answer(const nlohmann::json& line);
// "ran" N steps, with `more`.
void AnswerRan(int64_t steps, nlohmann::json more);

// Waits for "run N" and returns N; nothing at "quit" or the end of the input. InvalidArgument for any other line.
absl::StatusOr<std::optional<int64_t>> NextRun();

// Until the end: calls `run`(N) and answers "ran" with what it returns.
absl::Status ObeyCommands(absl::FunctionRef<absl::StatusOr<nlohmann::json>(int64_t steps)> run);

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_WORKER_H_

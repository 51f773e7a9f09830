// The side of a program that takes turns with the peers of benchmarks/peers: commands on standard input, answers on
// standard output, one line each (benchmarks/peers/protocol.py speaks the same).
#ifndef TANDEM_BENCHMARKS_WORKER_H_
#define TANDEM_BENCHMARKS_WORKER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace tandem::benchmarks {

// The most memory that this process has had.
double PeakRssBytes();

void Answer(const nlohmann::json& line);

// "run N" calls `run`(N) and answers "ran" with what it returns; "quit" or the end of the input ends it.
// InvalidArgument for any other line.
absl::Status ObeyCommands(absl::FunctionRef<absl::StatusOr<nlohmann::json>(int64_t steps)> run);

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_WORKER_H_

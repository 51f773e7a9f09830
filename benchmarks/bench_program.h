// A benchmark's model, compiled and ready to run on random data in memory.
#ifndef TANDEM_BENCHMARKS_BENCH_PROGRAM_H_
#define TANDEM_BENCHMARKS_BENCH_PROGRAM_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "benchmarks/models/model.h"
#include "passes/compile.h"
#include "runtime/executable.h"
#include "runtime/session.h"
#include "runtime/variable_store.h"

namespace tandem::benchmarks {

struct BenchProgram {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<VariableStore> variables;
  std::shared_ptr<Session> session;
  std::shared_ptr<StepInputs> inputs;
  double flops_per_step = 0;  // of the global batch
  int64_t parameters = 0;     // of trainable and other variables, without the optimizer's
  double build_seconds = 0, compile_seconds = 0, create_seconds = 0;

  // Runs one step; returns the loss. DataLoss when a training step's loss or a gradient is not finite.
  absl::StatusOr<double> Step();
};

// Compiles for `options`, with a session of options.threads threads, and initialises variables. `time_commands`: with a
// clock around every command of the program.
absl::StatusOr<BenchProgram> PrepareProgram(const BenchModel& model, const CompileOptions& options, bool time_commands);

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_BENCH_PROGRAM_H_

// Compiles a benchmark's model and runs its steps on random data in memory.
#ifndef TANDEM_BENCHMARKS_BENCH_PROGRAM_H_
#define TANDEM_BENCHMARKS_BENCH_PROGRAM_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/statusor.h"
#include "benchmarks/models/model.h"
#include "passes/compile/compile.h"
#include "runtime/executable/executable.h"
#include "runtime/session/session.h"
#include "runtime/variables/variable_store.h"

namespace tandem::benchmarks {

// Copies the batch of the next step to the devices while a step runs, in a separate thread, as training does. Every
// step has the same batch.
class BatchAhead {
 public:
  // `batch` has the inputs of a step, but no step scalars (numbers such as the learning rate).
  BatchAhead(std::shared_ptr<Session> session, StepInputs batch);
  ~BatchAhead();
  BatchAhead(const BatchAhead&) = delete;
  BatchAhead& operator=(const BatchAhead&) = delete;
  // Starts the copy for the next step. Call it before every step.
  void BringNext();

 private:
  void Bring();

  const std::shared_ptr<Session> session_;
  const StepInputs batch_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false, stop_ = false;
  std::thread thread_;
};

struct BenchProgram {
  std::shared_ptr<const Executable> executable;
  std::shared_ptr<VariableStore> variables;
  std::shared_ptr<Session> session;
  std::shared_ptr<StepInputs> inputs;
  double flops_per_step = 0;  // floating-point operations for the global batch
  int64_t parameters = 0;     // elements of all variables, without the optimizer's slots
  double build_seconds = 0, compile_seconds = 0, create_seconds = 0;
  std::shared_ptr<BatchAhead> ahead;  // null if batches need not be copied to devices
  double issue_seconds = 0;           // seconds in which all steps issued commands to GPUs

  // Runs one step and returns its loss. DataLoss when the loss or a gradient of a training step is not finite.
  absl::StatusOr<double> Step();
};

// Compiles the model with `options`, makes a session with options.threads threads, and initialises the variables. With
// `time_commands`, the session measures the time of every command (kernel or library call) of the program.
// `deadline_seconds` is how long a step on GPUs may take before a device counts as lost.
absl::StatusOr<BenchProgram> PrepareProgram(const BenchModel& model, const CompileOptions& options, bool time_commands,
                                            double deadline_seconds = 600);

}  // namespace tandem::benchmarks

#endif  // TANDEM_BENCHMARKS_BENCH_PROGRAM_H_

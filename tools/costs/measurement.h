// Measures the times of a program's commands in runs on this machine, or reads them from a trace file.
#ifndef TANDEM_TOOLS_COSTS_MEASUREMENT_H_
#define TANDEM_TOOLS_COSTS_MEASUREMENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executable/executable.h"
#include "runtime/session/command_trace.h"

namespace tandem {

// Sums over all calls of one command.
struct CommandMeasurement {
  int64_t calls = 0;
  int64_t rows = 0;  // rows of all calls together; 0 for global commands
  // Seconds of all calls. For map commands, which each thread runs for its microbatches, the sum over the threads. For
  // global commands, which all threads run together, the sum of the times from the first thread's begin to the last
  // thread's end.
  double seconds = 0;
  // Seconds of the call with the median duration, and the number of rows of that call (0 for global commands). Other
  // processes that interrupt some calls hardly change the median, unlike the mean.
  double median_seconds = 0;
  int64_t median_rows = 0;
};

struct Measurement {
  int threads = 0;
  int64_t runs = 0;        // number of runs of the whole program
  double run_seconds = 0;  // median seconds of a run
  double mean_run_seconds = 0;
  std::vector<CommandMeasurement> commands;  // indexed by the id of ListCommands
};

// Collects the traces of runs. AddRun adds a run that took `seconds`.
class MeasurementBuilder {
 public:
  explicit MeasurementBuilder(const Executable& executable);
  void AddRun(const CommandTrace& trace, double seconds);
  Measurement Finish();

 private:
  void AddCall(int32_t id, double seconds, int64_t rows);

  Measurement result_;
  std::vector<double> run_seconds_;
  // For each command id, the seconds and rows of each call.
  std::vector<std::vector<std::pair<double, int64_t>>> calls_;
};

// Runs the program at `path` on random inputs: first a few times to warm up, then with timing for at least `seconds`
// and three runs. `threads` 0: the machine's number of cores. Errors: those of LoadExecutable and Run.
absl::StatusOr<Measurement> MeasureOnRandomInputs(const std::string& path, int threads, double seconds);

// Reads a file written by --trace; a run lasts from the start of its first command to the end of its last one. Errors:
// those of Env for the file; DataLoss (exit code 65) for a file that is no such trace; FailedPrecondition when it has
// no commands of this executable, with the names of the programs that it has.
absl::StatusOr<Measurement> ReadProfile(const std::string& file, const Executable& executable);

}  // namespace tandem

#endif  // TANDEM_TOOLS_COSTS_MEASUREMENT_H_

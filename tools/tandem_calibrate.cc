// tandem-calibrate [--output=FILE]: measures this machine's speed and writes it as a machine model.
//
// Programs that compile with TANDEM_FLAGS="--machine-model=FILE" read the file; the built-in models of the compiler are
// in passes/analysis/targets.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/flag_table.h"
#include "base/output_file.h"
#include "base/processors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "base/tool_program.h"
#include "tools/calibrate/measure.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct CalibrateFlags : FlagTable {
  Flag<std::string> output{this, "output", "", "A file to write the machine model to; without it, it is printed."};
  Flag<int> threads{this, "threads", 0,
                    "Threads for the bandwidth of the whole machine; 0: the machine's number of cores."};
  Flag<double> seconds{this, "seconds", 7, "About how long to measure."};
};

absl::Status Calibrate(const CalibrateFlags& flags) {
  const double seconds = *flags.seconds;
  if (!(seconds > 0 && seconds < 3600)) {
    return absl::InvalidArgumentError(absl::StrCat("--seconds: ", seconds, " is not in (0, 3600)"));
  }
  int threads = *flags.threads;
  TD_RETURN_IF_ERROR(CheckThreadCount("--threads", threads));
  const std::string path = *flags.output;
  if (!path.empty()) TD_RETURN_IF_ERROR(CheckOutputFile(Env::Default(), "--output", path));
  if (threads == 0) threads = UsableProcessors();
  TD_ASSIGN_OR_RETURN(const MachineModel model, MeasureMachine(threads, seconds));
  const std::string text =
      absl::StrCat("# Measured with tandem-calibrate on ", threads,
                   " threads. Rates are of one core but where the name says machine.\n", MachineModelText(model));
  if (!path.empty()) return WriteOutputFile(Env::Default(), "--output", path, text);
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace

int TandemCalibrate(int argc, char** argv) {
  return RunToolProgram<CalibrateFlags>(argc, argv, "measures this machine for the compiler's cost model", Calibrate);
}

}  // namespace tandem

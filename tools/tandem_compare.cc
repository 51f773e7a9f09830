// tandem-compare: shows where the bits of two trainings, or of two computations of one step, begin to differ, and in
// what the runs differ.
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "tools/compare/compare_runs.h"
#include "tools/compare/compare_steps.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

constexpr char kUsage[] =
    "tandem-compare RUN_A RUN_B: the first step whose bits differ between two trainings, and in what their programs, "
    "data, settings and machines differ. RUN is a model_dir.\n"
    "tandem-compare A.npz B.npz: the first tensor, in the order of the model, that differs between two makings of a "
    "step (--replay_step=N --dump_step --replay_out=A.npz).\n"
    "Exit code 0 when no bit that both have differs, else 1.";

bool IsStepFile(const std::string& path) { return absl::EndsWith(path, ".npz"); }

absl::Status Run(const FlagTable&, const std::vector<std::string>& arguments) {
  if (arguments.size() != 2) {
    return absl::InvalidArgumentError(absl::StrCat("two runs, or two files, are needed; usage:\n", kUsage));
  }
  const std::string &a = arguments[0], &b = arguments[1];
  const bool steps = IsStepFile(a);
  if (steps != IsStepFile(b)) {
    return absl::InvalidArgumentError(absl::StrCat("of ", a, " and ", b, " one is an .npz file; give two of one kind"));
  }
  TD_ASSIGN_OR_RETURN(const RunDifferences differences, steps ? CompareSteps(a, b) : CompareRuns(Env::Default(), a, b));
  std::cout << differences.text;
  if (differences.equal) return absl::OkStatus();
  return WithExitCode(absl::InternalError(absl::StrCat(a, " and ", b, " differ")), kExitInternal);
}

}  // namespace

int TandemCompare(int argc, char** argv) { return RunToolProgram<FlagTable>(argc, argv, kUsage, Run); }

}  // namespace tandem

// tandem-compare RUN_A RUN_B: where the bits of two trainings part, and in what the runs differ.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "base/exit_code.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "tools/compare/compare_runs.h"

namespace tandem {
namespace {

constexpr char kUsage[] =
    "tandem-compare RUN_A RUN_B: the first step whose bits differ between two trainings, and in what their programs, "
    "data, settings and machines differ. RUN is a model_dir. Exit code 0 when no bit that both have recorded differs, "
    "else 1.";

absl::Status Run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 2) return absl::InvalidArgumentError(absl::StrCat("two runs are needed; usage:\n", kUsage));
  TD_ASSIGN_OR_RETURN(const RunDifferences differences, CompareRuns(Env::Default(), arguments[0], arguments[1]));
  std::cout << differences.text;
  if (differences.equal) return absl::OkStatus();
  return WithExitCode(absl::InternalError(absl::StrCat(arguments[0], " and ", arguments[1], " differ")), kExitInternal);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) { return tandem::RunProgram(argc, argv, tandem::kUsage, tandem::Run); }

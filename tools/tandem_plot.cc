// tandem-plot MODEL_DIR...: draws learning curves as one page for a browser.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/env.h"
#include "base/flag_table.h"
#include "base/output_file.h"
#include "base/status_macros.h"
#include "base/tool_program.h"
#include "estimator/curves/runs.h"
#include "tools/plot/page.h"
#include "tools/tool_functions.h"

namespace tandem {
namespace {

struct PlotFlags : FlagTable {
  Flag<std::string> o{this, "o", "", "the file that the page is written to (default: standard output)"};
};

absl::Status Write(const std::string& path, const std::string& page) {
  if (!path.empty()) return WriteOutputFile(Env::Default(), "-o", path, page);
  std::cout << page;
  return absl::OkStatus();
}

absl::Status Plot(const PlotFlags& flags, const std::vector<std::string>& folders) {
  if (folders.empty()) return absl::InvalidArgumentError("usage: tandem-plot MODEL_DIR [MODEL_DIR...] [-o FILE]");
  const std::string path = *flags.o;
  if (path.empty() && isatty(STDOUT_FILENO) == 1) {
    return absl::InvalidArgumentError("standard output is a terminal, and a page is for browsers: add -o curves.html");
  }
  if (!path.empty()) TD_RETURN_IF_ERROR(CheckOutputFile(Env::Default(), "-o", path));
  TD_ASSIGN_OR_RETURN(const PlotRuns runs, ReadRuns(Env::Default(), folders));
  TD_RETURN_IF_ERROR(Write(path, CurvesPage(runs)));
  if (runs.damaged.empty()) return absl::OkStatus();
  // The page was written, but the error lets a script that calls this program know that the page is incomplete.
  const auto message = [](std::string* out, const absl::Status& status) { absl::StrAppend(out, status.message()); };
  return absl::Status(
      runs.damaged.front().code(),
      absl::StrCat(absl::StrJoin(runs.damaged, "\n", message), "\nThe page was written with what is whole; ",
                   "delete or move damaged files to be rid of this message"));
}

}  // namespace

int TandemPlot(int argc, char** argv) {
  return RunToolProgram<PlotFlags>(argc, argv, "learning curves of MODEL_DIRs as one page for a browser", Plot);
}

}  // namespace tandem

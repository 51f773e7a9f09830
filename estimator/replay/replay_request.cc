#include "estimator/replay/replay_request.h"

#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/end_of_program.h"
#include "base/exit_code.h"

ABSL_FLAG(int64_t, replay_step, -1,
          "Makes a step of the run in model_dir again, the one with so many steps before it, and ends. Nothing is "
          "trained, nor written into model_dir.");
ABSL_FLAG(std::vector<std::string>, fetch, {}, "With --replay_step: names of tensors to print, separated by commas.");
ABSL_FLAG(std::string, fetch_line, "",
          "With --replay_step: prints all tensors that a line of the model makes, model.cc:41, and their gradients.");
ABSL_FLAG(bool, dump_step, false, "With --replay_step: prints all tensors of the step.");
ABSL_FLAG(std::string, replay_out, "", "With --replay_step: an .npz file for the tensors, which NumPy reads.");

namespace tandem {
namespace {

// Returns the status of the whole program. A replay ends the training with an error whose exit code is 0. If a program
// with --replay_step ends without such an error, it has replayed nothing, which is an error.
absl::Status AfterReplay(const absl::Status& status) {
  const int64_t step = absl::GetFlag(FLAGS_replay_step);
  if (step == -1) return status;
  if (!status.ok()) return ExitCodeFor(status) == kExitOk ? absl::OkStatus() : status;
  return absl::FailedPreconditionError(
      absl::StrCat("--replay_step=", step,
                   ": the program has ended, and none of its calls of Train and TrainAndEvaluate makes this ",
                   "step; give it the flags that the run had, max_steps above all"));
}
const AtEndOfProgram kAfterReplay(AfterReplay);

std::optional<ReplayRequest>& ReplayInPlaceOfFlags() {
  static auto& request = *new std::optional<ReplayRequest>();
  return request;
}

absl::Status BadReplayFlag(absl::string_view flag, absl::string_view value, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat("flag --", flag, ": bad value \"", value, "\": ", wanted));
}

}  // namespace

absl::StatusOr<std::optional<ReplayRequest>> ReplayOfProcess() {
  if (ReplayInPlaceOfFlags().has_value()) return ReplayInPlaceOfFlags();
  ReplayRequest request{.step = absl::GetFlag(FLAGS_replay_step),
                        .fetch_line = absl::GetFlag(FLAGS_fetch_line),
                        .dump_step = absl::GetFlag(FLAGS_dump_step),
                        .out = absl::GetFlag(FLAGS_replay_out)};
  const std::vector<std::string> fetches = absl::GetFlag(FLAGS_fetch);
  if (request.step == -1) {
    const char* other = !fetches.empty()              ? "fetch"
                        : !request.fetch_line.empty() ? "fetch_line"
                        : request.dump_step           ? "dump_step"
                        : !request.out.empty()        ? "replay_out"
                                                      : nullptr;
    if (other == nullptr) return std::nullopt;
    return absl::InvalidArgumentError(
        absl::StrCat("flag --", other, " belongs to a replay: say which step with --replay_step=N"));
  }
  if (request.step < 0) {
    return BadReplayFlag("replay_step", absl::StrCat(request.step),
                         "a number of steps, 0 for the first step of the run");
  }
  for (const std::string& fetch : fetches) {
    const absl::string_view name = absl::StripAsciiWhitespace(fetch);
    if (name.empty()) {
      return BadReplayFlag("fetch", absl::StrJoin(fetches, ","), "names of tensors, separated by commas");
    }
    request.fetches.emplace_back(name);
  }
  if (const std::string& line = request.fetch_line; !line.empty()) {
    const size_t colon = line.rfind(':');
    int64_t number = 0;
    if (colon == std::string::npos || colon == 0 || !absl::SimpleAtoi(line.substr(colon + 1), &number) || number < 1) {
      return BadReplayFlag("fetch_line", line, "a file and a line of it, as in model.cc:41");
    }
  }
  if (!request.out.empty() && !absl::EndsWith(request.out, ".npz")) {
    return BadReplayFlag("replay_out", request.out, "a file whose name ends in .npz");
  }
  return request;
}

void SetReplayOfProcess(std::optional<ReplayRequest> request) { ReplayInPlaceOfFlags() = std::move(request); }

absl::Status ReplayDone(int64_t step) {
  return WithExitCode(
      absl::CancelledError(absl::StrCat("the replay of step ", step, " is done, and with it the program")), kExitOk);
}

}  // namespace tandem

#include "samples/loss_log.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "tandem/base/exit_code.h"
#include "tandem/base/non_finite_name.h"
#include "tandem/base/status_macros.h"
#include "tandem/base/text_file.h"

namespace tandem {

absl::Status LossLog::WriteError() const {
  return WithExitCode(absl::UnavailableError(absl::StrCat(path_, ": the loss log cannot be written")), kExitIo);
}

absl::Status LossLog::AfterCreateSession(RunContext& context) {
  std::string kept;
  std::error_code error;
  // A resumed run keeps the lines of earlier steps, which is impossible if the path is a pipe.
  if (context.global_step() > 0 && std::filesystem::is_regular_file(path_, error)) {
    TD_ASSIGN_OR_RETURN(const std::string old, ReadTextFile(Env::Default(), path_));
    for (absl::string_view line : absl::StrSplit(old, '\n')) {
      const nlohmann::json json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      const bool valid = json.is_object() && json.contains("step") && json["step"].is_number_integer();
      if (valid && json["step"].get<int64_t>() < context.global_step()) absl::StrAppend(&kept, line, "\n");
    }
  }
  file_ = std::ofstream(path_, std::ios::trunc);
  file_ << kept;
  return file_.flush() ? absl::OkStatus() : WriteError();
}

absl::Status LossLog::AfterRun(RunContext& context, const RunValues& values) {
  // Each line is flushed, so that a run that is killed does not lose the losses of the steps that it took.
  const double loss = values.Number("loss");
  const std::string text =
      std::isfinite(loss) ? absl::StrFormat("%.9g", loss) : absl::StrCat("\"", NonFiniteName(loss), "\"");
  file_ << absl::StrFormat("{\"step\": %d, \"loss\": %s}\n", values.step, text);
  return file_.flush() ? absl::OkStatus() : WriteError();
}

}  // namespace tandem

#include "samples/loss_log.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/exit_code.h"

namespace tandem {

absl::Status LossLog::WriteError() const {
  return WithExitCode(absl::UnavailableError(absl::StrCat(path_, ": the loss log cannot be written")), kExitIo);
}

absl::Status LossLog::AfterCreateSession(RunContext& context) {
  std::string kept;
  std::error_code error;
  if (context.global_step() > 0 && std::filesystem::is_regular_file(path_, error)) {  // a pipe has no lines to keep
    std::ifstream old(path_);
    for (std::string line; std::getline(old, line);) {
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
  // Flushed line by line: a run that is killed shall not lose the steps that it took.
  file_ << absl::StrFormat("{\"step\": %d, \"loss\": %.9g}\n", values.step, values.Number("loss"));
  return file_.flush() ? absl::OkStatus() : WriteError();
}

}  // namespace tandem

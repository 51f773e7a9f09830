#include "estimator/internal/tracing.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/output_file.h"
#include "base/status_macros.h"
#include "estimator/trace/trace_steps.h"

namespace tandem {

absl::Status Tracing::Configure(const RunConfig& config, int64_t rank) {
  std::string file = config.trace, steps = config.trace_steps;
  if (const char* name = std::getenv("TANDEM_TRACE"); file.empty() && name != nullptr) {
    file = name;
    if (const char* range = std::getenv("TANDEM_TRACE_STEPS"); range != nullptr) steps = range;
  }
  if (file.empty()) return absl::OkStatus();
  if (rank > 0) absl::StrAppend(&file, ".", rank);
  TD_ASSIGN_OR_RETURN(const auto range, ParseTraceSteps(steps));
  tracer_ = std::make_unique<Tracer>(
      Tracer::Options{.file = file, .first_step = range.first, .last_step = range.second, .env = config.file_env()});
  return absl::OkStatus();
}

absl::Status Tracing::CheckFile() const {
  return tracer_ == nullptr ? absl::OkStatus()
                            : CheckOutputFile(tracer_->options().env, "trace", tracer_->options().file);
}

absl::Status Tracing::TakeStatus(const absl::Status& of_loop, bool training) {
  status_.Update(of_loop);
  return training ? absl::OkStatus() : std::exchange(status_, absl::OkStatus());
}

}  // namespace tandem

#include "estimator/internal/exporter_run.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/annotate.h"
#include "base/env.h"
#include "base/logging.h"
#include "base/status_macros.h"
#include "base/user_code.h"
#include "estimator/internal/estimator_impl.h"

namespace tandem {
namespace {

// Returns the exporter's name, or the error if a user's own exporter throws.
absl::StatusOr<std::string> NameOf(const Exporter& exporter) {
  return CallUserCode([&] { return exporter.name(); });
}

}  // namespace

absl::Status ValidateExporters(const ExporterList& exporters) {
  const auto wrong = [](auto... problem) { return absl::InvalidArgumentError(absl::StrCat("EvalSpec: ", problem...)); };
  std::set<std::string> names;
  for (const auto& exporter : exporters) {
    if (exporter == nullptr) return wrong("an exporter is null");
    TD_ASSIGN_OR_RETURN(const std::string name, NameOf(*exporter));
    if (name.empty()) return wrong("an exporter has no name");
    if (name[0] == '.' || name.find('/') != std::string::npos) {
      return wrong("the exporter's name \"", name, "\" is none of a folder; leave dots at its start and slashes out");
    }
    if (!names.insert(name).second) {
      return wrong("two exporters have the name \"", name, "\", and would export to the same folder; rename one");
    }
  }
  return absl::OkStatus();
}

ExporterRun::ExporterRun(Estimator& estimator, const ExporterList& exporters, bool use_moving_average)
    : estimator_(estimator),
      exporters_(exporters),
      use_moving_average_(use_moving_average),
      exports_(estimator.is_evaluator() || (estimator.is_chief() && !estimator.impl_->cooperation().has_evaluator())) {}

absl::Status ExporterRun::Prepare() {
  for (const auto& exporter : exporters_) {
    if (!exports_) break;
    TD_RETURN_IF_ERROR(CallUserCode([&] { return exporter->Prepare(estimator_); }));
  }
  return absl::OkStatus();
}

absl::Status ExporterRun::CheckMetrics(const std::vector<std::string>& names) {
  for (const auto& exporter : exporters_) {
    if (!exports_) break;
    TD_RETURN_IF_ERROR(CallUserCode([&] { return exporter->CheckMetrics(names); }));
  }
  return absl::OkStatus();
}

absl::Status ExporterRun::AfterEvaluation(const EvalResult& evaluation, const std::string& checkpoint_path) {
  return Export(evaluation, checkpoint_path, /*is_final=*/false);
}

absl::Status ExporterRun::AtEnd(const EvalResult& evaluation, const std::string& checkpoint_path) {
  return Export(evaluation, checkpoint_path, /*is_final=*/true);
}

absl::Status ExporterRun::Export(const EvalResult& evaluation, const std::string& checkpoint_path, bool is_final) {
  if (!exports_ || evaluation.empty()) return absl::OkStatus();
  absl::Status failed;
  for (const auto& exporter : exporters_) {
    TD_ASSIGN_OR_RETURN(const std::string name, NameOf(*exporter));
    const ExportRequest request{.export_dir_base = JoinPath(JoinPath(estimator_.model_dir(), "export"), name),
                                .checkpoint_path = checkpoint_path,
                                .evaluation = evaluation,
                                .use_moving_average = use_moving_average_,
                                .is_final = is_final,
                                .is_on_record = is_on_record_};
    const absl::StatusOr<std::string> path = CallUserCode([&] { return exporter->Export(estimator_, request); });
    if (path.ok()) continue;
    const absl::Status error =
        Annotate(path.status(), absl::StrCat("exporter \"", name, "\", global step ", evaluation.global_step(), ": "));
    if (absl::IsInvalidArgument(error)) return error;
    if (is_final && exporter->required()) {
      failed.Update(error);
    } else {
      TD_LOG(WARNING) << error.message() << (is_final ? "" : ". Training goes on; the next evaluation is another try.");
    }
  }
  return failed;
}

}  // namespace tandem

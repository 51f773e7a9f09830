#include "estimator/loop/session_run_hook.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/user_code.h"

namespace tandem {
namespace {

absl::Status OnlyInTraining(absl::string_view name) {
  return absl::FailedPreconditionError(absl::StrCat(name, " may change between steps of a training only"));
}

absl::Status NoVariables(absl::string_view method) {
  return absl::FailedPreconditionError(
      absl::StrCat("RunContext::", method, " is for the hooks of a training; Estimator::", method, " is for others"));
}

}  // namespace

absl::StatusOr<double> RunContext::StepScalar(absl::string_view name) const {
  return step_scalars_ == nullptr ? OnlyInTraining(name) : step_scalars_->Get(name);
}

absl::Status RunContext::SetStepScalar(absl::string_view name, double value) {
  if (step_scalars_ == nullptr) return OnlyInTraining(name);
  return before_run_ ? step_scalars_->SetForStep(name, value) : step_scalars_->Set(name, value);
}

absl::StatusOr<NamedTensors> RunContext::ReadVariables(const std::vector<std::string>& names,
                                                       const ReadVariablesOptions& options) const {
  if (variables_ == nullptr) return NoVariables("ReadVariables");
  return variables_->ReadVariables(names, options);
}

absl::Status RunContext::AssignVariables(const NamedTensors& values) {
  return variables_ == nullptr ? NoVariables("AssignVariables") : variables_->AssignVariables(values);
}

absl::Status RunContext::RequestSave() {
  if (!saves_) {
    return absl::FailedPreconditionError(
        "RequestSave: nothing is saved here: it is for trainings with checkpoints; set "
        "RunConfig.save_checkpoints_steps or save_checkpoints_secs");
  }
  save_requested_ = true;
  return absl::OkStatus();
}

void RunContext::BeginStep() {
  StepIsNotRun();
  before_run_ = true;
}

void RunContext::StepIsRun() {
  before_run_ = false;
  if (step_scalars_ != nullptr) step_scalars_->Keep();
}

void RunContext::StepIsNotRun() {
  before_run_ = false;
  if (step_scalars_ != nullptr) step_scalars_->Drop();
}

double RunValues::Number(absl::string_view name, SourceLocation location) const {
  auto it = tensors.find(std::string(name));
  if (it == tensors.end() || it->second.empty() || it->second.num_elements() < 1) {
    if (finite) {
      const std::string there = absl::StrJoin(
          tensors, ", ", [](std::string* out, const auto& tensor) { absl::StrAppend(out, tensor.first); });
      ReportUserError(absl::InvalidArgumentError(
          absl::StrCat(location.file, ":", location.line, ": RunValues::Number(\"", name, "\"): step ", step,
                       " has no number of this name, it has ", there.empty() ? "none" : there,
                       "; a hook sees what its BeforeRun has fetched in this step (ask Has)")));
    }
    return std::numeric_limits<double>::quiet_NaN();
  }
  const HostTensor& t = it->second;
  switch (t.dtype()) {
    case DType::kFloat32:
      return t.data<float>()[0];
    case DType::kFloat64:
      return t.data<double>()[0];
    case DType::kInt32:
      return t.data<int32_t>()[0];
    case DType::kInt64:
      return static_cast<double>(t.data<int64_t>()[0]);
    case DType::kUInt8:
      return t.data<uint8_t>()[0];
    case DType::kBool:
      return t.data<bool>()[0] ? 1 : 0;
    case DType::kBFloat16:  // no values outside of compiled programs have this type
    case DType::kString:    // compiled programs have no values of this type
    case DType::kInvalid:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace tandem

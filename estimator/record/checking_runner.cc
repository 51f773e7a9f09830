#include "estimator/record/checking_runner.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "base/status_macros.h"
#include "base/tensor_values.h"

namespace tandem {
namespace {

std::function<void(VariableStore&)>& PlantedFault() {
  static auto& fault = *new std::function<void(VariableStore&)>();
  return fault;
}

// Returns, for example, "dense/kernel: 3 of 12 elements differ, ...".
std::string DifferenceLine(const std::string& name, const HostTensor& first, const HostTensor& second) {
  if (first.dtype() != second.dtype() || first.shape() != second.shape()) {
    return absl::StrCat(name, " is there once only");  // one of the two steps was stopped as not finite
  }
  return absl::StrCat(name, ": ", DifferencesText(first, second));
}

}  // namespace

CheckingRunner::CheckingRunner(StepRunner* runner, int64_t every, VariableStore* store,
                               const std::vector<VariableSpec>& variables)
    : runner_(*runner), every_(every), store_(*store) {
  for (const VariableSpec& v : variables) names_.push_back(v.name);
}

void CheckingRunner::SetFault(std::function<void(VariableStore&)> fault) { PlantedFault() = std::move(fault); }

absl::Status CheckingRunner::Differs(int64_t step, absl::string_view how, const std::vector<std::string>& what) const {
  return WithExitCode(
      absl::InternalError(absl::StrCat(
          "RunConfig.check_steps_every: step ", step, " ", how, ": ", what[0],
          what.size() > 1 ? absl::StrCat("; and ", what.size() - 1, " more tensors differ") : "",
          ". This machine or this program does not compute the same twice: memory or a processor that is broken or too "
          "hot, or a race in code of your own. Nothing of the step is saved. Test the machine, go on from the last "
          "checkpoint on another one, and see what its tensors are with --replay_step=",
          step)),
      kExitInternal);
}

absl::Status CheckingRunner::CompareCopies(int64_t step) const {
  if (store_.one_copy() || !store_.place().empty()) return absl::OkStatus();
  for (int device = 1; device < store_.num_devices(); ++device) {
    for (const std::string& name : names_) {
      TD_ASSIGN_OR_RETURN(const HostTensor first, store_.Read(name));
      const void* bytes = store_.Buffer(name, device);
      if (bytes == nullptr || std::memcmp(first.raw(), bytes, first.byte_size()) == 0) continue;
      HostTensor copy(first.dtype(), first.shape());
      std::memcpy(copy.raw(), bytes, first.byte_size());
      return Differs(step, absl::StrCat("has left other variables on device ", device, " than on device 0"),
                     {DifferenceLine(name, first, copy)});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<StepOutcome> CheckingRunner::Run(const StepRequest& request) {
  const auto number = request.scalars.find("global_step");
  const int64_t step = number != request.scalars.end() ? number->second.integer() : 0;
  if (step % every_ != 0) return runner_.Run(request);
  TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> before, store_.ReadAll(names_));
  TD_ASSIGN_OR_RETURN(const StepOutcome first, runner_.Run(request));
  TD_RETURN_IF_ERROR(CompareCopies(step));
  TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> after, store_.ReadAll(names_));
  for (size_t i = 0; i < names_.size(); ++i) TD_RETURN_IF_ERROR(store_.Assign(names_[i], before[i]));
  if (PlantedFault()) PlantedFault()(store_);
  StepRequest again = request;
  again.tracer = nullptr;
  TD_ASSIGN_OR_RETURN(StepOutcome second, runner_.Run(again));
  TD_RETURN_IF_ERROR(CompareCopies(step));
  std::vector<std::string> differences;
  TD_ASSIGN_OR_RETURN(const std::vector<HostTensor> after_again, store_.ReadAll(names_));
  for (size_t i = 0; i < names_.size(); ++i) {
    if (!after[i].BitEqual(after_again[i])) {
      differences.push_back(DifferenceLine(names_[i], after[i], after_again[i]));
    }
  }
  for (const auto& [name, value] : first.values) {
    const auto other = second.values.find(name);
    const HostTensor& of_second = other == second.values.end() ? HostTensor() : other->second;
    if (!value.BitEqual(of_second)) differences.push_back(DifferenceLine(name, value, of_second));
  }
  if (!differences.empty()) return Differs(step, "was made twice and came out with other bits", differences);
  return second;
}

}  // namespace tandem

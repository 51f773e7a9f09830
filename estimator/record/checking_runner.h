// CheckingRunner: makes some steps of another runner twice and compares the bits, to find broken hardware and races.
#ifndef TANDEM_ESTIMATOR_RECORD_CHECKING_RUNNER_H_
#define TANDEM_ESTIMATOR_RECORD_CHECKING_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/step_runner.h"
#include "graph/graph_builder.h"
#include "runtime/variable_store.h"

namespace tandem {

// For trainings on CPUs. Steps 0, N, 2N and so on are made from the same variables and the same batch a second time, by
// whichever threads come to its tasks. Both must have the same values and leave the same variables, and every device
// must have the same copy of them, bit for bit. Such a step takes twice as long, and three copies of the variables.
class CheckingRunner : public StepRunner {
 public:
  // `runner` and `store`, which has `variables`, must outlive this. `every` is at least 1.
  CheckingRunner(StepRunner* runner, int64_t every, VariableStore* store, const std::vector<VariableSpec>& variables);

  // Internal (exit code 1) for a step that does not come out the same twice: which one, the first variable or value
  // that differs, and in how many elements. The variables are then those of the second time.
  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override;
  bool WantsNext() const override { return runner_.WantsNext(); }
  void Prefetch(const BatchRound& round) override { runner_.Prefetch(round); }
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override {
    return runner_.FindNonFinite(request);
  }

  // For tests: called between the two times, to plant a fault. Null: nothing is.
  static void SetFault(std::function<void(VariableStore&)> fault);

 private:
  absl::Status CompareCopies(int64_t step) const;
  absl::Status Differs(int64_t step, absl::string_view how, const std::vector<std::string>& what) const;

  StepRunner& runner_;
  const int64_t every_;
  VariableStore& store_;
  std::vector<std::string> names_;  // of the variables
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_CHECKING_RUNNER_H_

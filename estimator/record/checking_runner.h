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
#include "estimator/loop/step_runner.h"
#include "graph/graph_builder.h"
#include "runtime/variables/variable_store.h"

namespace tandem {

// For trainings on CPUs. Steps 0, N, 2N and so on are made a second time, from the same variables and the same batch;
// threads may share the tasks differently. Both times must give the same values and leave the same variables, and every
// device must have the same copy of them, bit for bit. Such a step takes twice as long and memory for three copies of
// the variables.
class CheckingRunner : public StepRunner {
 public:
  // `runner` and `store`, which has `variables`, must outlive this object. `every` must be at least 1.
  CheckingRunner(StepRunner* runner, int64_t every, VariableStore* store, const std::vector<VariableSpec>& variables);

  // Returns Internal (exit code 1) if a step does not give the same bits twice: which step, the first variable or value
  // that differs, and in how many elements. The variables are then those of the second time.
  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override;
  bool WantsNext() const override { return runner_.WantsNext(); }
  void Prefetch(const BatchRound& round) override { runner_.Prefetch(round); }
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override {
    return runner_.FindNonFinite(request);
  }

  // For tests: sets a function that is called between the two executions of a step, to inject a fault. Null: none.
  static void SetFault(std::function<void(VariableStore&)> fault);

 private:
  absl::Status CompareCopies(int64_t step) const;
  absl::Status Differs(int64_t step, absl::string_view how, const std::vector<std::string>& what) const;

  StepRunner& runner_;
  const int64_t every_;
  VariableStore& store_;
  std::vector<std::string> names_;  // names of the variables
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_RECORD_CHECKING_RUNNER_H_

// Runs cases: three compiled training steps, each held against double precision from the variables before it, and run
// again with one copy of the variables for all devices, by two and more workers that share the devices, and some by a
// worker with parameter servers, for the same bits.
#ifndef TANDEM_TESTS_ORACLE_RUNNER_H_
#define TANDEM_TESTS_ORACLE_RUNNER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/compiled/harness.h"
#include "tests/compiled/parts.h"
#include "tests/compiled/workers.h"
#include "tests/oracle/cases.h"
#include "tests/oracle/expected.h"

namespace tandem::oracle {

class Runner {
 public:
  // Kernels that several executables have are compiled once where there is a directory to keep them in. With a target
  // of GPUs cases run on gpu:0 and on; workers, one copy for all and parameter servers, which are for CPUs, are left
  // out.
  explicit Runner(const std::string& kernel_cache_dir = "", const std::string& target = "cpu:native")
      : kernel_cache_dir_(kernel_cache_dir), target_(target) {}

  // What differs from the reference: nothing, or a line for each of loss, variables and slots (the first step with
  // differences only). An error where the case cannot be run. Consecutive cases of one executable compile it once.
  absl::StatusOr<std::vector<std::string>> Run(const Case& c);

  // Executables compiled so far.
  int programs() const { return programs_; }

 private:
  bool on_cpus() const;
  absl::Status Prepare(const Case& c);
  // The uniform numbers of the model's random ops in this step, by op.
  absl::StatusOr<ref::NumbersMap> Uniforms(const TensorMap& inputs, int step);
  absl::StatusOr<std::vector<std::string>> Step(const Case& c, int step);
  // What workers compute otherwise than one process, which got `result` and `after`.
  absl::StatusOr<std::vector<std::string>> DifferencesOfWorkers(const StepInputs& inputs, const TensorMap& before,
                                                                const StepResult& result, const TensorMap& after);

  absl::StatusOr<std::vector<std::string>> DifferencesOfCentral(const StepInputs& inputs, const TensorMap& before,
                                                                const StepResult& result, const TensorMap& after);
  absl::StatusOr<std::vector<std::string>> DifferencesOfParts(const StepInputs& inputs, const TensorMap& before,
                                                              const StepResult& result, const TensorMap& after);

  const std::string kernel_cache_dir_;
  const std::string target_;
  std::string program_id_;
  compiled::Program program_;
  std::vector<compiled::Workers> workers_;  // 2, 4 and so on of them, as many as there are devices at most
  // The program with one copy of its variables for all devices, where there are several.
  std::shared_ptr<VariableStore> central_;
  std::unique_ptr<Session> central_session_;
  std::optional<compiled::Parts> parts_;   // of some programs
  std::unique_ptr<GraphBuilder> forward_;  // of models with random ops
  std::vector<std::string> randoms_;
  int programs_ = 0;
};

}  // namespace tandem::oracle

#endif  // TANDEM_TESTS_ORACLE_RUNNER_H_

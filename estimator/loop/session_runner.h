// SessionRunner: makes a loop's steps (StepRunner) with a Session of the runtime.
#ifndef TANDEM_ESTIMATOR_LOOP_SESSION_RUNNER_H_
#define TANDEM_ESTIMATOR_LOOP_SESSION_RUNNER_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "data/element.h"
#include "estimator/loop/step_runner.h"
#include "runtime/session/session.h"

namespace tandem {

// Assigns the tensors of a step to the session's inputs and outputs by name. A scalar that a request does not set gets
// its default value.
class SessionRunner : public StepRunner {
 public:
  // `components` describes the tensors of a BatchRound, in order. Internal if the executable wants an input that is not
  // among them.
  static absl::StatusOr<std::unique_ptr<SessionRunner>> Create(std::shared_ptr<const Executable> executable,
                                                               std::shared_ptr<VariableStore> variables,
                                                               Session::Options options,
                                                               const std::vector<ComponentSpec>& components,
                                                               const StepScalars& scalar_defaults);

  ~SessionRunner() override;

  absl::StatusOr<StepOutcome> Run(const StepRequest& request) override;
  bool WantsNext() const override { return session_->CanPrefetch(); }
  // Copies the batches to the devices on a thread of its own, which the first call starts.
  void Prefetch(const BatchRound& round) override;
  absl::StatusOr<std::string> FindNonFinite(const StepRequest& request) override;

  std::set<std::string> output_names() const;

 private:
  StepInputs InputsFor(const StepRequest& request) const;
  StepInputs InputsOf(const BatchRound& round) const;  // returns inputs whose scalars are not set yet
  void PrefetchThread();

  std::shared_ptr<const Executable> executable_;
  std::unique_ptr<Session> session_;
  std::vector<int> component_of_input_;
  StepScalars scalar_defaults_;  // defaults of the scalars that the executable has
  std::map<std::string, int> output_index_;

  std::mutex prefetch_mutex_;
  std::condition_variable prefetch_wanted_;
  StepInputs to_prefetch_;  // batches to copy; empty if there are none
  bool stop_ = false;
  std::thread prefetch_thread_;
  bool no_prefetch_thread_ = false;  // true: the system could not create the thread
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_LOOP_SESSION_RUNNER_H_

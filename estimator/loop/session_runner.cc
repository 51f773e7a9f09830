#include "estimator/loop/session_runner.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/logging.h"
#include "base/resource_errors.h"
#include "base/status_macros.h"
#include "base/threads.h"
#include "estimator/trace/tracer.h"
#include "runtime/device_classes/device_classes.h"
#include "runtime/format/index.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<SessionRunner>> SessionRunner::Create(std::shared_ptr<const Executable> executable,
                                                                     std::shared_ptr<VariableStore> variables,
                                                                     Session::Options options,
                                                                     const std::vector<ComponentSpec>& components,
                                                                     const StepScalars& scalar_defaults) {
  auto runner = std::make_unique<SessionRunner>();
  const format::Index& index = executable->index();
  for (const auto& input : index.inputs) {
    int found = -1;
    for (size_t i = 0; i < components.size(); ++i) {
      if (components[i].name == input.name) found = static_cast<int>(i);
    }
    if (found < 0) return absl::InternalError(absl::StrCat("the dataset has no component for input ", input.name));
    runner->component_of_input_.push_back(found);
  }
  for (const auto& scalar : index.scalars) {
    auto it = scalar_defaults.find(scalar.name);
    if (it != scalar_defaults.end()) runner->scalar_defaults_[scalar.name] = it->second;
  }
  for (size_t i = 0; i < index.outputs.size(); ++i) runner->output_index_[index.outputs[i].name] = static_cast<int>(i);
  runner->executable_ = executable;
  TD_ASSIGN_OR_RETURN(runner->session_, CreateSession(std::move(executable), std::move(variables), std::move(options)));
  return runner;
}

std::set<std::string> SessionRunner::output_names() const {
  std::set<std::string> names;
  for (const auto& entry : output_index_) names.insert(entry.first);
  return names;
}

SessionRunner::~SessionRunner() {
  {
    std::lock_guard<std::mutex> lock(prefetch_mutex_);
    stop_ = true;
  }
  prefetch_wanted_.notify_one();
  if (prefetch_thread_.joinable()) prefetch_thread_.join();
}

StepInputs SessionRunner::InputsOf(const BatchRound& round) const {
  StepInputs inputs;
  // If the model reads no component, the inputs do not tell the number of examples.
  if (component_of_input_.empty() || round.rows.size() != round.replicas.size()) inputs.replica_rows = round.rows;
  for (const std::vector<HostTensor>& batch : round.replicas) {
    std::vector<HostTensor> of_replica;
    for (int component : component_of_input_) of_replica.push_back(batch[component]);
    inputs.inputs.push_back(std::move(of_replica));
  }
  return inputs;
}

void SessionRunner::Prefetch(const BatchRound& round) {
  if (!prefetch_thread_.joinable()) {
    if (no_prefetch_thread_) return;
    absl::StatusOr<std::thread> thread = StartThread("copying batches ahead", [this] { PrefetchThread(); });
    if (!thread.ok()) {
      no_prefetch_thread_ = true;
      TD_LOG(WARNING) << "steps wait for their batches to be copied: " << thread.status().message();
      return;
    }
    prefetch_thread_ = *std::move(thread);
  }
  {
    std::lock_guard<std::mutex> lock(prefetch_mutex_);
    to_prefetch_ = InputsOf(round);
  }
  prefetch_wanted_.notify_one();
}

void SessionRunner::PrefetchThread() {
  std::unique_lock<std::mutex> lock(prefetch_mutex_);
  while (true) {
    prefetch_wanted_.wait(lock, [&] { return stop_ || !to_prefetch_.inputs.empty(); });
    if (stop_) return;
    const StepInputs inputs = std::exchange(to_prefetch_, StepInputs());
    lock.unlock();
    // An error is ignored: the step then copies its batches itself and reports the error.
    (void)CatchResourceErrors("copying a batch ahead", [&] {
      session_->Prefetch(inputs);
      return absl::OkStatus();
    });
    lock.lock();
  }
}

StepInputs SessionRunner::InputsFor(const StepRequest& request) const {
  StepInputs inputs = InputsOf(*request.round);
  inputs.scalars = scalar_defaults_;
  for (const auto& scalar : executable_->index().scalars) {
    auto it = request.scalars.find(scalar.name);
    if (it != request.scalars.end()) inputs.scalars[scalar.name] = it->second;
  }
  return inputs;
}

absl::StatusOr<StepOutcome> SessionRunner::Run(const StepRequest& request) {
  std::vector<int> fetches;
  for (const std::string& name : request.fetches) {
    auto it = output_index_.find(name);
    if (it == output_index_.end()) return absl::InternalError(absl::StrCat("the program has no output ", name));
    fetches.push_back(it->second);
  }
  Tracer* tracer = request.tracer != nullptr && request.tracer->recording() ? request.tracer : nullptr;
  if (tracer != nullptr) session_->set_trace(tracer->command_trace());
  absl::StatusOr<StepResult> run = session_->Run(InputsFor(request), fetches);
  if (tracer != nullptr) {
    session_->set_trace(nullptr);
    auto step = request.scalars.find("global_step");
    tracer->AddCommands(*executable_, step != request.scalars.end() ? step->second.integer() : 0);
  }
  TD_RETURN_IF_ERROR(run.status());
  StepResult& result = *run;
  StepOutcome outcome;
  for (size_t i = 0; i < fetches.size(); ++i) {
    outcome.values[request.fetches[i]] = std::move(result.outputs[fetches[i]]);
  }
  outcome.examples = result.examples;
  outcome.finite = result.finite;
  return outcome;
}

absl::StatusOr<std::string> SessionRunner::FindNonFinite(const StepRequest& request) {
  return session_->FindNonFinite(InputsFor(request));
}

}  // namespace tandem

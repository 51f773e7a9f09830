// SynchronousWorkers: a worker of a cluster whose workers compute each step together.
#ifndef TANDEM_ESTIMATOR_JOB_SYNCHRONOUS_WORKERS_H_
#define TANDEM_ESTIMATOR_JOB_SYNCHRONOUS_WORKERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/job/cluster_task.h"
#include "estimator/workers/joined_workers.h"
#include "estimator/workers/own_inputs.h"
#include "estimator/workers/worker_group.h"

namespace tandem {

// Each process makes predictions by itself. If programs are only compiled, the workers do not connect to each other.
class SynchronousWorkers : public ClusterTask {
 public:
  using ClusterTask::ClusterTask;

  bool synchronous() const override { return true; }
  int processes_here() const override { return joined_ != nullptr ? joined_->workers_here() : 1; }
  Cooperation& In(Mode mode) override { return mode == Mode::kPredict ? alone() : *this; }
  Share ShareOf(Mode mode) const override;
  std::unique_ptr<WorkerInput> MakeInput(const Share& share, BatchDealer* dealer) override;

  absl::Status Join() override;
  absl::Status Ended(const absl::Status& status) override;
  absl::Status Agree(absl::string_view what, absl::string_view value, absl::string_view remedy) override;
  absl::Status AgreeOnWork(const ModeProgram& program, const WorkerInput& input, BatchDealer& dealer) override;
  absl::StatusOr<ModeProgram::Fetches> FetchesOfAll(const ModeProgram& program, ModeProgram::Fetches mine) override;
  absl::StatusOr<std::string> TextFromChief(std::string mine, absl::string_view what) override;
  absl::StatusOr<std::optional<CheckpointData>> CheckpointFromChief(std::optional<CheckpointData> mine) override;
  absl::Status ConfigureSession(const DistributionStrategy& strategy, Session::Options* session) override;
  void ConfigureLoop(LoopOptions* loop, std::function<uint64_t()> scalars) override;

  absl::Status BeginTraining(ModeProgram& program, WorkerInput& input, StepLoop& loop) override;
  absl::Status MeetAtEnd() override { return workers().MeetAtEnd(); }
  void TrainingOver() override;
  absl::Status PrepareSave(int64_t* step) override;

  absl::Status MeetForEvaluation(uint64_t number) override;
  void set_on_evaluate(OnEvaluate on_evaluate) override { workers().set_on_evaluate(std::move(on_evaluate)); }
  void set_between_own_steps(bool between) override { between_own_steps_ = between; }
  std::string InputText(const WorkerInput& input) const override;

 private:
  WorkerGroup& workers() { return joined_->workers(); }
  // Returns this worker's GPUs for a strategy that names the GPUs `named`. If several workers on one machine all see
  // its GPUs, and `named` is gpu:0, gpu:1 and so on, each worker gets as many, after those of workers with lower ranks.
  absl::StatusOr<std::vector<std::string>> OwnGpus(const std::vector<std::string>& named) const;

  std::shared_ptr<JoinedWorkers> joined_;  // null before Join
  bool inputs_differ_ = false;             // true if each worker of the running training has an input of its own
  bool between_own_steps_ = false;
};

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_JOB_SYNCHRONOUS_WORKERS_H_

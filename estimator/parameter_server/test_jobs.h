// Runs jobs of real processes with parameter servers, for tests.
#ifndef TANDEM_ESTIMATOR_PARAMETER_SERVER_TEST_JOBS_H_
#define TANDEM_ESTIMATOR_PARAMETER_SERVER_TEST_JOBS_H_

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "base/exit_code.h"
#include "base/logging.h"
#include "cluster/testing_address.h"
#include "estimator/test_models.h"
#include "runtime/collectives/testing/processes.h"

namespace tandem::test {

// The tasks of a job: numbers 0 to workers - 1 are the chief and the other workers; the servers follow, then the
// evaluator, if there is one.
struct Job {
  int workers = 1, servers = 1, devices = 1;
  bool evaluator = false;
  std::string model_dir;
  std::vector<std::string> addresses;  // of the servers

  Job(int workers, int servers, std::string model_dir, int devices = 1)
      : workers(workers), servers(servers), devices(devices), model_dir(std::move(model_dir)) {
    for (int i = 0; i < servers; ++i) addresses.push_back(FreeAddress());
  }

  int tasks() const { return workers + servers + (evaluator ? 1 : 0); }

  RunConfig ConfigOf(int task) const {
    RunConfig config = Config(model_dir, devices);
    config.train_distribute = ParameterServerStrategy(config.train_distribute->devices);
    config.save_checkpoints_steps = 20;
    config.save_summary_steps = 0;
    config.peer_deadline_secs = 20;
    Cluster cluster{.source = "a test", .world_size = workers};
    cluster.addresses[TaskType::kParameterServer] = addresses;
    if (evaluator) cluster.addresses[TaskType::kEvaluator] = {"localhost:1"};  // nobody connects to it
    if (task < workers) {
      cluster.task = {task == 0 ? TaskType::kChief : TaskType::kWorker, task == 0 ? 0 : task - 1};
      cluster.rank = task;
    } else {
      const bool serves = task < workers + servers;
      cluster.task = serves ? Task{TaskType::kParameterServer, task - workers} : Task{TaskType::kEvaluator, 0};
      cluster.rank = -1;
    }
    config.cluster = cluster;
    return config;
  }
};

// What a task does with its Estimator; its exit code is that of the status.
using Work = std::function<absl::Status(int task, Estimator& estimator)>;

inline int RunTask(const Job& job, const ModelFn& model_fn, int task, const Work& work,
                   const std::function<void(RunConfig*)>& change = nullptr) {
  SetMinLogSeverity(LogSeverity::kError);
  RunConfig config = job.ConfigOf(task);
  if (change) change(&config);
  absl::Status status;
  {
    Estimator estimator(model_fn, config);
    status = work(task, estimator);
  }
  if (!status.ok()) std::cerr << "task " << task << ": " << status.message() << "\n";
  return status.ok() ? 0 : ExitCodeFor(status);
}

// Runs a job and returns the exit codes of all tasks.
inline std::vector<int> RunJob(const Job& job, const ModelFn& model_fn, const Work& work,
                               const std::function<void(RunConfig*)>& change = nullptr) {
  Processes processes(job.tasks(), [&](int task) { return RunTask(job, model_fn, task, work, change); });
  std::vector<int> codes;
  for (int task = 0; task < job.tasks(); ++task) codes.push_back(processes.Wait(task));
  return codes;
}

inline std::string Latest(const std::string& dir) {
  const auto latest = CheckpointManager(Env::Default(), dir).LatestCheckpoint();
  EXPECT_TRUE(latest.ok() && latest->has_value()) << latest.status();
  return latest.ok() && latest->has_value() ? **latest : "none";
}

inline void Sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_PARAMETER_SERVER_TEST_JOBS_H_

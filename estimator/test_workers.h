// Estimators in several processes, for tests.
#ifndef TANDEM_ESTIMATOR_TEST_WORKERS_H_
#define TANDEM_ESTIMATOR_TEST_WORKERS_H_

#include <functional>
#include <iostream>
#include <string>

#include "base/logging.h"
#include "cluster/testing_address.h"
#include "estimator/test_models.h"
#include "runtime/collectives/testing/processes.h"

namespace tandem::test {

// Of a worker of a cluster that meets at `coordinator`.
inline RunConfig WorkerConfig(const std::string& dir, int rank, int workers, const std::string& coordinator,
                              int devices = 1) {
  RunConfig config = Config(dir, devices);
  config.train_distribute->multi_worker = true;
  config.save_summary_steps = 0;
  config.peer_deadline_seconds = 20;
  config.cluster = Cluster{.source = "a test",
                           .task = {rank == 0 ? TaskType::kChief : TaskType::kWorker, rank == 0 ? 0 : rank - 1},
                           .rank = rank,
                           .world_size = workers,
                           .coordinator = coordinator};
  return config;
}

// Runs `body` as `workers` processes; the first exit code that is not 0, which is that of an error.
inline int AsWorkers(int workers, const std::function<absl::Status(int rank, const std::string& coordinator)>& body) {
  const std::string coordinator = FreeAddress();
  Processes processes(workers, [&](int rank) {
    SetMinLogSeverity(LogSeverity::kWarning);
    const absl::Status status = body(rank, coordinator);
    if (!status.ok()) std::cerr << "rank " << rank << ": " << status << "\n";
    return status.ok() ? 0 : 1;
  });
  return processes.WaitAll();
}

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_TEST_WORKERS_H_

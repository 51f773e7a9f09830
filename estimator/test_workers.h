// Several workers of a cluster on this machine, for the Estimator's tests.
#ifndef TANDEM_ESTIMATOR_TEST_WORKERS_H_
#define TANDEM_ESTIMATOR_TEST_WORKERS_H_

#include <functional>
#include <iostream>
#include <string>

#include "cluster/testing_address.h"
#include "estimator/test_models.h"
#include "runtime/collectives/testing/processes.h"

namespace tandem::test {

// Calls `work` in `count` processes, each with the RunConfig of a worker of two devices that saves nothing. True when
// it is true in all of them. To be called while this process has one thread.
inline bool AsWorkers(int count, const std::function<bool(int rank, RunConfig)>& work) {
  const std::string dir = ModelDir();
  const std::string coordinator = FreeAddress();
  Processes processes(count, [&](int rank) {
    RunConfig config = Config(dir);
    config.train_distribute = MultiWorkerMirroredStrategy({"cpu:0", "cpu:1"});
    config.save_checkpoints_steps = 0;
    config.save_summary_steps = 0;
    config.cluster = Cluster{.source = "a test",
                             .task = {rank == 0 ? TaskType::kChief : TaskType::kWorker, rank == 0 ? 0 : rank - 1},
                             .rank = rank,
                             .world_size = count,
                             .coordinator = coordinator};
    const bool right = work(rank, config);
    if (!right) std::cerr << "rank " << rank << " is wrong\n";
    return right ? 0 : 1;
  });
  return processes.WaitAll() == 0;
}

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_TEST_WORKERS_H_

// Several workers of a cluster on this machine, for the Estimator's tests.
#ifndef TANDEM_ESTIMATOR_TEST_WORKERS_H_
#define TANDEM_ESTIMATOR_TEST_WORKERS_H_

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <iostream>
#include <string>

#include "estimator/test_models.h"
#include "runtime/collectives/testing/processes.h"

namespace tandem::test {

// A port of this machine that nobody uses.
inline int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

// Calls `work` in `count` processes, each with the RunConfig of a worker of two devices that saves nothing. True when
// it is true in all of them. To be called while this process has one thread.
inline bool AsWorkers(int count, const std::function<bool(int rank, RunConfig)>& work) {
  const std::string dir = ModelDir();
  const std::string coordinator = "127.0.0.1:" + std::to_string(FreePort());
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

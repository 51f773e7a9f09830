// Estimators in several processes, for tests.
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

#include "absl/strings/str_cat.h"
#include "base/logging.h"
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

// Of a worker of a cluster that meets at `port`.
inline RunConfig WorkerConfig(const std::string& dir, int rank, int workers, int port, int devices = 1) {
  RunConfig config = Config(dir, devices);
  config.train_distribute->multi_worker = true;
  config.save_summary_steps = 0;
  config.peer_deadline_seconds = 20;
  config.cluster = Cluster{.source = "a test",
                           .task = {rank == 0 ? TaskType::kChief : TaskType::kWorker, rank == 0 ? 0 : rank - 1},
                           .rank = rank,
                           .world_size = workers,
                           .coordinator = absl::StrCat("127.0.0.1:", port)};
  return config;
}

// Runs `body` as `workers` processes; the first exit code that is not 0, which is that of an error.
inline int AsWorkers(int workers, const std::function<absl::Status(int rank, int port)>& body) {
  const int port = FreePort();
  Processes processes(workers, [&](int rank) {
    SetMinLogSeverity(LogSeverity::kWarning);
    const absl::Status status = body(rank, port);
    if (!status.ok()) std::cerr << "rank " << rank << ": " << status << "\n";
    return status.ok() ? 0 : 1;
  });
  return processes.WaitAll();
}

}  // namespace tandem::test

#endif  // TANDEM_ESTIMATOR_TEST_WORKERS_H_

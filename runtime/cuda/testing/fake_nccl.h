// NCCL in host memory, on the fake driver.
#ifndef TANDEM_RUNTIME_CUDA_TESTING_FAKE_NCCL_H_
#define TANDEM_RUNTIME_CUDA_TESTING_FAKE_NCCL_H_

#include <functional>
#include <string>
#include <vector>

#include "runtime/cuda/communicator/nccl_api.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {

class ProcessGroup;  // runtime/collectives/process_group.h

// Replaces LoadNccl's result while it lives, and works on the current FakeDriver. One at a time. Aborts may come from
// other threads than the other calls.
//
// Collectives wait for the group's end. A violation is recorded for all that makes a real NCCL hang or fail: a
// collective outside of a group, ranks of one communicator whose calls differ, groups that do not end, a device twice
// in one communicator, a communicator that is used after it was aborted, ranks of several processes that do not join
// the same, more than 2048 calls in a group, a send without its receive, a group that receives where it sends from, a
// first collective that still has to connect to a process that is gone (NCCL_RUNTIME_CONNECT), and a communicator that
// is destroyed, not aborted, while those of other processes are not.
class FakeNccl {
 public:
  FakeNccl();
  ~FakeNccl();
  FakeNccl(const FakeNccl&) = delete;
  FakeNccl& operator=(const FakeNccl&) = delete;

  const NcclApi& api() const { return api_; }
  // Lets communicators have ranks in all processes of `group`, each of which has as many ranks and a fake of its own.
  // Only the fakes may use the group, which must outlive this. An error of the group becomes an asynchronous error of
  // all ranks.
  void ConnectProcesses(ProcessGroup* group);
  // The n-th call of `name` from now on (1: the next) returns `result` and does nothing else.
  void FailCall(const std::string& name, ncclResult_t result, int n = 1);
  // From now on ncclCommAbort does not return, as where a GPU hangs, until ReleaseAborts.
  void BlockAborts();
  void ReleaseAborts();
  // The next call of `name` kills the process.
  void KillAt(const std::string& name);
  // Called at the end of each group, before its collectives start.
  void set_at_group_end(std::function<void()> at_group_end);
  // From now on communicators of this rank report `result` asynchronously.
  void SetAsyncError(int rank, ncclResult_t result);
  // Returns the calls in order: "ncclGroupStart", "ncclAllReduce 0 4" (rank and count), ...
  std::vector<std::string> TakeCalls();
  std::vector<std::string> TakeViolations();
  int live_communicators() const;

 private:
  NcclApi api_;
  ScopedNccl scoped_;
};

}  // namespace tandem

#endif  // TANDEM_RUNTIME_CUDA_TESTING_FAKE_NCCL_H_

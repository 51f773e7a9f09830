#include "runtime/session/concurrent_sessions.h"

#include <utility>

#include "base/status_macros.h"
#include "runtime/format/index.h"

namespace tandem {

class ConcurrentSessions::Lease {
 public:
  explicit Lease(ConcurrentSessions& sessions) : sessions_(sessions), slot_(*sessions.Take()) {}
  ~Lease() { sessions_.GiveBack(slot_); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  std::unique_ptr<Session>& session() { return slot_.session; }

 private:
  ConcurrentSessions& sessions_;
  Slot& slot_;
};

absl::StatusOr<std::unique_ptr<ConcurrentSessions>> ConcurrentSessions::Create(
    const DeviceClass& device_class, std::shared_ptr<const Executable> executable,
    std::shared_ptr<VariableStore> variables, Options options) {
  TD_ASSIGN_OR_RETURN(std::shared_ptr<ThreadPool> pool, ThreadPool::Create(options.threads));
  options.session.pool = std::make_shared<ThreadPool>(pool);
  TD_ASSIGN_OR_RETURN(std::unique_ptr<Session> first,
                      Session::Create(device_class, executable, std::move(variables), std::move(options.session)));
  const int steps = !first->CanHaveSiblings() ? 1 : options.steps > 0 ? options.steps : pool->num_threads();
  std::unique_ptr<ConcurrentSessions> sessions(new ConcurrentSessions(std::move(pool), steps));
  sessions->slots_[0].session = std::move(first);
  if (steps > 1) TD_RETURN_IF_ERROR(sessions->MakeEmptyStep(*executable));
  return sessions;
}

absl::Status ConcurrentSessions::MakeEmptyStep(const Executable& executable) {
  const format::Index& index = executable.index();
  std::vector<HostTensor> no_rows;
  for (const auto& input : index.inputs) {
    Shape shape = input.shape;
    shape[0] = 0;
    no_rows.emplace_back(input.dtype, std::move(shape));
  }
  StepInputs inputs;
  inputs.inputs.assign(index.replicas.size(), no_rows);
  inputs.replica_rows.assign(index.replicas.size(), 0);
  for (const auto& scalar : index.scalars) inputs.scalars[scalar.name] = 0;
  return slots_[0].session->Run(inputs, {}).status();
}

absl::StatusOr<StepResult> ConcurrentSessions::Run(const StepInputs& inputs, const std::vector<int>& fetches) {
  Lease lease(*this);
  const ThreadPool::Caller caller(*pool_);
  std::unique_ptr<Session>& session = lease.session();
  if (session == nullptr) {
    TD_ASSIGN_OR_RETURN(session, slots_[0].session->MakeSibling(std::make_shared<ThreadPool>(pool_)));
  }
  return session->Run(inputs, fetches);
}

ConcurrentSessions::Slot* ConcurrentSessions::TryTake() {
  for (Slot& slot : slots_) {
    if (!slot.taken.load(std::memory_order_seq_cst) && !slot.taken.exchange(true, std::memory_order_seq_cst)) {
      return &slot;
    }
  }
  return nullptr;
}

// Who finds all slots taken first says that it waits and then looks again, while who gives a slot back first frees it
// and then looks whether somebody waits. So one of the two sees the other.
ConcurrentSessions::Slot* ConcurrentSessions::Take() {
  if (Slot* slot = TryTake()) return slot;
  std::unique_lock<std::mutex> lock(mutex_);
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  Slot* slot = nullptr;
  given_back_.wait(lock, [&] { return (slot = TryTake()) != nullptr; });
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return slot;
}

void ConcurrentSessions::GiveBack(Slot& slot) {
  slot.taken.store(false, std::memory_order_seq_cst);
  if (waiting_.load(std::memory_order_seq_cst) == 0) return;
  std::lock_guard<std::mutex> lock(mutex_);
  given_back_.notify_one();
}

}  // namespace tandem

#include "runtime/cuda/run/batch_prefetcher.h"

#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "runtime/session/step_inputs.h"

namespace tandem {
namespace {

bool SameTensors(const StepInputs& a, const StepInputs& b) {
  if (a.inputs.size() != b.inputs.size()) return false;
  for (size_t r = 0; r < a.inputs.size(); ++r) {
    if (a.inputs[r].size() != b.inputs[r].size()) return false;
    for (size_t i = 0; i < a.inputs[r].size(); ++i) {
      const HostTensor &x = a.inputs[r][i], &y = b.inputs[r][i];
      if (x.raw() != y.raw() || x.shape() != y.shape() || x.dtype() != y.dtype()) return false;
    }
  }
  return true;
}

}  // namespace

BatchPrefetcher::Place::~Place() {
  if (stream.get() != nullptr && stream.MakeCurrent()) stream.device().driver().cuStreamSynchronize(stream.get());
}

void BatchPrefetcher::Prefetch(const StepInputs& inputs) {
  Slot* slot = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (disabled_) return;
    for (Slot& s : slots_) {
      if (s.state == State::kFilling) return;  // another thread is prefetching
      if (s.state != State::kTaken &&
          (slot == nullptr || s.state == State::kFree || (slot->state == State::kReady && s.age < slot->age))) {
        slot = &s;
      }
    }
    if (slot == nullptr) return;
    slot->state = State::kFilling;
    slot->inputs = inputs;
    slot->age = next_age_++;
  }
  absl::Status status = Fill(*slot);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    slot->status = status;
    slot->state = State::kReady;
    // If memory runs out or the inputs do not fit, the step runs as without prefetching, and reports such an error
    // itself.
    if (absl::IsResourceExhausted(status)) disabled_ = true;
    if (absl::IsResourceExhausted(status) || absl::IsInvalidArgument(status)) slot->state = State::kFree;
  }
  filled_.notify_all();
}

absl::Status BatchPrefetcher::Fill(Slot& slot) {
  StepInputs checked = slot.inputs;
  for (const auto& scalar : executable_.index().scalars) checked.scalars.emplace(scalar.name, 0);
  std::vector<ReplicaInputs> resolved;
  TD_RETURN_IF_ERROR(ResolveStepInputs(executable_, checked, &resolved, first_replica_, processes_));
  slot.places.resize(replicas_.size());
  for (size_t r = 0; r < replicas_.size(); ++r) {
    TD_RETURN_IF_ERROR(replicas_[r]->device().Check(FillReplica(slot.inputs.inputs[r], *replicas_[r], slot.places[r])));
  }
  for (size_t r = 0; r < replicas_.size(); ++r) {
    CudaDevice& device = replicas_[r]->device();
    TD_RETURN_IF_ERROR(device.MakeCurrent());
    TD_RETURN_IF_ERROR(device.Check(CudaStatus(
        device.driver(), device.driver().cuStreamSynchronize(slot.places[r].stream.get()), "cuStreamSynchronize")));
  }
  return absl::OkStatus();
}

absl::Status BatchPrefetcher::FillReplica(const std::vector<HostTensor>& inputs, GpuReplica& replica, Place& place) {
  const StagingLayout& layout = replica.memory().staging_layout();
  CudaDevice& device = replica.device();
  TD_RETURN_IF_ERROR(device.MakeCurrent());
  if (place.stream.get() == nullptr) {
    TD_ASSIGN_OR_RETURN(uint64_t memory, device.Allocate(layout.bytes, "prefetched inputs"));
    place.device = CudaMemory(replica.shared_device(), memory);
    TD_ASSIGN_OR_RETURN(place.host, MakePinned(replica.shared_device(), layout.bytes));
    TD_ASSIGN_OR_RETURN(place.stream, MakeStream(replica.shared_device()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint64_t bytes = inputs[i].byte_size(), at = layout.input_offsets[i];
    if (bytes == 0) continue;
    uint8_t* host = static_cast<uint8_t*>(place.host.get()) + at;
    std::memcpy(host, inputs[i].raw(), bytes);
    TD_CU(device.driver(), cuMemcpyHtoDAsync_v2(place.device.get() + at, host, bytes, place.stream.get()));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> BatchPrefetcher::Take(const StepInputs& inputs) {
  Slot* slot = nullptr;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    for (Slot& s : slots_) {
      if ((s.state == State::kFilling || s.state == State::kReady) && SameTensors(s.inputs, inputs)) slot = &s;
    }
    if (slot == nullptr) return false;
    filled_.wait(lock, [&] { return slot->state != State::kFilling; });
    if (slot->state != State::kReady || !SameTensors(slot->inputs, inputs)) return false;
    slot->state = State::kTaken;
    TD_RETURN_IF_ERROR(slot->status);
  }
  for (size_t r = 0; r < replicas_.size(); ++r) {
    GpuReplica& replica = *replicas_[r];
    CudaDevice& device = replica.device();
    const StagingLayout& layout = replica.memory().staging_layout();
    TD_RETURN_IF_ERROR(device.MakeCurrent());
    // One copy covers all inputs, because the bytes between them and behind short ones may have any values.
    const uint64_t inputs_bytes = layout.bytes - layout.scalar_bytes;
    if (inputs_bytes == 0) continue;
    TD_CU(device.driver(), cuMemcpyDtoDAsync_v2(replica.memory().staging() + layout.scalar_bytes,
                                                slot->places[r].device.get() + layout.scalar_bytes, inputs_bytes,
                                                replica.stream(format::Stream::kCompute)));
  }
  return true;
}

void BatchPrefetcher::Release() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Slot& s : slots_) {
    if (s.state != State::kTaken) continue;
    s.state = State::kFree;
    s.inputs = StepInputs();
  }
}

}  // namespace tandem

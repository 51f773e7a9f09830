#include "runtime/cuda/run/fetch_copies.h"

#include <algorithm>
#include <utility>

#include "base/align.h"
#include "base/status_macros.h"

namespace tandem {

FetchCopies::FetchCopies(const Executable& executable, const SegmentPlan& plan,
                         const std::vector<std::unique_ptr<GpuReplica>>& replicas)
    : index_(executable.index()),
      program_(index_.programs[index_.replicas[0].program]),
      gpu_replicas_(replicas),
      segments_(index_.outputs.size(), -1),
      last_segment_(static_cast<int>(plan.segments.size()) - 1),
      replicas_(replicas.size()) {
  for (size_t o = 0; o < segments_.size(); ++o) {
    const format::Buffer& output = program_.buffers[index_.outputs[o].buffer];
    if (output.row_bytes == 0 || output.space != format::Space::kBatch) continue;
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      for (const PlannedPiece& piece : plan.segments[s].pieces) {
        for (uint32_t command : piece.commands) {
          for (uint32_t b : plan.tables[command]->outputs) {
            const format::Buffer& written = program_.buffers[b];
            // This would also count writers of a later value in the same memory, but an output's memory is not reused
            // before the end.
            const bool overlaps = written.space == output.space && written.offset < output.offset + output.bytes &&
                                  output.offset < written.offset + written.bytes;
            if (overlaps) segments_[o] = static_cast<int>(s);
          }
        }
      }
    }
  }
}

FetchCopies::~FetchCopies() {
  for (Replica& replica : replicas_) {
    if (replica.stream.get() != nullptr && replica.stream.MakeCurrent()) {
      replica.stream.device().driver().cuStreamSynchronize(replica.stream.get());
    }
  }
}

absl::Status FetchCopies::Begin(const std::vector<int>& fetches, const std::vector<ReplicaInputs>& inputs) {
  fetches_.clear();
  for (Replica& replica : replicas_) {
    replica.places.clear();
    replica.aside = false;
  }
  bool aside = false;
  uint64_t used = 0;  // bytes of all copies for a full batch, so that memory is allocated only once
  std::vector<uint64_t> offsets;
  for (int f : fetches) {
    if (segments_[f] < 0 || std::count(fetches_.begin(), fetches_.end(), f) > 0) continue;
    const uint64_t bytes = AlignUp(program_.buffers[index_.outputs[f].buffer].bytes, 64);
    if (used + bytes > kMostBytes) continue;
    fetches_.push_back(f);
    aside |= segments_[f] != last_segment_;
    offsets.push_back(used);
    used += bytes;
  }
  for (size_t r = 0; r < replicas_.size() && !fetches_.empty(); ++r) {
    Replica& replica = replicas_[r];
    const std::shared_ptr<CudaDevice>& device = gpu_replicas_[r]->shared_device();
    if (aside && replica.stream.get() == nullptr) {
      TD_ASSIGN_OR_RETURN(replica.stream, MakeStream(device));
      TD_ASSIGN_OR_RETURN(replica.event, MakeEvent(device));
    }
    if (replica.host_bytes < used) {
      replica.host = PinnedMemory();
      TD_ASSIGN_OR_RETURN(replica.host, MakePinned(device, used));
      replica.host_bytes = used;
    }
    for (size_t i = 0; i < fetches_.size(); ++i) {
      const uint64_t row_bytes = program_.buffers[index_.outputs[fetches_[i]].buffer].row_bytes;
      replica.places.push_back({offsets[i], inputs[r].rows * row_bytes});
    }
  }
  return absl::OkStatus();
}

absl::Status FetchCopies::AfterSegment(uint32_t segment, size_t r) {
  Replica& replica = replicas_[r];
  GpuReplica& gpu = *gpu_replicas_[r];
  const DriverApi& driver = gpu.device().driver();
  const CUstream compute = gpu.stream(format::Stream::kCompute);
  const bool last = static_cast<int>(segment) == last_segment_;
  bool waits = last;
  for (size_t i = 0; i < fetches_.size(); ++i) {
    const Place& place = replica.places[i];
    if (segments_[fetches_[i]] != static_cast<int>(segment) || place.bytes == 0) continue;
    if (!std::exchange(waits, true)) {
      TD_CU(driver, cuEventRecord(replica.event.get(), compute));
      TD_CU(driver, cuStreamWaitEvent(replica.stream.get(), replica.event.get(), 0));
      replica.aside = true;
    }
    auto* to = static_cast<uint8_t*>(replica.host.get()) + place.offset;
    const CUdeviceptr from = gpu.memory().Address(program_.buffers[index_.outputs[fetches_[i]].buffer]);
    TD_CU(driver, cuMemcpyDtoHAsync_v2(to, from, place.bytes, last ? compute : replica.stream.get()));
  }
  return absl::OkStatus();
}

absl::Status FetchCopies::Join(size_t r) {
  Replica& replica = replicas_[r];
  if (!replica.aside) return absl::OkStatus();
  GpuReplica& gpu = *gpu_replicas_[r];
  TD_CU(gpu.device().driver(), cuEventRecord(replica.event.get(), replica.stream.get()));
  TD_CU(gpu.device().driver(), cuStreamWaitEvent(gpu.stream(format::Stream::kCompute), replica.event.get(), 0));
  return absl::OkStatus();
}

const uint8_t* FetchCopies::Rows(int output, size_t r) const {
  const auto found = std::find(fetches_.begin(), fetches_.end(), output);
  if (found == fetches_.end()) return nullptr;
  const Replica& replica = replicas_[r];
  return static_cast<const uint8_t*>(replica.host.get()) + replica.places[found - fetches_.begin()].offset;
}

}  // namespace tandem

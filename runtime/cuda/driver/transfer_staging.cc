#include "runtime/cuda/driver/transfer_staging.h"

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/status_macros.h"
#include "runtime/cuda/driver/memory_calls.h"

namespace tandem {

absl::StatusOr<std::unique_ptr<TransferStaging>> TransferStaging::Create(const DriverApi* driver) {
  auto staging = std::unique_ptr<TransferStaging>(new TransferStaging(driver));
  TD_RETURN_IF_ERROR(staging->Init());
  return staging;
}

TransferStaging::~TransferStaging() {
  // after an error, copies may still be queued on the stream
  if (stream_ != nullptr) driver_.cuStreamSynchronize(stream_);
  for (Half& half : halves_) {
    if (half.event != nullptr) driver_.cuEventDestroy_v2(half.event);
    if (half.memory != nullptr) MemFreeHost(driver_, half.memory);
  }
  if (stream_ != nullptr) driver_.cuStreamDestroy_v2(stream_);
}

void TransferStaging::Forget() {
  stream_ = nullptr;
  for (Half& half : halves_) half = Half();
}

absl::Status TransferStaging::Init() {
  TD_CU(driver_, cuStreamCreate(&stream_, kCudaStreamNonBlocking));
  for (Half& half : halves_) {
    TD_RETURN_IF_ERROR(
        CudaStatus(driver_, MemHostAlloc(driver_, &half.memory, kHalf, kCudaHostAllocPortable), "cuMemHostAlloc"));
    TD_CU(driver_, cuEventCreate(&half.event, kCudaEventDisableTiming));
  }
  return absl::OkStatus();
}

absl::Status TransferStaging::Upload(uint64_t address, const void* from, uint64_t bytes) {
  absl::Status status = QueueUpload(address, static_cast<const uint8_t*>(from), bytes);
  if (!status.ok()) Abandon();
  return status;
}

absl::Status TransferStaging::Download(absl::Span<const DeviceMemory::Region> regions) {
  absl::Status status = QueueDownload(regions);
  if (!status.ok()) Abandon();
  return status;
}

absl::Status TransferStaging::QueueUpload(uint64_t address, const uint8_t* from, uint64_t bytes) {
  for (uint64_t done = 0; done < bytes; done += kHalf) {
    const uint64_t n = std::min(kHalf, bytes - done);
    TD_ASSIGN_OR_RETURN(Half * half, NextHalf());
    std::memcpy(half->memory, from + done, n);
    TD_CU(driver_, cuMemcpyHtoDAsync_v2(address + done, half->memory, n, stream_));
    TD_RETURN_IF_ERROR(End(*half));
  }
  return Flush();
}

absl::Status TransferStaging::QueueDownload(absl::Span<const DeviceMemory::Region> regions) {
  Half* half = nullptr;
  uint64_t used = kHalf;
  for (const DeviceMemory::Region& region : regions) {
    for (uint64_t done = 0; done < region.bytes;) {
      if (used == kHalf) {
        if (half != nullptr) TD_RETURN_IF_ERROR(End(*half));
        TD_ASSIGN_OR_RETURN(half, NextHalf());
        used = 0;
      }
      const uint64_t n = std::min(kHalf - used, region.bytes - done);
      uint8_t* at = static_cast<uint8_t*>(half->memory) + used;
      TD_CU(driver_, cuMemcpyDtoHAsync_v2(at, region.address + done, n, stream_));
      half->reads.push_back({at, static_cast<uint8_t*>(region.to) + done, n});
      used = std::min(kHalf, AlignUp(used + n, 64));
      done += n;
    }
  }
  if (half != nullptr) TD_RETURN_IF_ERROR(End(*half));
  return Flush();
}

absl::StatusOr<TransferStaging::Half*> TransferStaging::NextHalf() {
  next_ = 1 - next_;
  TD_RETURN_IF_ERROR(Finish(halves_[next_]));
  return &halves_[next_];
}

absl::Status TransferStaging::End(Half& half) {
  TD_CU(driver_, cuEventRecord(half.event, stream_));
  half.busy = true;
  return absl::OkStatus();
}

absl::Status TransferStaging::Finish(Half& half) {
  if (!half.busy) return absl::OkStatus();
  half.busy = false;
  std::vector<Read> reads;
  reads.swap(half.reads);
  TD_CU(driver_, cuEventSynchronize(half.event));
  for (const Read& read : reads) std::memcpy(read.to, read.from, read.bytes);
  return absl::OkStatus();
}

absl::Status TransferStaging::Flush() {
  TD_RETURN_IF_ERROR(Finish(halves_[1 - next_]));
  return Finish(halves_[next_]);
}

void TransferStaging::Abandon() {
  for (Half& half : halves_) {
    half.busy = false;
    half.reads.clear();
  }
}

}  // namespace tandem

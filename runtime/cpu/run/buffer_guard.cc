#include "runtime/cpu/run/buffer_guard.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "runtime/format/index.h"

// Functions of the address sanitizer, which exist only in programs that have it.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(void const volatile* begin, size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(void const volatile* begin, size_t bytes);
}

namespace tandem {
namespace {

constexpr uint8_t kPattern = 0xa5;

// Returns the offset of the first byte that does not have the pattern; -1: there is none. It reads poisoned memory, so
// the sanitizers leave it alone.
[[gnu::no_sanitize("address", "thread")]] int64_t FirstChanged(const uint8_t* begin, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) {
    if (const_cast<const volatile uint8_t*>(begin)[i] != kPattern) return static_cast<int64_t>(i);
  }
  return -1;
}

void Fill(uint8_t* begin, uint64_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(begin, bytes);
  std::memset(begin, kPattern, bytes);
  if (__asan_poison_memory_region != nullptr) __asan_poison_memory_region(begin, bytes);
}

void Release(const uint8_t* begin, uint64_t bytes) {
  if (__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(begin, bytes);
}

std::string Named(const format::Buffer& buffer, absl::string_view where) {
  return absl::StrCat("buffer \"", buffer.name, "\" (", buffer.bytes, " bytes in ", where, ")");
}

}  // namespace

BufferGuard::BufferGuard(const Executable& executable, const StepState& state, uint64_t library_bytes)
    : executable_(executable), threads_(state.threads.size()) {
  const format::Index& index = executable.index();
  const format::Program& program = index.programs[index.replicas[0].program];
  auto all_of = [](const Arena& arena) { return arena.bytes() + arena.guard_bytes(); };
  for (size_t t = 0; t < state.threads.size(); ++t) {
    const ThreadState& thread = state.threads[t];
    AddGaps(program, format::Space::kMicrobatch, "a microbatch", thread.microbatch.data(), all_of(thread.microbatch),
            threads_[t]);
    AddGaps(program, format::Space::kLane, "a lane", thread.lane.data(), all_of(thread.lane), threads_[t]);
    Add(thread.library.data() + library_bytes, all_of(thread.library) - library_bytes,
        "the scratch memory of libraries", threads_[t]);
  }
  for (size_t d = 0; d < state.devices.size(); ++d) {
    const DeviceState& device = state.devices[d];
    const std::string of = absl::StrCat(" of replica ", d);
    AddGaps(program, format::Space::kStep, absl::StrCat("the step", of), device.step.data(), all_of(device.step),
            shared_);
    AddGaps(program, format::Space::kBatch, absl::StrCat("the batch", of), device.batch.data(), all_of(device.batch),
            shared_);
    for (int lane = 0; lane < state.lanes_per_replica; ++lane) {
      AddGaps(program, format::Space::kLane, absl::StrCat("lane ", lane, of),
              device.lanes.data() + lane * state.lane_stride, state.lane_stride, shared_);
    }
    Add(device.lanes.data() + device.lanes.bytes(), device.lanes.guard_bytes(), "the last lane", shared_);
    for (size_t v = 0; v < device.variables.size(); ++v) {
      const format::Variable& variable = index.variables[v];
      const uint64_t bytes = NumElements(variable.shape) * SizeOf(variable.dtype);
      Add(static_cast<uint8_t*>(device.variables[v]) + bytes, kGuardBytes,
          absl::StrCat("variable \"", variable.name, "\"", of), shared_);
    }
  }
}

BufferGuard::~BufferGuard() {
  for (const Zones& zones : threads_) {
    for (const Zone& zone : zones) Release(zone.begin, zone.bytes);
  }
  for (const Zone& zone : shared_) Release(zone.begin, zone.bytes);
  for (const Arena& copy : input_copies_) Release(copy.data(), copy.bytes() + copy.guard_bytes());
}

void BufferGuard::AddGaps(const format::Program& program, format::Space space, absl::string_view where, uint8_t* begin,
                          uint64_t bytes, Zones& zones) {
  std::vector<const format::Buffer*> buffers;
  for (const auto& buffer : program.buffers) {
    if (buffer.space == space) buffers.push_back(&buffer);
  }
  std::sort(buffers.begin(), buffers.end(),
            [](const format::Buffer* a, const format::Buffer* b) { return a->offset < b->offset; });
  uint64_t covered = 0;
  std::string last = absl::StrCat("the beginning of ", where);
  for (const format::Buffer* buffer : buffers) {
    if (buffer->offset > covered) Add(begin + covered, buffer->offset - covered, last, zones);
    if (buffer->offset + buffer->bytes <= covered) continue;
    covered = buffer->offset + buffer->bytes;
    last = Named(*buffer, where);
  }
  if (bytes > covered) Add(begin + covered, bytes - covered, last, zones);
}

void BufferGuard::Add(uint8_t* begin, uint64_t bytes, std::string behind, Zones& zones) {
  Fill(begin, bytes);
  zones.push_back({begin, bytes, std::move(behind)});
}

absl::Status BufferGuard::TakeInputs(StepState& state) {
  const format::Index& index = executable_.index();
  const format::Program& program = index.programs[index.replicas[0].program];
  inputs_.clear();
  size_t next = 0;
  for (DeviceState& device : state.devices) {
    for (size_t i = 0; i < device.inputs.size(); ++i, ++next) {
      uint64_t row_bytes = 0;
      for (const auto& buffer : program.buffers) {
        if (buffer.space == format::Space::kInput && buffer.index == i) row_bytes = buffer.row_bytes;
      }
      const uint64_t bytes = device.rows * row_bytes;
      if (next == input_copies_.size()) input_copies_.emplace_back();
      Arena& copy = input_copies_[next];
      if (copy.bytes() < bytes || copy.data() == nullptr) {
        Release(copy.data(), copy.bytes() + copy.guard_bytes());
        TD_ASSIGN_OR_RETURN(copy, Arena::Create(bytes, index.inputs[i].name.c_str()));
      }
      Release(copy.data(), copy.bytes() + copy.guard_bytes());
      if (bytes > 0) std::memcpy(copy.data(), device.inputs[i], bytes);
      Add(copy.data() + bytes, copy.bytes() + copy.guard_bytes() - bytes,
          absl::StrCat("input \"", index.inputs[i].name, "\" (", device.rows, " rows)"), inputs_);
      device.inputs[i] = copy.data();
    }
  }
  return absl::OkStatus();
}

absl::Status BufferGuard::Check(const Zones& zones, absl::string_view commands) const {
  for (const Zone& zone : zones) {
    const int64_t changed = FirstChanged(zone.begin, zone.bytes);
    if (changed < 0) continue;
    Fill(zone.begin, zone.bytes);
    return absl::InternalError(absl::StrCat(executable_.name(), ": ", commands, " wrote outside of its buffers: byte ",
                                            changed, " behind ", zone.behind, " was changed"));
  }
  return absl::OkStatus();
}

bool BufferGuard::CheckThread(int thread, const format::Command& command) {
  absl::Status status = Check(threads_[thread], absl::StrCat("command ", command.name));
  if (status.ok()) return true;
  std::lock_guard<std::mutex> lock(mutex_);
  status_.Update(status);
  return false;
}

absl::Status BufferGuard::CheckAll(absl::string_view commands) {
  TD_RETURN_IF_ERROR(std::exchange(status_, absl::OkStatus()));
  for (const Zones& zones : threads_) TD_RETURN_IF_ERROR(Check(zones, commands));
  TD_RETURN_IF_ERROR(Check(shared_, commands));
  return Check(inputs_, commands);
}

}  // namespace tandem

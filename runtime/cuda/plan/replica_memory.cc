#include "runtime/cuda/plan/replica_memory.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/align.h"
#include "base/annotate.h"
#include "base/status_macros.h"
#include "runtime/commands/command.h"

namespace tandem {
namespace {

// Returns a text such as "microbatch arena 12 bytes; its largest values: conv1 8 bytes, ..."
std::string DescribeArenas(const Executable& executable, const format::Program& program, uint64_t staging,
                           uint64_t workspace) {
  std::string text =
      absl::StrCat("microbatch arena ", program.microbatch_bytes, ", batch arena ", program.batch_bytes,
                   ", step arena ", program.step_bytes, ", lane slots ", program.lane_bytes, ", constants ",
                   executable.constants().size(), ", inputs ", staging, ", workspace ", workspace);
  const format::Debug* debug = &executable.index().debug;
  if (debug->memory.empty()) return text;
  const auto& largest = *std::max_element(debug->memory.begin(), debug->memory.end(),
                                          [](const auto& a, const auto& b) { return a.peak_bytes < b.peak_bytes; });
  std::vector<const format::LiveBuffer*> live;
  for (const auto& buffer : largest.live_at_peak) live.push_back(&buffer);
  std::sort(live.begin(), live.end(), [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::vector<std::string> names;
  for (size_t i = 0; i < live.size() && i < 5; ++i) names.push_back(absl::StrCat(live[i]->name, " ", live[i]->bytes));
  if (names.empty()) return text;
  return absl::StrCat(text, "; the largest values of the ", largest.space,
                      " arena at its peak: ", absl::StrJoin(names, ", "));
}

// Returns the bytes that the tables of all commands need one after another.
uint64_t TableBytes(const format::Index& index, const format::Program& program) {
  uint64_t bytes = 0;
  for (const auto& command : CommandsInOrder(program)) bytes += command->GpuTableBytes({index, program});
  return bytes;
}

}  // namespace

StagingLayout MakeStagingLayout(const Executable& executable) {
  const format::Index& index = executable.index();
  StagingLayout layout;
  layout.bytes = layout.scalar_bytes = AlignUp(std::max<uint64_t>(8, 8 * index.scalars.size()), 256);
  for (const auto& in : index.inputs) {
    uint64_t row = SizeOf(in.dtype);
    for (size_t i = 1; i < in.shape.size(); ++i) row *= in.shape[i];
    layout.input_offsets.push_back(layout.bytes);
    layout.input_row_bytes.push_back(row);
    layout.bytes += AlignUp(row * executable.rows_per_replica(), 256);
  }
  return layout;
}

absl::StatusOr<std::unique_ptr<ReplicaMemory>> ReplicaMemory::Create(const Executable& executable, int replica,
                                                                     std::shared_ptr<CudaDevice> device,
                                                                     VariableStore& variables,
                                                                     uint64_t workspace_bytes) {
  const format::Index& index = executable.index();
  const format::Program& program = index.programs[index.replicas[0].program];
  auto memory = std::unique_ptr<ReplicaMemory>(new ReplicaMemory());
  memory->device_ = device;
  memory->layout_ = MakeStagingLayout(executable);
  memory->workspace_bytes_ = workspace_bytes;
  uint64_t total = 0;
  auto place = [&](uint64_t bytes) {
    const uint64_t offset = total;
    total += AlignUp(std::max<uint64_t>(bytes, 1), 256);
    return offset;
  };
  const uint64_t step = place(program.step_bytes), batch = place(program.batch_bytes), lane = place(program.lane_bytes),
                 microbatch = place(program.microbatch_bytes), constants = place(executable.constants().size()),
                 staging = place(memory->layout_.bytes), flag = place(4),
                 counters = place(kGpuCounterBytes + workspace_bytes),
                 command_tables = place(TableBytes(index, program));
  // Variables are allocated first: they outlive the session.
  TD_RETURN_IF_ERROR(variables.Place(replica, device));
  for (const auto& v : index.variables) {
    TD_ASSIGN_OR_RETURN(const uint64_t address, variables.DeviceAddress(v.name, replica));
    memory->variables_.push_back(address);
  }
  absl::StatusOr<uint64_t> base = device->Allocate(total, absl::StrCat("replica ", replica, "'s memory"));
  if (!base.ok()) {
    if (!absl::IsResourceExhausted(base.status())) return base.status();
    return Annotate(
        base.status(), "",
        absl::StrCat(" (in bytes: ", DescribeArenas(executable, program, memory->layout_.bytes, workspace_bytes),
                     "). Take a smaller batch, or more GPUs"));
  }
  memory->memory_ = CudaMemory(device, *base);
  memory->step_ = *base + step;
  memory->batch_ = *base + batch;
  memory->lane_ = *base + lane;
  memory->microbatch_ = *base + microbatch;
  memory->constants_ = *base + constants;
  memory->staging_ = *base + staging;
  memory->flag_ = *base + flag;
  memory->counters_ = *base + counters;
  memory->command_tables_ = *base + command_tables;
  const std::vector<uint8_t> zeros(kGpuCounterBytes);
  TD_RETURN_IF_ERROR(device->Upload(memory->counters_, zeros.data(), zeros.size()));
  if (!executable.constants().empty()) {
    TD_RETURN_IF_ERROR(
        device->Upload(memory->constants_, executable.constants().data(), executable.constants().size()));
  }
  return memory;
}

CUdeviceptr ReplicaMemory::Address(const format::Buffer& b) const {
  switch (b.space) {
    case format::Space::kVariable:
      return variables_[b.index];
    case format::Space::kInput:
      return staging_ + layout_.input_offsets[b.index];
    case format::Space::kScalar:
      return staging_ + 8 * b.index;
    case format::Space::kBatch:
      return batch_ + b.offset;
    case format::Space::kLane:
      return lane_ + b.offset;
    case format::Space::kMicrobatch:
      return microbatch_ + b.offset;
    case format::Space::kStep:
      return step_ + b.offset;
    case format::Space::kConstant:
      return constants_ + b.offset;
  }
  return 0;
}

}  // namespace tandem

// Checks of executables for GPUs: images, launches, plans, and schedules that respect memory dependencies.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/commands/command.h"
#include "runtime/commands/command_verifier.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/executable/command_dependencies.h"

namespace tandem {
namespace {

// Limits of CUDA: threads of a block, and the shared memory that any architecture up to 12.0 has.
constexpr uint32_t kMaxBlock = 1024;
constexpr uint32_t kMaxSharedBytes = 227 * 1024;
constexpr uint32_t kMinArchitecture = 50, kMaxArchitecture = 999;

class GpuVerifier : public GpuCommandVerifier {
 public:
  GpuVerifier(const format::Index& index, const std::string& name) : GpuCommandVerifier(index, name, nullptr) {}

  absl::Status Run() {
    bool gpu = false;
    for (size_t i = 0; i < x_.programs.size(); ++i) {
      const bool this_one = x_.programs[i].device_class == "gpu";
      if (i > 0 && this_one != gpu) return Bad("programs", "some are for CPUs and some for GPUs");
      gpu = this_one;
    }
    if (!gpu) return CheckNothingOfGpus();
    const std::string lanes = "a GPU has one lane and microbatch for each replica";
    if (x_.lanes != x_.replicas.size()) return Bad("lanes", lanes);
    if (x_.microbatch_rows != x_.rows_per_lane) return Bad("microbatch_rows", lanes);
    TD_RETURN_IF_ERROR(CheckImages());
    for (size_t i = 0; i < x_.kernels.size(); ++i) {
      TD_RETURN_IF_ERROR(CheckKernel(absl::StrCat("kernels[", i, "]"), x_.kernels[i]));
    }
    for (size_t i = 0; i < x_.programs.size(); ++i) {
      program_ = &x_.programs[i];
      TD_RETURN_IF_ERROR(CheckProgram(absl::StrCat("programs[", i, "]")));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckNothingOfGpus() const {
    if (!x_.images.empty()) return Bad("images", "a program for CPUs has none");
    for (size_t i = 0; i < x_.kernels.size(); ++i) {
      if (x_.kernels[i].gpu.has_value())
        return Bad(absl::StrCat("kernels[", i, "].gpu"), "a program for CPUs has none");
    }
    for (size_t i = 0; i < x_.programs.size(); ++i) {
      if (x_.programs[i].gpu.has_value()) return Bad(absl::StrCat("programs[", i, "].gpu"), "it is for CPUs");
    }
    return absl::OkStatus();
  }

  absl::Status CheckImages() const {
    if (x_.images.empty() && !x_.kernels.empty()) return Bad("images", "kernels without PTX");
    for (size_t i = 0; i < x_.images.size(); ++i) {
      const format::GpuImage& image = x_.images[i];
      const std::string field = absl::StrCat("images[", i, "]");
      if (image.arch < kMinArchitecture || image.arch > kMaxArchitecture) {
        return Bad(field + ".arch", image.arch, " is no architecture");
      }
      if (i > 0 && image.arch <= x_.images[i - 1].arch) return Bad(field + ".arch", "not ascending");
      TD_RETURN_IF_ERROR(CheckSegment(field + ".segment", image.segment, format::SegmentKind::kPtx));
    }
    return absl::OkStatus();
  }

  absl::Status CheckKernel(const std::string& field, const format::Kernel& kernel) const {
    if (!kernel.gpu) return Bad(field + ".gpu", "a kernel for GPUs needs its launch");
    const format::GpuLaunch& gpu = *kernel.gpu;
    if (kernel.segment != x_.images[0].segment) return Bad(field + ".segment", "not that of the first image");
    if (gpu.block == 0 || gpu.block > kMaxBlock) return Bad(field + ".gpu.block", gpu.block, " threads");
    if (gpu.items_per_block == 0) return Bad(field + ".gpu.items_per_block", "must be positive");
    if (gpu.split == 0) return Bad(field + ".gpu.split", "must be positive");
    if (gpu.shared_bytes > kMaxSharedBytes) return Bad(field + ".gpu.shared_bytes", gpu.shared_bytes, " is too much");
    if (gpu.scratch_bytes > kMaxArenaBytes) return Bad(field + ".gpu.scratch_bytes", "too large");
    return absl::OkStatus();
  }

  absl::Status CheckProgram(const std::string& field) {
    if (!program_->gpu) return Bad(field + ".gpu", "a program for GPUs needs a schedule");
    if (program_->gpu->workspace_bytes > kMaxArenaBytes) return Bad(field + ".gpu.workspace_bytes", "too large");
    const std::vector<std::unique_ptr<Command>> commands = CommandsInOrder(*program_);
    for (size_t i = 0; i < commands.size(); ++i) {
      TD_RETURN_IF_ERROR(commands[i]->VerifyForGpu(*this, absl::StrCat(field, " command ", i)));
    }
    return CheckSchedule(field + ".gpu.segments", commands);
  }

  // For each stream, the number of its segments that certainly have ended at some point of the schedule.
  using Clock = std::array<uint32_t, 2>;

  absl::Status CheckSchedule(const std::string& field, const std::vector<std::unique_ptr<Command>>& commands) const {
    struct Place {
      uint32_t segment = 0;
      uint32_t order = 0;  // position among all commands in the order of issue
      bool seen = false;
    };
    const auto& segments = program_->gpu->segments;
    std::vector<Place> places(commands.size());
    std::vector<Clock> begins(segments.size()), ends(segments.size());
    std::array<Clock, 2> last = {};  // for each stream: the segments that have ended when its latest segment ends
    uint32_t order = 0;
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const format::GpuSegment& segment = segments[i];
      const std::string at = absl::StrCat(field, "[", i, "]");
      if (!Known(segment.stream)) return Bad(at + ".stream", "unknown");
      const bool communicates = segment.stream == format::Stream::kCommunication;
      if (communicates && segment.captured) return Bad(at, "collectives are not captured");
      Clock clock = last[static_cast<int>(segment.stream)];
      for (uint32_t wait : segment.waits) {
        if (wait >= i) return Bad(at + ".waits", "segment ", wait, " is not issued before");
        if (segments[wait].stream == segment.stream) {
          return Bad(at + ".waits", "segment ", wait, " is of the same stream, which keeps its order anyway");
        }
        for (int s = 0; s < 2; ++s) clock[s] = std::max(clock[s], ends[wait][s]);
      }
      begins[i] = clock;
      clock[static_cast<int>(segment.stream)] += 1;
      ends[i] = last[static_cast<int>(segment.stream)] = clock;
      for (uint32_t s : segment.commands) {
        TD_RETURN_IF_ERROR(CheckIndex(at + ".commands", s, commands.size(), "command"));
        if (places[s].seen) return Bad(at + ".commands", "command ", s, " is in a segment already");
        if (commands[s]->collective().has_value() != communicates) {
          return Bad(at + ".commands", "command ", s, communicates ? " is no collective" : " is a collective");
        }
        places[s] = {i, order++, true};
      }
    }
    const std::vector<std::vector<uint32_t>> dependencies = CommandDependencies(*program_);
    for (uint32_t s = 0; s < commands.size(); ++s) {
      if (!places[s].seen) return Bad(field, "command ", s, " is in no segment");
      const Place& mine = places[s];
      for (uint32_t before : dependencies[s]) {
        // If `before` is in no segment, the outer loop reports that when it comes to this command.
        const Place& other = places[before];
        const auto stream = segments[other.segment].stream;
        const bool ordered =
            segments[mine.segment].stream == stream
                ? other.order < mine.order
                : begins[mine.segment][static_cast<int>(stream)] >= ends[other.segment][static_cast<int>(stream)];
        if (other.seen && !ordered) {
          return Bad(field, "command ", s, " (", commands[s]->table().name, ") does not wait for command ", before,
                     " (", commands[before]->table().name, "), with which it shares memory");
        }
      }
    }
    return absl::OkStatus();
  }
};

}  // namespace

absl::Status VerifyGpuParts(const format::Index& index, const std::string& name) {
  return GpuVerifier(index, name).Run();
}

}  // namespace tandem

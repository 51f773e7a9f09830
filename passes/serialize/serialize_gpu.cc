#include "passes/serialize/serialize_gpu.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/format/flatbuffer.h"

namespace tandem {

void WriteGpuImages(const std::vector<GpuImage>& images, format::Index& index, std::vector<SegmentData>& segments) {
  for (const GpuImage& image : images) {
    format::GpuImage row;
    row.arch = static_cast<uint32_t>(image.arch);
    row.segment = static_cast<uint32_t>(segments.size());
    index.images.push_back(std::move(row));
    segments.push_back({format::SegmentKind::kPtx, absl::StrCat("sm_", image.arch), image.ptx});
  }
}

void WriteGpuLaunch(const KernelCode& code, const format::Index& index, format::Kernel& kernel) {
  kernel.segment = index.images.empty() ? 0 : index.images[0].segment;
  kernel.gpu = format::GpuLaunch(code.launch);
}

absl::Status WriteLibraryPlans(const LibraryPlanner& planner, format::Program& program,
                               std::vector<SegmentData>& segments) {
  if (planner == nullptr) return absl::OkStatus();
  std::map<std::string, format::LibraryCall> planned;
  for (auto& section : program.sections) {
    for (auto& command : section.commands) {
      format::LibraryCall* call = command.body.As<format::LibraryCall>();
      if (call == nullptr) continue;
      const auto [known, is_new] = planned.try_emplace(format::ToFlatBuffer(*call), *call);
      format::LibraryCall& result = known->second;
      if (is_new) {
        absl::StatusOr<std::optional<LibraryPlan>> plan = planner(*call);
        if (!plan.ok()) {
          return absl::Status(plan.status().code(),
                              absl::StrCat(command.name, ": ", std::string(plan.status().message())));
        }
        if (plan->has_value()) {
          result.workspace_bytes = (*plan)->workspace_bytes;
          result.implementation = (*plan)->implementation;
          if (!(*plan)->bytes.empty()) {
            segments.push_back({format::SegmentKind::kCudnnPlan, command.name, std::move((*plan)->bytes)});
            result.plan = static_cast<uint32_t>(segments.size());
          }
        }
      }
      *call = result;
    }
  }
  return absl::OkStatus();
}

}  // namespace tandem

#include "passes/serialize_gpu.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/executable_generated.h"

namespace tandem {
namespace {

// Equal calls have equal text.
std::string Fingerprint(const fb::LibraryCallT& call) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::LibraryCall::Pack(builder, &call));
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

}  // namespace

void WriteGpuImages(const std::vector<GpuImage>& images, fb::ExecutableT& index, std::vector<SegmentData>& segments) {
  for (const GpuImage& image : images) {
    auto row = std::make_unique<fb::GpuImageT>();
    row->arch = static_cast<uint32_t>(image.arch);
    row->segment = static_cast<uint32_t>(segments.size());
    index.images.push_back(std::move(row));
    segments.push_back({fb::SegmentKind::Ptx, absl::StrCat("sm_", image.arch), image.ptx});
  }
}

void WriteGpuLaunch(const KernelCode& code, const fb::ExecutableT& index, fb::KernelT& kernel) {
  kernel.segment = index.images.empty() ? 0 : index.images[0]->segment;
  kernel.gpu = std::make_unique<fb::GpuLaunchT>(code.launch);
}

absl::Status WriteLibraryPlans(const LibraryPlanner& planner, fb::ProgramT& program,
                               std::vector<SegmentData>& segments) {
  if (planner == nullptr) return absl::OkStatus();
  std::map<std::string, fb::LibraryCallT> planned;
  for (auto& section : program.sections) {
    for (auto& command : section->commands) {
      fb::LibraryCallT* call = command->body.AsLibraryCall();
      if (call == nullptr) continue;
      const auto [known, is_new] = planned.try_emplace(Fingerprint(*call), *call);
      fb::LibraryCallT& result = known->second;
      if (is_new) {
        absl::StatusOr<std::optional<LibraryPlan>> plan = planner(*call);
        if (!plan.ok()) {
          return absl::Status(plan.status().code(),
                              absl::StrCat(command->name, ": ", std::string(plan.status().message())));
        }
        if (plan->has_value()) {
          result.workspace_bytes = (*plan)->workspace_bytes;
          result.implementation = (*plan)->implementation;
          if (!(*plan)->bytes.empty()) {
            segments.push_back({fb::SegmentKind::CudnnPlan, command->name, std::move((*plan)->bytes)});
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

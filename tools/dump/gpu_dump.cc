#include "tools/dump/gpu_dump.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/json_string.h"
#include "runtime/commands/command.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/library_calls/library_call.h"
#include "tools/dump/json_dump.h"

namespace tandem {
namespace {

using Json = nlohmann::ordered_json;

// Returns, for each kernel, the number of thread blocks that the first command that launches it starts for a full
// batch. For a grouped launch, which updates many variables, this is the sum over the variables.
std::map<uint32_t, uint64_t> GridsOfKernels(const Executable& executable,
                                            const std::vector<std::unique_ptr<Command>>& commands) {
  const format::Index& index = executable.index();
  std::map<uint32_t, uint64_t> grids;
  for (const std::unique_ptr<Command>& command : commands) {
    const std::optional<KernelLaunches> launches = command->launches();
    if (!launches) continue;
    const format::Kernel& kernel = index.kernels[launches->kernel];
    uint64_t blocks = 0;
    for (uint64_t count : launches->counts) {
      blocks += GpuGrid(*kernel.gpu, kernel.domain == format::Domain::kRows   ? index.microbatch_rows
                                     : kernel.domain == format::Domain::kOnce ? 1
                                                                              : count);
    }
    grids.emplace(launches->kernel, blocks);
  }
  return grids;
}

Json LaunchJson(const format::GpuLaunch& gpu, uint64_t grid) {
  Json j = {{"grid", grid},
            {"block", gpu.block},
            {"items_per_block", gpu.items_per_block},
            {"split", gpu.split},
            {"shared_bytes", gpu.shared_bytes},
            {"scratch_bytes", gpu.scratch_bytes}};
  return j;
}

Json SegmentsJson(const format::Index& index, const format::Program& program,
                  const std::vector<std::unique_ptr<Command>>& commands) {
  Json segments = Json::array();
  for (const auto& s : program.gpu->segments) {
    Json names = Json::array(), collectives = Json::array();
    for (uint32_t command : s.commands) {
      names.push_back(commands[command]->table().name);
      const std::optional<CollectiveUse> collective = commands[command]->collective();
      if (!collective) continue;
      const format::Collective& c = index.collectives[collective->number];
      collectives.push_back({{"seq", c.seq}, {"bucket", c.bucket}, {"bytes", c.bytes}, {"kind", c.kind}});
    }
    Json waits = Json::array();
    for (uint32_t w : s.waits) waits.push_back(program.gpu->segments[w].name);
    segments.push_back({{"name", s.name},
                        {"stream", format::Name(s.stream)},
                        {"captured", s.captured},
                        {"waits_for", waits},
                        {"commands", s.commands},
                        {"command_names", names}});
    if (!collectives.empty()) segments.back()["collectives"] = collectives;
  }
  return segments;
}

// Counts, by kind of command, the launches of one run with a full batch: what is put into the GPU's streams.
Json LaunchesJson(const format::Index& index, const format::Program& program,
                  const std::vector<std::unique_ptr<Command>>& commands) {
  std::map<std::string, int64_t> by_kind;
  int64_t all = 0;
  for (const std::unique_ptr<Command>& command : commands) {
    const int64_t launches = command->GpuLaunches({index, program});
    by_kind[command->kind()] += launches;
    all += launches;
  }
  return {{"all", all}, {"by_kind", by_kind}};
}

}  // namespace

void AddGpuJson(const Executable& executable, Json* dump) {
  const format::Index& index = executable.index();
  const format::Program& program = index.programs[0];
  if (!program.gpu) return;
  const std::vector<std::unique_ptr<Command>> commands = CommandsInOrder(program);
  for (const auto& [kernel, grid] : GridsOfKernels(executable, commands)) {
    (*dump)["kernels"][kernel]["launch"] = LaunchJson(*index.kernels[kernel].gpu, grid);
  }
  Json gpu = {{"target", index.target}, {"workspace_bytes", program.gpu->workspace_bytes}};
  gpu["images"] = Json::array();
  for (const auto& image : index.images) {
    gpu["images"].push_back({{"arch", absl::StrCat("sm_", image.arch)},
                             {"ptx_bytes", executable.segment(static_cast<int>(image.segment)).size()}});
  }
  gpu["launches"] = LaunchesJson(index, program, commands);
  gpu["segments"] = SegmentsJson(index, program, commands);
  gpu["plans"] = Json::array();
  for (size_t i = 0; i < commands.size(); ++i) {
    const format::LibraryCall* call = commands[i]->table().body.As<format::LibraryCall>();
    if (call == nullptr) continue;
    gpu["plans"].push_back(
        {{"command", i},
         {"name", commands[i]->table().name},
         {"primitive", InfoOf(*call).name},
         {"implementation", call->implementation},
         {"plan_bytes", call->plan == 0 ? 0 : executable.segment(static_cast<int>(call->plan) - 1).size()},
         {"workspace_bytes", call->workspace_bytes},
         {"tf32", call->tf32}});
  }
  (*dump)["gpu"] = std::move(gpu);
}

std::string GpuLaunchText(const Json& kernel) {
  if (!kernel.contains("launch")) return "";
  const Json& l = kernel["launch"];
  std::string text = absl::StrCat("grid ", TextOf(l["grid"]), " x ", TextOf(l["block"]), " threads, ",
                                  TextOf(l["items_per_block"]), " items a block");
  if (l["split"].get<int>() > 1) absl::StrAppend(&text, " range of ", TextOf(l["split"]), " blocks");
  if (l["shared_bytes"].get<int64_t>() > 0) absl::StrAppend(&text, ", ", TextOf(l["shared_bytes"]), " B shared");
  if (l["scratch_bytes"].get<int64_t>() > 0) absl::StrAppend(&text, ", ", TextOf(l["scratch_bytes"]), " B scratch");
  return text;
}

std::string GpuText(const Json& dump) {
  if (!dump.contains("gpu")) return "";
  const Json& gpu = dump["gpu"];
  std::string out = absl::StrCat("\nGPU program for ", TextOf(gpu["target"]), ", workspace ",
                                 TextOf(gpu["workspace_bytes"]), " B\n  PTX of all kernels:");
  for (const Json& image : gpu["images"]) {
    absl::StrAppend(&out, " ", TextOf(image["arch"]), " (", TextOf(image["ptx_bytes"]), " B)");
  }
  std::vector<std::string> launches;
  for (const auto& [kind, count] : gpu["launches"]["by_kind"].items()) {
    if (count.get<int64_t>() > 0) launches.push_back(absl::StrCat(kind, " ", TextOf(count)));
  }
  absl::StrAppend(&out, "\nLaunches of a full batch: ", TextOf(gpu["launches"]["all"]), " (",
                  absl::StrJoin(launches, ", "), ")");
  absl::StrAppend(&out, "\n\nStreams (", gpu["segments"].size(), " segments, in the order of issue)\n");
  for (const Json& s : gpu["segments"]) {
    std::vector<std::string> waits;
    for (const Json& w : s["waits_for"]) waits.push_back(TextOf(w));
    absl::StrAppendFormat(&out, "  %-14s %-16s %-9s commands %s%s\n", TextOf(s["stream"]), TextOf(s["name"]),
                          s["captured"].get<bool>() ? "captured" : "", JsonString(s["commands"]),
                          waits.empty() ? "" : absl::StrCat(" after ", absl::StrJoin(waits, ", ")));
    if (!s.contains("collectives")) continue;
    for (const Json& c : s["collectives"]) {
      absl::StrAppend(&out, "    NCCL ", TextOf(c["kind"]), " seq ", TextOf(c["seq"]), ", bucket ", TextOf(c["bucket"]),
                      ", ", TextOf(c["bytes"]), " B\n");
    }
  }
  absl::StrAppend(&out, "\nLibrary calls (", gpu["plans"].size(), ")\n");
  for (const Json& p : gpu["plans"]) {
    const bool planned = p["plan_bytes"].get<int64_t>() > 0;
    absl::StrAppendFormat(
        &out, "  %4d %-18s %-30s %-28s workspace %s B%s\n", p["command"].get<int>(), TextOf(p["primitive"]),
        TextOf(p["implementation"]),
        planned ? absl::StrCat("plan of ", TextOf(p["plan_bytes"]), " B") : "planned when it is loaded",
        TextOf(p["workspace_bytes"]), p["tf32"].get<bool>() ? ", TF32" : "");
  }
  return out;
}

}  // namespace tandem

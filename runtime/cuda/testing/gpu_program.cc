#include "runtime/cuda/testing/gpu_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {
namespace {

template <typename T>
T KernelParam(void** params, int i) {
  T value;
  std::memcpy(&value, params[i], sizeof value);
  return value;
}

constexpr int kItemsPerBlock = 128;

// Returns the number of buffers that each kernel takes.
std::map<uint32_t, size_t> CountArguments(const format::Index& index) {
  std::map<uint32_t, size_t> counts;
  for (const auto& section : index.programs[0].sections) {
    for (const auto& command : section.commands) {
      if (const auto* launch = command.body.As<format::KernelLaunch>()) {
        counts[launch->kernel] = command.inputs.size() + command.outputs.size();
      } else if (const auto* group = command.body.As<format::GroupedLaunch>()) {
        counts[group->kernel] = group->num_args;
      }
    }
  }
  return counts;
}

}  // namespace

void RegisterGpuKernel(FakeDriver& driver, const std::string& symbol, int n, GpuKernelFunction function) {
  driver.RegisterKernel(symbol, [n, function](uint32_t, uint32_t, uint32_t, void** params) {
    const int32_t* guard = KernelParam<const int32_t*>(params, n + 4);
    if (guard != nullptr && *guard != 0) return;
    GpuKernelCall call;
    for (int i = 0; i < n; ++i) call.args.push_back(KernelParam<float*>(params, i));
    call.begin = KernelParam<int64_t>(params, n);
    call.end = KernelParam<int64_t>(params, n + 1);
    call.row_offset = KernelParam<int64_t>(params, n + 2);
    function(call);
  });
  driver.RegisterKernel(GpuGroupSymbol(symbol), [n, function](uint32_t grid, uint32_t, uint32_t, void** params) {
    const int32_t* guard = KernelParam<const int32_t*>(params, 2);
    if (guard != nullptr && *guard != 0) return;
    const auto* blocks = KernelParam<const int32_t*>(params, 1);
    for (uint32_t block = 0; block < grid; ++block) {
      const uint64_t* member = KernelParam<const uint64_t*>(params, 0) + blocks[block] * (n + 2);
      GpuKernelCall call;
      for (int i = 0; i < n; ++i) call.args.push_back(reinterpret_cast<float*>(member[i]));
      call.begin = static_cast<int64_t>(block - member[n + 1]) * kItemsPerBlock;
      call.end = std::min<int64_t>(call.begin + kItemsPerBlock, static_cast<int64_t>(member[n]));
      if (call.begin < call.end) function(call);
    }
  });
}

std::string GpuProgramPtx(const format::Index& index, int sm, bool groups) {
  std::string text = absl::StrCat(".version 7.8\n.target sm_", sm, "\n.address_size 64\n");
  std::set<uint32_t> grouped;
  for (const auto& section : index.programs[0].sections) {
    for (const auto& command : section.commands) {
      if (const auto* group = command.body.As<format::GroupedLaunch>()) grouped.insert(group->kernel);
    }
  }
  for (const auto& [kernel, args] : CountArguments(index)) {
    std::vector<std::string> params;
    if (groups && grouped.count(kernel) > 0) {
      absl::StrAppend(&text, ".visible .entry ", GpuGroupSymbol(index.kernels[kernel].symbol),
                      "(.param .u64 members, .param .u64 blocks, .param .u64 guard)\n{\n  ret;\n}\n");
    }
    for (size_t i = 0; i < args + 5; ++i) params.push_back(absl::StrCat(".param .u64 p", i));
    absl::StrAppend(&text, ".visible .entry ", index.kernels[kernel].symbol, "(", absl::StrJoin(params, ", "),
                    ")\n{\n  ret;\n}\n");
  }
  return text;
}

std::shared_ptr<const Executable> FinishGpuProgram(ExecutableBuilder& builder, const std::vector<int>& sms,
                                                   const std::string& ptx, bool shared, bool groups) {
  format::Index& index = builder.index();
  index.target = "cuda sm_75 sm_90";
  format::Program& program = index.programs[0];
  program.device_class = "gpu";
  for (size_t r = 0; r < index.replicas.size(); ++r) index.replicas[r].device = absl::StrCat("gpu:", shared ? 0 : r);
  for (auto& kernel : index.kernels) {
    kernel.gpu = format::GpuLaunch();
    kernel.gpu->block = 128;
    kernel.gpu->items_per_block = kItemsPerBlock;
    kernel.segment = 0;
  }
  std::vector<SegmentData> data;
  for (int sm : sms) {
    index.images.push_back(format::GpuImage());
    index.images.back().arch = static_cast<uint32_t>(sm);
    index.images.back().segment = static_cast<uint32_t>(data.size());
    data.push_back(
        {format::SegmentKind::kPtx, absl::StrCat("sm_", sm), ptx.empty() ? GpuProgramPtx(index, sm, groups) : ptx});
  }
  data.push_back({format::SegmentKind::kConstants, "constants", std::string(64, 0)});
  program.gpu = format::GpuProgram();
  auto& segments = program.gpu->segments;
  uint32_t number = 0;
  for (const auto& section : program.sections) {
    for (const auto& command : section.commands) {
      const format::Stream stream =
          command.body.As<format::AllReduce>() ? format::Stream::kCommunication : format::Stream::kCompute;
      if (segments.empty() || segments.back().stream != stream) {
        format::GpuSegment segment;
        segment.name = absl::StrCat("segment ", segments.size());
        segment.stream = stream;
        segment.captured = stream == format::Stream::kCompute;
        if (!segments.empty()) segment.waits = {static_cast<uint32_t>(segments.size() - 1)};
        segments.push_back(std::move(segment));
      }
      segments.back().commands.push_back(number++);
    }
  }
  auto parsed = Executable::Parse(BuildExecutable(builder.Take(), data));
  if (!parsed.ok()) {
    std::cerr << parsed.status() << "\n";
    std::abort();  // a test's mistake
  }
  return *std::move(parsed);
}

}  // namespace tandem

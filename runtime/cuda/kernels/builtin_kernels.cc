#include "runtime/cuda/kernels/builtin_kernels.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "runtime/commands/gpu_finite_checks.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {
namespace {

constexpr int64_t kBlock = 256;
static_assert(kBlock == kGpuScatterChunk, "a block sorts a chunk");
constexpr int64_t kMaxBlocks = 1 << 16;  // most blocks of a launch; with more work, each thread loops
// the most indices that a ScatterAdd can sort, because threads of the sorting kernels do not loop
constexpr int64_t kMaxIndices = kBlock * kMaxBlocks;

const char* const kSymbols[] = {"td_finite_f32",
                                "td_finite_bf16",
                                "td_finite_f64",
                                "td_finite_chunks_f32",
                                "td_finite_chunks_bf16",
                                "td_finite_chunks_f64",
                                "td_copy_1",
                                "td_copy_4",
                                "td_copy_8",
                                "td_scatter_f32_s32",
                                "td_scatter_f32_s64",
                                "td_scatter_f64_s32",
                                "td_scatter_f64_s64",
                                "td_sort_chunks_s32",
                                "td_sort_chunks_s64",
                                "td_merge_runs_s32",
                                "td_merge_runs_s64",
                                "td_scatter_sorted_f32_s32",
                                "td_scatter_sorted_f32_s64",
                                "td_scatter_sorted_f64_s32",
                                "td_scatter_sorted_f64_s64"};

// Returns the type's part of kernel names; null for types whose values are always finite.
const char* FloatName(DType dtype) {
  return dtype == DType::kFloat32    ? "f32"
         : dtype == DType::kFloat64  ? "f64"
         : dtype == DType::kBFloat16 ? "bf16"
                                     : nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BuiltinKernels>> BuiltinKernels::Load(const DriverApi* driver) {
  auto kernels = std::unique_ptr<BuiltinKernels>(new BuiltinKernels(driver));
  TD_CU(*driver, cuModuleLoadDataEx(&kernels->module_, BuiltinKernelsPtx().c_str(), 0, nullptr, nullptr));
  for (const char* symbol : kSymbols) {
    TD_CU(*driver, cuModuleGetFunction(&kernels->functions_[symbol], kernels->module_, symbol));
  }
  return kernels;
}

BuiltinKernels::~BuiltinKernels() {
  // An error is ignored: if the context is lost, nothing can be done.
  if (module_ != nullptr) driver_->cuModuleUnload(module_);
}

absl::Status BuiltinKernels::Launch(const std::string& symbol, int64_t threads, std::vector<void*> params,
                                    absl::Span<const DeviceAccess> accesses, CUstream stream) {
  const int64_t blocks = std::clamp<int64_t>((threads + kBlock - 1) / kBlock, 1, kMaxBlocks);
  return LaunchBlocks(symbol, blocks, std::move(params), accesses, stream);
}

absl::Status BuiltinKernels::LaunchBlocks(const std::string& symbol, int64_t blocks, std::vector<void*> params,
                                          absl::Span<const DeviceAccess> accesses, CUstream stream) {
  DeclareAccesses(accesses);
  TD_CU(*driver_, cuLaunchKernel(functions_.at(symbol), static_cast<unsigned>(blocks), 1, 1, kBlock, 1, 1, 0, stream,
                                 params.data(), nullptr));
  return absl::OkStatus();
}

absl::Status BuiltinKernels::CheckFinite(DType dtype, CUdeviceptr data, int64_t n, CUdeviceptr flag, CUstream stream) {
  const char* type = FloatName(dtype);
  if (type == nullptr || n == 0) return absl::OkStatus();
  const uint64_t bytes = static_cast<uint64_t>(n) * SizeOf(dtype);
  return Launch(absl::StrCat("td_finite_", type), n, {&data, &n, &flag}, {{data, bytes, false}, {flag, 4, true}},
                stream);
}

absl::Status BuiltinKernels::CheckFiniteChunks(DType dtype, CUdeviceptr table, int64_t chunks,
                                               absl::Span<const DeviceAccess> arrays, CUdeviceptr flag,
                                               CUstream stream) {
  const char* type = FloatName(dtype);
  if (type == nullptr || chunks == 0) return absl::OkStatus();
  std::vector<DeviceAccess> accesses(arrays.begin(), arrays.end());
  accesses.push_back({table, chunks * sizeof(FiniteChunk), false});
  accesses.push_back({flag, 4, true});
  return LaunchBlocks(absl::StrCat("td_finite_chunks_", type), chunks, {&table, &flag}, accesses, stream);
}

absl::Status BuiltinKernels::Copy(CUdeviceptr to, CUdeviceptr from, uint64_t bytes, CUdeviceptr guard,
                                  CUstream stream) {
  if (bytes == 0) return absl::OkStatus();
  const uint64_t all = to | from | bytes;
  const uint64_t width = all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
  uint64_t n = bytes / width;
  std::vector<DeviceAccess> accesses = {{to, bytes, true}, {from, bytes, false}};
  if (guard != 0) accesses.push_back({guard, 4, false});
  return Launch(absl::StrCat("td_copy_", width), static_cast<int64_t>(n), {&to, &from, &n, &guard}, accesses, stream);
}

absl::StatusOr<CUdeviceptr> BuiltinKernels::Sort(const Scatter& s, CUstream stream) {
  const std::string index = s.index_dtype == DType::kInt64 ? "s64" : "s32";
  CUdeviceptr indices = s.indices, from = s.workspace, to = s.workspace + GpuScatterOrderBytes(s.count);
  int64_t count = s.count, run = kGpuScatterChunk;
  const DeviceAccess keys = {indices, count * (index == "s64" ? 8ul : 4ul), false};
  const uint64_t bytes = count * sizeof(uint32_t);
  TD_RETURN_IF_ERROR(
      Launch("td_sort_chunks_" + index, count, {&indices, &from, &count}, {keys, {from, bytes, true}}, stream));
  for (; run < count; run *= 2) {
    TD_RETURN_IF_ERROR(Launch("td_merge_runs_" + index, count, {&indices, &from, &to, &count, &run},
                              {keys, {from, bytes, false}, {to, bytes, true}}, stream));
    std::swap(from, to);
  }
  return from;
}

absl::Status BuiltinKernels::ScatterAdd(const Scatter& s, CUdeviceptr guard, CUstream stream) {
  const bool wide = s.dtype == DType::kFloat64, wide_index = s.index_dtype == DType::kInt64;
  const uint64_t bytes = wide ? 8 : 4, index_bytes = wide_index ? 8 : 4;
  int64_t column_blocks = (s.width + 31) / 32, items = s.rows * column_blocks;
  if (items == 0) return absl::OkStatus();
  Scatter copy = s;
  std::vector<DeviceAccess> accesses = {{s.updates, s.count * s.width * bytes, false},
                                        {s.indices, s.count * index_bytes, false},
                                        {s.table, s.rows * s.width * bytes, true}};
  if (guard != 0) accesses.push_back({guard, 4, false});
  if (s.count > kGpuScatterFewIndices) {
    if (s.count >= kMaxIndices) return absl::InvalidArgumentError(absl::StrCat(s.count, " indices are too many"));
    TD_ASSIGN_OR_RETURN(CUdeviceptr order, Sort(s, stream));
    accesses.push_back({order, s.count * sizeof(uint32_t), false});
    return Launch(
        absl::StrCat("td_scatter_sorted_", wide ? "f64" : "f32", "_", wide_index ? "s64" : "s32"), items * 32,
        {&copy.updates, &copy.indices, &order, &copy.count, &copy.width, &items, &copy.table, &column_blocks, &guard},
        accesses, stream);
  }
  return Launch(absl::StrCat("td_scatter_", wide ? "f64" : "f32", "_", wide_index ? "s64" : "s32"), items * 32,
                {&copy.updates, &copy.indices, &copy.count, &copy.width, &items, &copy.table, &column_blocks, &guard},
                accesses, stream);
}

}  // namespace tandem

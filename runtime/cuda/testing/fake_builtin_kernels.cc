#include "runtime/cuda/testing/fake_builtin_kernels.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "runtime/commands/gpu_finite_checks.h"

namespace tandem {
namespace {

template <typename T>
T Param(void** params, int i) {
  T value;
  std::memcpy(&value, params[i], sizeof value);
  return value;
}

bool Stopped(void** params, int guard) {
  const int32_t* flag = Param<const int32_t*>(params, guard);
  return flag != nullptr && *flag != 0;
}

template <typename Bits>
void CheckFinite(const Bits* data, int64_t count, Bits mask, int32_t* flag) {
  for (int64_t i = 0; i < count; ++i) {
    if ((data[i] & mask) == mask) *flag = 1;
  }
}

template <typename Bits>
FakeDriver::Kernel Finite(Bits mask) {
  return [mask](uint32_t, uint32_t, uint32_t, void** params) {
    CheckFinite(Param<const Bits*>(params, 0), Param<int64_t>(params, 1), mask, Param<int32_t*>(params, 2));
  };
}

template <typename Bits>
FakeDriver::Kernel FiniteChunks(Bits mask) {
  return [mask](uint32_t grid, uint32_t, uint32_t, void** params) {
    const auto* chunks = Param<const FiniteChunk*>(params, 0);
    for (uint32_t b = 0; b < grid; ++b) {
      CheckFinite(reinterpret_cast<const Bits*>(chunks[b].data), static_cast<int64_t>(chunks[b].count), mask,
                  Param<int32_t*>(params, 1));
    }
  };
}

FakeDriver::Kernel Copy(int width) {
  return [width](uint32_t, uint32_t, uint32_t, void** params) {
    if (Stopped(params, 3)) return;
    std::memcpy(Param<void*>(params, 0), Param<void*>(params, 1), Param<uint64_t>(params, 2) * width);
  };
}

template <typename T, typename Index>
void Scatter(uint32_t, uint32_t, uint32_t, void** params) {
  if (Stopped(params, 7)) return;
  const T* updates = Param<const T*>(params, 0);
  const Index* indices = Param<const Index*>(params, 1);
  const int64_t count = Param<int64_t>(params, 2), width = Param<int64_t>(params, 3);
  const int64_t rows = Param<int64_t>(params, 4) / Param<int64_t>(params, 6);
  T* table = Param<T*>(params, 5);
  for (int64_t i = 0; i < rows * width; ++i) table[i] = 0;
  for (int64_t p = 0; p < count; ++p) {
    if (indices[p] < 0 || indices[p] >= rows) continue;
    for (int64_t c = 0; c < width; ++c) table[indices[p] * width + c] += updates[p * width + c];
  }
}

template <typename Index>
void SortChunks(uint32_t, uint32_t, uint32_t, void** params) {
  const Index* indices = Param<const Index*>(params, 0);
  uint32_t* order = Param<uint32_t*>(params, 1);
  const auto count = Param<int64_t>(params, 2);
  std::iota(order, order + count, 0);
  for (int64_t begin = 0; begin < count; begin += 256) {
    std::stable_sort(order + begin, order + std::min(begin + 256, count),
                     [&](uint32_t a, uint32_t b) { return indices[a] < indices[b]; });
  }
}

template <typename Index>
void MergeRuns(uint32_t, uint32_t, uint32_t, void** params) {
  const Index* indices = Param<const Index*>(params, 0);
  const uint32_t* from = Param<const uint32_t*>(params, 1);
  const auto count = Param<int64_t>(params, 3), run = Param<int64_t>(params, 4);
  for (int64_t begin = 0; begin < count; begin += 2 * run) {
    const int64_t middle = std::min(begin + run, count), end = std::min(middle + run, count);
    std::merge(from + begin, from + middle, from + middle, from + end, Param<uint32_t*>(params, 2) + begin,
               [&](uint32_t a, uint32_t b) { return indices[a] < indices[b]; });
  }
}

template <typename T, typename Index>
void ScatterSorted(uint32_t, uint32_t, uint32_t, void** params) {
  if (Stopped(params, 8)) return;
  const T* updates = Param<const T*>(params, 0);
  const Index* indices = Param<const Index*>(params, 1);
  const uint32_t* order = Param<const uint32_t*>(params, 2);
  const auto count = Param<int64_t>(params, 3), width = Param<int64_t>(params, 4);
  const int64_t rows = Param<int64_t>(params, 5) / Param<int64_t>(params, 7);
  T* table = Param<T*>(params, 6);
  for (int64_t row = 0; row < rows; ++row) {
    const uint32_t* at = std::partition_point(order, order + count, [&](uint32_t p) { return indices[p] < row; });
    std::fill_n(table + row * width, width, T(0));
    for (; at != order + count && indices[*at] == row; ++at) {
      for (int64_t c = 0; c < width; ++c) table[row * width + c] += updates[*at * width + c];
    }
  }
}

}  // namespace

void RegisterBuiltinKernels(FakeDriver& driver) {
  driver.RegisterKernel("td_finite_f32", Finite<uint32_t>(0x7f800000u));
  driver.RegisterKernel("td_finite_bf16", Finite<uint16_t>(0x7f80u));
  driver.RegisterKernel("td_finite_f64", Finite<uint64_t>(0x7ff0000000000000ull));
  driver.RegisterKernel("td_finite_chunks_f32", FiniteChunks<uint32_t>(0x7f800000u));
  driver.RegisterKernel("td_finite_chunks_bf16", FiniteChunks<uint16_t>(0x7f80u));
  driver.RegisterKernel("td_finite_chunks_f64", FiniteChunks<uint64_t>(0x7ff0000000000000ull));
  for (int width : {1, 4, 8}) driver.RegisterKernel(absl::StrCat("td_copy_", width), Copy(width));
  driver.RegisterKernel("td_scatter_f32_s32", Scatter<float, int32_t>);
  driver.RegisterKernel("td_scatter_f32_s64", Scatter<float, int64_t>);
  driver.RegisterKernel("td_scatter_f64_s32", Scatter<double, int32_t>);
  driver.RegisterKernel("td_scatter_f64_s64", Scatter<double, int64_t>);
  driver.RegisterKernel("td_sort_chunks_s32", SortChunks<int32_t>);
  driver.RegisterKernel("td_sort_chunks_s64", SortChunks<int64_t>);
  driver.RegisterKernel("td_merge_runs_s32", MergeRuns<int32_t>);
  driver.RegisterKernel("td_merge_runs_s64", MergeRuns<int64_t>);
  driver.RegisterKernel("td_scatter_sorted_f32_s32", ScatterSorted<float, int32_t>);
  driver.RegisterKernel("td_scatter_sorted_f32_s64", ScatterSorted<float, int64_t>);
  driver.RegisterKernel("td_scatter_sorted_f64_s32", ScatterSorted<double, int32_t>);
  driver.RegisterKernel("td_scatter_sorted_f64_s64", ScatterSorted<double, int64_t>);
}

}  // namespace tandem

#include "runtime/cuda/testing/fake_builtin_kernels.h"

#include <cstring>

#include "absl/strings/str_cat.h"

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
FakeDriver::Kernel Finite(Bits mask) {
  return [mask](uint32_t, uint32_t, uint32_t, void** params) {
    const Bits* data = Param<const Bits*>(params, 0);
    for (int64_t i = 0; i < Param<int64_t>(params, 1); ++i) {
      if ((data[i] & mask) == mask) *Param<int32_t*>(params, 2) = 1;
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

}  // namespace

void RegisterBuiltinKernels(FakeDriver& driver) {
  driver.RegisterKernel("td_finite_f32", Finite<uint32_t>(0x7f800000u));
  driver.RegisterKernel("td_finite_bf16", Finite<uint16_t>(0x7f80u));
  driver.RegisterKernel("td_finite_f64", Finite<uint64_t>(0x7ff0000000000000ull));
  for (int width : {1, 4, 8}) driver.RegisterKernel(absl::StrCat("td_copy_", width), Copy(width));
  driver.RegisterKernel("td_scatter_f32_s32", Scatter<float, int32_t>);
  driver.RegisterKernel("td_scatter_f32_s64", Scatter<float, int64_t>);
  driver.RegisterKernel("td_scatter_f64_s32", Scatter<double, int32_t>);
  driver.RegisterKernel("td_scatter_f64_s64", Scatter<double, int64_t>);
}

}  // namespace tandem

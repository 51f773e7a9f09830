#include "runtime/cuda/testing/fake_library_kernels.h"

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"

namespace tandem {
namespace {

float Widen(float x) { return x; }
float Widen(uint16_t x) { return FromBFloat16Bits(x); }
void Round(float x, float& to) { to = x; }
void Round(float x, uint16_t& to) { to = ToBFloat16Bits(x); }

template <typename T>
T Parameter(void** params, int i) {
  return *static_cast<T*>(params[i]);
}

template <typename From, typename To>
void Transpose(uint32_t, uint32_t, uint32_t, void** params) {
  const auto* in = Parameter<const From*>(params, 0);
  auto* out = Parameter<To*>(params, 1);
  const auto rows = Parameter<int64_t>(params, 2), columns = Parameter<int64_t>(params, 3);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) Round(Widen(in[r * columns + c]), out[c * rows + r]);
  }
}

template <typename From, typename To>
void Convert(uint32_t, uint32_t, uint32_t, void** params) {
  const auto* in = Parameter<const From*>(params, 0);
  auto* out = Parameter<To*>(params, 1);
  for (int64_t i = 0; i < Parameter<int64_t>(params, 2); ++i) Round(Widen(in[i]), out[i]);
}

// T: unsigned for integers, whose sums wrap.
template <typename T>
void Add(uint32_t, uint32_t, uint32_t, void** params) {
  auto* a = Parameter<T*>(params, 0);
  const auto* b = Parameter<const T*>(params, 1);
  for (int64_t i = 0; i < Parameter<int64_t>(params, 2); ++i) a[i] += b[i];
}

template <typename T>
void Max(uint32_t, uint32_t, uint32_t, void** params) {
  auto* a = Parameter<T*>(params, 0);
  const auto* b = Parameter<const T*>(params, 1);
  for (int64_t i = 0; i < Parameter<int64_t>(params, 2); ++i) a[i] = a[i] > b[i] || a[i] != a[i] ? a[i] : b[i];
}

template <typename T>
void Divide(uint32_t, uint32_t, uint32_t, void** params) {
  auto* a = Parameter<T*>(params, 0);
  const T divisor = static_cast<T>(Parameter<int64_t>(params, 1));
  for (int64_t i = 0; i < Parameter<int64_t>(params, 2); ++i) a[i] /= divisor;
}

void MatrixAddresses(uint32_t, uint32_t, uint32_t, void** params) {
  auto* out = Parameter<uint64_t*>(params, 0);
  const auto inner = Parameter<uint64_t>(params, 10), n = Parameter<uint64_t>(params, 11);
  for (int k = 0; k < 3; ++k) {
    const auto base = Parameter<uint64_t>(params, 3 * k + 1);
    const auto inner_stride = Parameter<uint64_t>(params, 3 * k + 2);
    const auto outer_stride = Parameter<uint64_t>(params, 3 * k + 3);
    for (uint64_t i = 0; i < n; ++i) out[k * n + i] = base + i % inner * inner_stride + i / inner * outer_stride;
  }
}

}  // namespace

void RegisterLibraryKernels(FakeDriver& driver) {
  driver.RegisterKernel("td_transpose_f32_f32", Transpose<float, float>);
  driver.RegisterKernel("td_transpose_f32_bf16", Transpose<float, uint16_t>);
  driver.RegisterKernel("td_transpose_bf16_f32", Transpose<uint16_t, float>);
  driver.RegisterKernel("td_transpose_bf16_bf16", Transpose<uint16_t, uint16_t>);
  driver.RegisterKernel("td_convert_f32_bf16", Convert<float, uint16_t>);
  driver.RegisterKernel("td_convert_bf16_f32", Convert<uint16_t, float>);
  driver.RegisterKernel("td_add_f32", Add<float>);
  driver.RegisterKernel("td_add_f64", Add<double>);
  driver.RegisterKernel("td_add_s32", Add<uint32_t>);
  driver.RegisterKernel("td_add_s64", Add<uint64_t>);
  driver.RegisterKernel("td_max_f32", Max<float>);
  driver.RegisterKernel("td_max_f64", Max<double>);
  driver.RegisterKernel("td_max_s32", Max<int32_t>);
  driver.RegisterKernel("td_max_s64", Max<int64_t>);
  driver.RegisterKernel("td_divide_f32", Divide<float>);
  driver.RegisterKernel("td_divide_f64", Divide<double>);
  driver.RegisterKernel("td_matrix_addresses", MatrixAddresses);
}

}  // namespace tandem

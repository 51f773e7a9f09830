#include "runtime/cuda/testing/fake_library_kernels.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

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

// Adds; T is unsigned for integers, whose sums wrap.
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

// Applies `fn`(index, value) to the elements of y; parameter number `count` holds their number.
template <typename T, typename Fn>
void InPlace(void** params, int count, Fn fn) {
  auto* y = Parameter<T*>(params, 0);
  for (int64_t i = 0; i < Parameter<int64_t>(params, count); ++i) Round(fn(i, Widen(y[i])), y[i]);
}

template <typename T>
void AddBias(uint32_t, uint32_t, uint32_t, void** params) {
  const auto* bias = Parameter<const float*>(params, 1);
  const auto columns = Parameter<int64_t>(params, 2);
  InPlace<T>(params, 3, [=](int64_t i, float y) { return y + bias[i % columns]; });
}

template <typename T>
void Relu(uint32_t, uint32_t, uint32_t, void** params) {
  InPlace<T>(params, 1, [](int64_t, float y) { return y <= 0 ? 0.0f : y; });
}

template <typename T>
void ReluMask(uint32_t, uint32_t, uint32_t, void** params) {
  auto* y = Parameter<T*>(params, 0);
  auto* mask = Parameter<uint8_t*>(params, 1);
  const auto columns = Parameter<int64_t>(params, 2), stride = Parameter<int64_t>(params, 3);
  const int64_t bytes = (columns + 7) / 8;
  for (int64_t i = 0; i < Parameter<int64_t>(params, 4); ++i) {
    const int64_t row = i / bytes, byte = i % bytes;
    uint8_t bits = 0;
    for (int64_t c = 8 * byte; c < std::min(columns, 8 * byte + 8); ++c) {
      const float value = Widen(y[row * columns + c]);
      bits |= (value > 0) << (c % 8);
      Round(value <= 0 ? 0.0f : value, y[row * columns + c]);
    }
    mask[row * stride + byte] = bits;
  }
}

template <typename T>
void ReluGrad(uint32_t, uint32_t, uint32_t, void** params) {
  const auto* mask = Parameter<const uint8_t*>(params, 1);
  const auto columns = Parameter<int64_t>(params, 2), stride = Parameter<int64_t>(params, 3);
  InPlace<T>(params, 4, [=](int64_t i, float y) {
    return (mask[i / columns * stride + i % columns / 8] >> (i % columns % 8) & 1) != 0 ? y : 0.0f;
  });
}

double GeluTanh(double x) { return std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)); }

template <typename T>
void Gelu(uint32_t, uint32_t, uint32_t, void** params) {
  InPlace<T>(params, 1, [](int64_t, float x) { return static_cast<float>(0.5 * x * (1 + GeluTanh(x))); });
}

template <typename T>
void GeluGrad(uint32_t, uint32_t, uint32_t, void** params) {
  const auto* at = Parameter<const T*>(params, 1);
  InPlace<T>(params, 2, [=](int64_t i, float y) {
    const double x = Widen(at[i]), t = GeluTanh(x);
    const double inner = std::sqrt(2 / std::numbers::pi) * (1 + 3 * 0.044715 * x * x);
    return static_cast<float>(y * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * inner));
  });
}

void ColumnSums(uint32_t, uint32_t, uint32_t, void** params) {
  const auto* in = Parameter<const float*>(params, 0);
  auto* out = Parameter<float*>(params, 1);
  const auto rows = Parameter<int64_t>(params, 2), columns = Parameter<int64_t>(params, 3);
  for (int64_t c = 0; c < columns; ++c) {
    out[c] = 0;
    for (int64_t r = 0; r < rows; ++r) out[c] += in[r * columns + c];
  }
}

// Registers the kernels of an epilogue's parts, for the element type T.
template <typename T>
void RegisterEpilogues(FakeDriver& driver, const std::string& type) {
  driver.RegisterKernel("td_add_bias_" + type, AddBias<T>);
  driver.RegisterKernel("td_relu_" + type, Relu<T>);
  driver.RegisterKernel("td_relu_mask_" + type, ReluMask<T>);
  driver.RegisterKernel("td_relu_grad_" + type, ReluGrad<T>);
  driver.RegisterKernel("td_gelu_" + type, Gelu<T>);
  driver.RegisterKernel("td_gelu_grad_" + type, GeluGrad<T>);
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
  driver.RegisterKernel("td_column_sums_f32", ColumnSums);
  RegisterEpilogues<float>(driver, "f32");
  RegisterEpilogues<uint16_t>(driver, "bf16");
}

}  // namespace tandem

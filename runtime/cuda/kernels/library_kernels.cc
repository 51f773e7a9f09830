#include "runtime/cuda/kernels/library_kernels.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

uint64_t Bytes(DType type, int64_t n) { return n * SizeOf(type); }

// Returns a type's part of an entry's name; empty where there is no such kernel.
const char* LibraryTypeName(DType type) {
  return type == DType::kFloat32 ? "f32" : type == DType::kBFloat16 ? "bf16" : "";
}

const char* NumberName(DType type) {
  switch (type) {
    case DType::kFloat32:
      return "f32";
    case DType::kFloat64:
      return "f64";
    case DType::kInt32:
      return "s32";
    case DType::kInt64:
      return "s64";
    default:
      return "";
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<LibraryKernels>> LibraryKernels::Create(const DriverApi* driver) {
  CUmodule module = nullptr;
  TD_CU(*driver, cuModuleLoadDataEx(&module, LibraryKernelsPtx().c_str(), 0, nullptr, nullptr));
  std::unique_ptr<LibraryKernels> kernels(new LibraryKernels(driver, module));
  std::vector<std::string> names = {"td_convert_f32_bf16", "td_convert_bf16_f32", "td_divide_f32",
                                    "td_divide_f64",       "td_matrix_addresses", "td_column_sums_f32"};
  for (const char* op : {"add_bias", "relu", "relu_mask", "relu_grad", "gelu", "gelu_grad"}) {
    for (const char* type : {"f32", "bf16"}) names.push_back(absl::StrCat("td_", op, "_", type));
  }
  for (const char* from : {"f32", "bf16"}) {
    for (const char* to : {"f32", "bf16"}) names.push_back(absl::StrCat("td_transpose_", from, "_", to));
  }
  for (const char* op : {"add", "max"}) {
    for (const char* type : {"f32", "f64", "s32", "s64"}) names.push_back(absl::StrCat("td_", op, "_", type));
  }
  for (const std::string& name : names) {
    TD_CU(*driver, cuModuleGetFunction(&kernels->functions_[name], module, name.c_str()));
  }
  return kernels;
}

LibraryKernels::~LibraryKernels() { driver_->cuModuleUnload(module_); }

absl::Status LibraryKernels::Launch(const std::string& name, int64_t blocks, std::initializer_list<uint64_t> parameters,
                                    std::initializer_list<DeviceAccess> accesses, CUstream stream) const {
  if (blocks == 0) return absl::OkStatus();
  auto function = functions_.find(name);
  if (function == functions_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no kernel ", name, " for these types"));
  }
  if (blocks > INT32_MAX) return absl::InvalidArgumentError(absl::StrCat(name, ": ", blocks, " blocks are too many"));
  std::vector<uint64_t> values(parameters);
  std::vector<void*> pointers;
  for (uint64_t& value : values) pointers.push_back(&value);
  DeclareAccesses(accesses);
  TD_CU(*driver_, cuLaunchKernel(function->second, static_cast<unsigned>(blocks), 1, 1, kLibraryKernelBlock, 1, 1, 0,
                                 stream, pointers.data(), nullptr));
  return absl::OkStatus();
}

absl::Status LibraryKernels::Transpose(CUdeviceptr in, DType in_type, CUdeviceptr out, DType out_type, int64_t rows,
                                       int64_t columns, CUstream stream) const {
  const uint64_t r = rows, c = columns;
  return Launch(absl::StrCat("td_transpose_", LibraryTypeName(in_type), "_", LibraryTypeName(out_type)),
                CeilDiv(rows, kTransposeTile) * CeilDiv(columns, kTransposeTile), {in, out, r, c},
                {{in, Bytes(in_type, rows * columns), false}, {out, Bytes(out_type, rows * columns), true}}, stream);
}

absl::Status LibraryKernels::Convert(CUdeviceptr in, DType in_type, CUdeviceptr out, DType out_type, int64_t n,
                                     CUstream stream) const {
  if (in_type == out_type) {
    if (n > 0) TD_CU(*driver_, cuMemcpyDtoDAsync_v2(out, in, Bytes(in_type, n), stream));
    return absl::OkStatus();
  }
  return Launch(absl::StrCat("td_convert_", LibraryTypeName(in_type), "_", LibraryTypeName(out_type)),
                CeilDiv(n, kLibraryKernelBlock), {in, out, static_cast<uint64_t>(n)},
                {{in, Bytes(in_type, n), false}, {out, Bytes(out_type, n), true}}, stream);
}

absl::Status LibraryKernels::Zero(CUdeviceptr out, uint64_t bytes, CUstream stream) const {
  TD_CU(*driver_, cuMemsetD8Async(out, 0, bytes, stream));
  return absl::OkStatus();
}

absl::Status LibraryKernels::Combine(format::ReduceKind kind, DType type, CUdeviceptr a, CUdeviceptr b, int64_t n,
                                     CUstream stream) const {
  const char* op = kind == format::ReduceKind::kSum ? "add" : kind == format::ReduceKind::kMax ? "max" : "";
  return Launch(absl::StrCat("td_", op, "_", NumberName(type)), CeilDiv(n, kLibraryKernelBlock),
                {a, b, static_cast<uint64_t>(n)}, {{a, Bytes(type, n), true}, {b, Bytes(type, n), false}}, stream);
}

absl::Status LibraryKernels::MatrixAddresses(CUdeviceptr out, const std::array<MatrixGrid, 3>& operands, int64_t inner,
                                             int64_t outer, CUstream stream) const {
  const uint64_t n = static_cast<uint64_t>(inner * outer);
  const auto& [a, b, c] = operands;
  return Launch("td_matrix_addresses", CeilDiv(n, kLibraryKernelBlock),
                {out, a.base, a.inner_stride, a.outer_stride, b.base, b.inner_stride, b.outer_stride, c.base,
                 c.inner_stride, c.outer_stride, static_cast<uint64_t>(inner), n},
                {{out, MatrixAddressesBytes(n), true}}, stream);
}

absl::Status LibraryKernels::AddBias(const Matrix& y, CUdeviceptr bias, CUstream stream) const {
  const int64_t n = y.rows * y.columns;
  return Launch(absl::StrCat("td_add_bias_", LibraryTypeName(y.type)), CeilDiv(n, kLibraryKernelBlock),
                {y.data, bias, static_cast<uint64_t>(y.columns), static_cast<uint64_t>(n)},
                {{y.data, Bytes(y.type, n), true}, {bias, Bytes(DType::kFloat32, y.columns), false}}, stream);
}

absl::Status LibraryKernels::Relu(const Matrix& y, CUstream stream) const {
  const int64_t n = y.rows * y.columns;
  return Launch(absl::StrCat("td_relu_", LibraryTypeName(y.type)), CeilDiv(n, kLibraryKernelBlock),
                {y.data, static_cast<uint64_t>(n)}, {{y.data, Bytes(y.type, n), true}}, stream);
}

absl::Status LibraryKernels::ReluWithMask(const Matrix& y, CUdeviceptr mask, int64_t mask_row_bytes,
                                          CUstream stream) const {
  const int64_t bytes = y.rows * CeilDiv(y.columns, 8);
  return Launch(
      absl::StrCat("td_relu_mask_", LibraryTypeName(y.type)), CeilDiv(bytes, kLibraryKernelBlock),
      {y.data, mask, static_cast<uint64_t>(y.columns), static_cast<uint64_t>(mask_row_bytes),
       static_cast<uint64_t>(bytes)},
      {{y.data, Bytes(y.type, y.rows * y.columns), true}, {mask, static_cast<uint64_t>(y.rows * mask_row_bytes), true}},
      stream);
}

absl::Status LibraryKernels::ReluGradient(const Matrix& y, CUdeviceptr mask, int64_t mask_row_bytes,
                                          CUstream stream) const {
  const int64_t n = y.rows * y.columns;
  return Launch(
      absl::StrCat("td_relu_grad_", LibraryTypeName(y.type)), CeilDiv(n, kLibraryKernelBlock),
      {y.data, mask, static_cast<uint64_t>(y.columns), static_cast<uint64_t>(mask_row_bytes), static_cast<uint64_t>(n)},
      {{y.data, Bytes(y.type, n), true}, {mask, static_cast<uint64_t>(y.rows * mask_row_bytes), false}}, stream);
}

absl::Status LibraryKernels::Gelu(const Matrix& y, CUstream stream) const {
  const int64_t n = y.rows * y.columns;
  return Launch(absl::StrCat("td_gelu_", LibraryTypeName(y.type)), CeilDiv(n, kLibraryKernelBlock),
                {y.data, static_cast<uint64_t>(n)}, {{y.data, Bytes(y.type, n), true}}, stream);
}

absl::Status LibraryKernels::GeluGradient(const Matrix& y, CUdeviceptr x, CUstream stream) const {
  const int64_t n = y.rows * y.columns;
  return Launch(absl::StrCat("td_gelu_grad_", LibraryTypeName(y.type)), CeilDiv(n, kLibraryKernelBlock),
                {y.data, x, static_cast<uint64_t>(n)}, {{y.data, Bytes(y.type, n), true}, {x, Bytes(y.type, n), false}},
                stream);
}

absl::Status LibraryKernels::ColumnSums(const Matrix& in, CUdeviceptr out, CUstream stream) const {
  if (in.type != DType::kFloat32) return absl::InvalidArgumentError("only float32 is summed up by columns");
  return Launch("td_column_sums_f32", CeilDiv(in.columns, kLibraryKernelBlock),
                {in.data, out, static_cast<uint64_t>(in.rows), static_cast<uint64_t>(in.columns)},
                {{in.data, Bytes(in.type, in.rows * in.columns), false}, {out, Bytes(in.type, in.columns), true}},
                stream);
}

absl::Status LibraryKernels::Divide(DType type, CUdeviceptr a, int64_t divisor, int64_t n, CUstream stream) const {
  return Launch(absl::StrCat("td_divide_", NumberName(type)), CeilDiv(n, kLibraryKernelBlock),
                {a, static_cast<uint64_t>(divisor), static_cast<uint64_t>(n)}, {{a, Bytes(type, n), true}}, stream);
}

}  // namespace tandem

// GpuLaunchesOf against what the fakes see of a call.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/dtype.h"
#include "gtest/gtest.h"
#include "runtime/cuda/libraries/library_calls.h"
#include "runtime/cuda/testing/fake_cublaslt.h"
#include "runtime/cuda/testing/fake_cudnn.h"
#include "runtime/cuda/testing/library_fixture.h"
#include "runtime/library_calls/gpu_library.h"
#include "runtime/library_calls/library_call.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/library_calls.h"

namespace tandem {
namespace {

using DType::kBFloat16;
using DType::kFloat32;

class LibraryLaunchesTest : public ::testing::Test, public LibraryFixture {
 protected:
  LibraryLaunchesTest() { MakeRunner(); }

  void TearDown() override { Close(); }

  CUdeviceptr Zeros(uint64_t bytes) {
    const CUdeviceptr address = Allocate(bytes);
    EXPECT_EQ(api.cuMemsetD8Async(address, 0, bytes, stream), 0);
    return address;
  }

  // What the stream is given for the call, by name.
  std::vector<std::string> LaunchesOf(const format::LibraryCall& call) {
    format::LibraryCall plain = call;
    SetPacked(plain, false);
    const LibraryOperands operands = *CheckGpuLibraryCall(plain);
    auto allocate = [&](const std::vector<std::vector<int64_t>>& shapes) {
      std::vector<CUdeviceptr> addresses;
      for (const std::vector<int64_t>& shape : shapes) addresses.push_back(Zeros(NumElements(shape) * 4));
      return addresses;
    };
    std::vector<std::vector<int64_t>> results = operands.outputs;
    if (results[0].empty()) results[0] = InfoOf(call).weights_shape;  // packed
    const std::vector<CUdeviceptr> inputs = allocate(operands.inputs), outputs = allocate(results);
    auto prepared = runner->Prepare(call, "");
    EXPECT_TRUE(prepared.ok()) << TextOf(call) << ": " << prepared.status();
    if (!prepared.ok()) return {};
    const CUdeviceptr workspace = Zeros((*prepared)->workspace_bytes() + 1);
    fake.ClearCalls();
    const absl::Status status = (*prepared)->Enqueue(inputs, outputs, workspace, stream);
    EXPECT_TRUE(status.ok()) << TextOf(call) << ": " << status;
    std::vector<std::string> launches;
    for (const FakeCall& c : fake.calls()) {
      if (c.stream >= 0) launches.push_back(c.name == "cuLaunchKernel" ? c.detail : c.name);
    }
    EXPECT_EQ(api.cuStreamSynchronize(stream), 0);
    FreeAll();
    return launches;
  }

  template <typename Operation>
  void Expect(const Operation& operation, const std::string& launches) {
    const format::LibraryCall call = CallOf(operation);
    const std::vector<std::string> seen = LaunchesOf(call);
    EXPECT_EQ(absl::StrJoin(seen, " "), launches) << TextOf(call);
    EXPECT_EQ(GpuLaunchesOf(call), static_cast<int64_t>(seen.size())) << TextOf(call);
  }

  FakeCublasLt cublaslt;
  FakeCudnn cudnn;
};

TEST_F(LibraryLaunchesTest, OfConvolutions) {
  const std::string run = "cudnnBackendExecute";
  format::Conv2D conv = Conv(2, 8, 8, 3, 3, 3, 16, 1, 0, 0);
  Expect(conv, "td_transpose_f32_f32 " + run);
  conv.packed = true;
  Expect(conv, run);
  conv.epilogue = {.bias = true, .activation = format::Activation::kRelu};
  Expect(conv, run);
  conv.epilogue = {.activation = format::Activation::kRelu};
  Expect(conv, "cuMemsetD8Async " + run);
  SetTypes(conv, kBFloat16);
  conv.epilogue = {.bias = true};
  Expect(conv, run);
  conv.y_dtype = kFloat32;
  Expect(conv, "td_convert_f32_bf16 " + run + " td_convert_bf16_f32");
  conv.epilogue = {};
  Expect(conv, run + " td_convert_bf16_f32");
  conv.direction = format::Direction::kInputGrad;
  conv.y_dtype = kBFloat16;
  Expect(conv, run);
  conv.packed = false;
  conv.direction = format::Direction::kFilterGrad;
  Expect(conv, run + " td_transpose_bf16_bf16");
  conv.kernel_dtype = kFloat32;
  Expect(conv, run + " td_transpose_bf16_f32");
  // A part of a larger kernel's.
  conv = Conv(2, 8, 8, 3, 3, 3, 16, 2, 0, 1);
  conv.direction = format::Direction::kFilterGrad;
  Expect(conv, run + " td_transpose_f32_f32 cuMemcpyDtoDAsync_v2 cuMemcpyDtoDAsync_v2 cuMemcpyDtoDAsync_v2");
  // A product of matrices.
  conv = Conv(2, 8, 8, 32, 1, 1, 16, 1, 0, 0);
  Expect(conv, "cublasLtMatmul");
  conv.direction = format::Direction::kFilterGrad;
  Expect(conv, "cublasLtMatmul");
}

TEST_F(LibraryLaunchesTest, OfProducts) {
  format::MatMul product = MatMulOf(16, 24, 8);
  product.epilogue = {.bias = true, .activation = format::Activation::kRelu};
  Expect(product, "cublasLtMatmul");
  SetTypes(product, kBFloat16);
  Expect(product, "cublasLtMatmul");
  product.y_dtype = kFloat32;
  Expect(product, "cublasLtMatmul");
  // Without an operand that is swapped, with one, and with few matrices.
  Expect(BatchMatMulOf(3, 4, 8, 8, 8, 0), "cublasLtMatmul");
  Expect(BatchMatMulOf(3, 4, 8, 8, 8, 4), "td_matrix_addresses cublasLtMatmul");
  Expect(BatchMatMulOf(2, 4, 8, 8, 8, 4), "cublasLtMatmul cublasLtMatmul");
}

TEST_F(LibraryLaunchesTest, OfPackedWeights) {
  Expect(*PackingFor(CallOf(Conv(2, 8, 8, 3, 3, 3, 16, 1, 0, 0))).operation.As<format::PackWeights>(),
         "td_transpose_f32_f32");
}

}  // namespace
}  // namespace tandem

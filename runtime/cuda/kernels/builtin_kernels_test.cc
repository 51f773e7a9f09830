// The kernels' launches on the fake driver; their text with ptxas where it is installed.
#include "runtime/cuda/kernels/builtin_kernels.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "runtime/commands/gpu_finite_checks.h"
#include "runtime/commands/gpu_launch.h"
#include "runtime/cuda/testing/fake_builtin_kernels.h"
#include "runtime/cuda/testing/fake_driver.h"

namespace tandem {
namespace {

class BuiltinKernelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RegisterBuiltinKernels(fake);
    CUcontext context;
    api.cuDevicePrimaryCtxRetain(&context, 0);
    api.cuCtxSetCurrent(context);
    api.cuStreamCreate(&stream, 0);
    ASSERT_EQ(api.cuMemAlloc_v2(&memory, 4096), kCudaSuccess);
    std::memset(At<char>(0), 0, 4096);
    auto loaded = BuiltinKernels::Load(&api);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    kernels = *std::move(loaded);
  }
  void TearDown() override {
    fake.Drain();
    kernels.reset();
    api.cuMemFree_v2(memory);
    api.cuStreamDestroy_v2(stream);
    api.cuDevicePrimaryCtxRelease_v2(0);
    EXPECT_EQ(absl::StrJoin(fake.TakeViolations(), "; "), "");
  }
  // The fake's device memory is host memory.
  template <typename T>
  T* At(uint64_t offset) {
    return reinterpret_cast<T*>(memory + offset);
  }

  FakeDriver fake;
  const DriverApi& api = fake.api();
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  std::unique_ptr<BuiltinKernels> kernels;
};

TEST_F(BuiltinKernelsTest, FindsWhatIsNotFinite) {
  auto check = [&](DType dtype, uint64_t at, int64_t n) {
    *At<int32_t>(4000) = 0;
    EXPECT_TRUE(kernels->CheckFinite(dtype, memory + at, n, memory + 4000, stream).ok());
    fake.Drain();
    return *At<int32_t>(4000);
  };
  At<float>(0)[70] = std::numeric_limits<float>::max();
  EXPECT_EQ(check(DType::kFloat32, 0, 100), 0);
  At<float>(0)[99] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(check(DType::kFloat32, 0, 99), 0);
  EXPECT_EQ(check(DType::kFloat32, 0, 100), 1);
  At<double>(800)[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(check(DType::kFloat64, 800, 3), 0);
  EXPECT_EQ(check(DType::kFloat64, 800, 4), 1);
  At<uint16_t>(1600)[1] = 0xff80;
  EXPECT_EQ(check(DType::kBFloat16, 1600, 1), 0);
  EXPECT_EQ(check(DType::kBFloat16, 1600, 2), 1);
  EXPECT_EQ(check(DType::kInt32, 0, 100), 0);  // bits of an infinity, but integers
}

TEST_F(BuiltinKernelsTest, FindsWhatIsNotFiniteInManyArrays) {
  // 100 floats, 10 and 30 bfloat16 numbers behind them, 4 doubles; the tables from 3000 on.
  format::Program program;
  auto add = [&](DType dtype, uint64_t offset, uint64_t bytes, uint64_t row_bytes) {
    format::Buffer buffer;
    buffer.dtype = dtype, buffer.offset = offset, buffer.bytes = bytes, buffer.row_bytes = row_bytes;
    program.buffers.push_back(std::move(buffer));
  };
  add(DType::kFloat32, 0, 400, 0);
  add(DType::kBFloat16, 400, 20, 0);
  add(DType::kFloat64, 1600, 32, 0);
  add(DType::kBFloat16, 420, 60, 0);
  add(DType::kInt32, 1800, 40, 0);
  add(DType::kBFloat16, 600, 8, 8);  // grows with the batch
  format::Command check;
  check.inputs = {0, 1, 2, 3, 4, 5};
  const FiniteChecks checks = PlanFiniteChecks(program, check);
  ASSERT_EQ(checks.groups.size(), 1u);
  EXPECT_EQ(checks.groups[0].buffers, (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(checks.single, (std::vector<uint32_t>{0, 5, 2}));
  EXPECT_EQ(checks.launches(), 4);
  const std::vector<FiniteChunk> chunks =
      MakeFiniteChunks(program, checks.groups[0], [&](uint32_t b) { return memory + program.buffers[b].offset; });
  ASSERT_EQ(chunks.size(), 2u);
  std::memcpy(At<char>(3000), chunks.data(), chunks.size() * sizeof(FiniteChunk));
  auto check_chunks = [&] {
    *At<int32_t>(4000) = 0;
    EXPECT_TRUE(
        kernels
            ->CheckFiniteChunks(DType::kBFloat16, memory + 3000, 2, {{memory + 400, 80, false}}, memory + 4000, stream)
            .ok());
    fake.Drain();
    return *At<int32_t>(4000);
  };
  EXPECT_EQ(check_chunks(), 0);
  At<uint16_t>(400)[40] = 0x7f80;  // behind the arrays
  EXPECT_EQ(check_chunks(), 0);
  At<uint16_t>(400)[39] = 0xffc0;  // the last of the second
  EXPECT_EQ(check_chunks(), 1);
}

TEST_F(BuiltinKernelsTest, ALongArrayIsCutIntoChunks) {
  format::Program program;
  for (uint64_t elements : {kFiniteChunkElements, 2 * kFiniteChunkElements + 1}) {
    program.buffers.push_back(format::Buffer());
    program.buffers.back().dtype = DType::kFloat64;
    program.buffers.back().bytes = elements * 8;
  }
  format::Command check;
  check.inputs = {0, 1};
  const FiniteChecks checks = PlanFiniteChecks(program, check);
  ASSERT_EQ(checks.groups.size(), 1u);
  std::vector<std::pair<uint64_t, uint64_t>> got;
  for (const FiniteChunk& c : MakeFiniteChunks(program, checks.groups[0], [](uint32_t b) { return b * 1000000ul; })) {
    got.emplace_back(c.data, c.count);
  }
  const std::vector<std::pair<uint64_t, uint64_t>> want = {
      {0, 4096}, {1000000, 4096}, {1000000 + 4096 * 8, 4096}, {1000000 + 8192 * 8, 1}};
  EXPECT_EQ(got, want);
}

TEST_F(BuiltinKernelsTest, AGuardKeepsACopyBack) {
  for (uint64_t bytes : {3, 12, 16}) {
    std::memset(At<char>(0), 7, 64);
    std::memset(At<char>(512), 0, 64);
    *At<int32_t>(4000) = 1;
    EXPECT_TRUE(kernels->Copy(memory + 512, memory, bytes, memory + 4000, stream).ok());
    fake.Drain();
    EXPECT_EQ(At<char>(512)[0], 0);
    *At<int32_t>(4000) = 0;
    EXPECT_TRUE(kernels->Copy(memory + 512, memory, bytes, memory + 4000, stream).ok());
    fake.Drain();
    EXPECT_EQ(At<char>(512)[bytes - 1], 7);
    EXPECT_EQ(At<char>(512)[bytes], 0);
  }
}

TEST_F(BuiltinKernelsTest, AddsRowsByIndex) {
  BuiltinKernels::Scatter s;
  s.updates = memory;
  s.indices = memory + 1024;
  s.table = memory + 2048;
  s.index_dtype = DType::kInt64;
  s.count = 5, s.width = 3, s.rows = 4;
  const int64_t indices[] = {2, 0, 2, -1, 4};
  std::memcpy(At<char>(1024), indices, sizeof indices);
  for (int i = 0; i < 15; ++i) At<float>(0)[i] = 1 + i;
  std::memset(At<char>(2048), 0xff, 48);
  ASSERT_TRUE(kernels->ScatterAdd(s, 0, stream).ok());
  fake.Drain();
  const std::vector<float> want = {4, 5, 6, 0, 0, 0, 8, 10, 12, 0, 0, 0};
  EXPECT_EQ(std::vector<float>(At<float>(2048), At<float>(2048) + 12), want);
}

// More indices than are looked through: against a loop, for numbers around the sizes of sorted runs.
TEST_F(BuiltinKernelsTest, AddsRowsBySortedIndices) {
  for (int64_t count : {129, 256, 257, 511, 513, 2049}) {
    constexpr int64_t kWidth = 3, kTableRows = 7;
    const uint64_t workspace_bytes = GpuScatterWorkspaceBytes(count);
    CUdeviceptr big = 0;
    const uint64_t update_bytes = (count * kWidth * 4 + 255) / 256 * 256, index_bytes = (count * 8 + 255) / 256 * 256;
    ASSERT_EQ(api.cuMemAlloc_v2(&big, update_bytes + index_bytes + workspace_bytes), kCudaSuccess);
    BuiltinKernels::Scatter s;
    s.updates = big;
    s.indices = big + update_bytes;
    s.workspace = big + update_bytes + index_bytes;
    s.table = memory;
    s.index_dtype = DType::kInt64;
    s.count = count, s.width = kWidth, s.rows = kTableRows;
    std::vector<float> want(kTableRows * kWidth, 0);
    auto* updates = reinterpret_cast<float*>(s.updates);
    auto* indices = reinterpret_cast<int64_t*>(s.indices);
    for (int64_t p = 0; p < count; ++p) {
      indices[p] = (p * p + 3) % 9 - 1;
      for (int64_t c = 0; c < kWidth; ++c) {
        const float value = updates[p * kWidth + c] = 0.1f * static_cast<float>((p * 31 + c) % 101);
        if (indices[p] >= 0 && indices[p] < kTableRows) want[indices[p] * kWidth + c] += value;
      }
    }
    for (int32_t stopped : {1, 0}) {
      std::fill_n(At<float>(0), kTableRows * kWidth, -1.0f);
      *At<int32_t>(4000) = stopped;
      ASSERT_TRUE(kernels->ScatterAdd(s, memory + 4000, stream).ok());
      fake.Drain();
      const std::vector<float> got(At<float>(0), At<float>(0) + kTableRows * kWidth);
      EXPECT_EQ(got, stopped ? std::vector<float>(kTableRows * kWidth, -1.0f) : want) << count;
    }
    api.cuMemFree_v2(big);
  }
  BuiltinKernels::Scatter many;
  many.count = int64_t{1} << 24;
  many.width = many.rows = 1;
  EXPECT_EQ(kernels->ScatterAdd(many, 0, stream).code(), absl::StatusCode::kInvalidArgument);
}

TEST(BuiltinKernelsPtxTest, NeedsNothingFromOutside) {
  const std::string& text = BuiltinKernelsPtx();
  EXPECT_TRUE(absl::StrContains(text, ".target sm_75"));
  for (const char* part : {".extern", "atom.", "red.", ".local"}) EXPECT_FALSE(absl::StrContains(text, part)) << part;
}

TEST(BuiltinKernelsPtxTest, PtxasTakesIt) {
  std::string ptxas = "/usr/local/cuda/bin/ptxas";
  if (!std::ifstream(ptxas).good()) GTEST_SKIP() << "no ptxas at " << ptxas;
  const std::string file = absl::StrCat(::testing::TempDir(), "/builtin.ptx");
  std::ofstream(file) << BuiltinKernelsPtx();
  for (int sm : {75, 80, 90, 100, 120}) {
    const std::string log = file + ".log";
    const std::string command = absl::StrCat(ptxas, " -v -arch=sm_", sm, " ", file, " -o /dev/null > ", log, " 2>&1");
    std::ifstream in((std::system(command.c_str()), log));
    const std::string said((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    EXPECT_FALSE(absl::StrContains(said, "error")) << said;
    EXPECT_TRUE(absl::StrContains(said, "td_scatter_f64_s64")) << said;
    for (size_t at = 0; (at = said.find("spill stores", at)) != std::string::npos; ++at) {
      EXPECT_EQ(said.substr(at - 9, 9), " 0 bytes ") << said;
    }
  }
}

}  // namespace
}  // namespace tandem

// The structure of the code that is made for GPUs.
#include "passes/codegen/gpu/ptx.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "passes/codegen/gpu/test_kernels.h"
#include "passes/codegen/kernel_test_util.h"

namespace tandem {
namespace {

int Count(const std::string& text, const std::string& needle) {
  int n = 0;
  for (size_t at = text.find(needle); at != std::string::npos; at = text.find(needle, at + 1)) ++n;
  return n;
}

class PtxTest : public testing::TestWithParam<GpuTestCase> {};

TEST_P(PtxTest, NeedsNothingElse) {
  auto kernel = TestKernel::Create(GetParam().text, "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const CompiledGpuKernel& gpu = (*kernel)->gpu();
  ASSERT_EQ(gpu.ptx.size(), 2);
  for (const std::string& ptx : gpu.ptx) {
    EXPECT_EQ(Count(ptx, ".visible .entry"), 1);
    EXPECT_TRUE(absl::StrContains(ptx, absl::StrCat(".maxntid ", gpu.launch.block, ", 1, 1"))) << ptx;
    EXPECT_FALSE(absl::StrContains(ptx, ".version"));
    for (const char* bad : {".extern", ".local", ".func", "call", "__nv_"}) {
      EXPECT_FALSE(absl::StrContains(ptx, bad)) << bad << "\n" << ptx;
    }
    for (const std::string& fact : GetParam().has) EXPECT_TRUE(absl::StrContains(ptx, fact)) << fact << "\n" << ptx;
    for (const std::string& fact : GetParam().has_not)
      EXPECT_FALSE(absl::StrContains(ptx, fact)) << fact << "\n" << ptx;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, PtxTest, testing::ValuesIn(kGpuTestCases),
                         [](const auto& info) { return info.param.name; });

// The code is written once for all architectures where newer ones have nothing that it could use.
TEST_P(PtxTest, IsTheSameForEveryArchitectureUnlessItRounds) {
  auto kernel = TestKernel::Create(GetParam().text, "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  // The symbol depends on what is compiled for.
  auto text = [](const CompiledGpuKernel& compiled, int i) {
    return absl::StrReplaceAll(compiled.ptx[i], {{compiled.symbol, "k"}});
  };
  std::vector<std::string> alone;
  for (int arch : {75, 90}) {
    GpuCompileOptions options;
    options.archs = {arch};
    auto compiled = CompileGpuKernel((*kernel)->function(), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    alone.push_back(text(*compiled, 0));
  }
  GpuCompileOptions options;
  auto both = CompileGpuKernel((*kernel)->function(), options);
  ASSERT_TRUE(both.ok()) << both.status();
  if (absl::StrContains(GetParam().text, "bf16")) {
    EXPECT_EQ(Count(both->ptx[0], "cvt.rn.bf16"), 0);
    EXPECT_EQ(Count(both->ptx[1], "cvt.rn.bf16"), Count(alone[1], "cvt.rn.bf16"));
    return;
  }
  EXPECT_EQ(alone[0], alone[1]);
  EXPECT_EQ(text(*both, 0), alone[0]);
  EXPECT_EQ(text(*both, 1), alone[0]);
}

// One instruction where there is one; integer arithmetic before.
TEST(PtxBFloat16Test, RoundsInOneInstructionFromSm90On) {
  auto kernel = TestKernel::Create(R"(
    func.func private @k(%x: tensor<?x64xf32>) -> tensor<?x64xbf16> attributes {exec.kernel = #exec.kernel_kind<loop>} {
      %0 = td.cast %x : tensor<?x64xf32> -> tensor<?x64xbf16>
      return %0 : tensor<?x64xbf16>
    })",
                                   "gpu");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const std::vector<std::string>& ptx = (*kernel)->gpu().ptx;
  ASSERT_EQ(ptx.size(), 2);
  EXPECT_EQ(Count(ptx[0], "cvt.rn.bf16"), 0) << ptx[0];
  EXPECT_GT(Count(ptx[0], "setp.nan.f32"), 0) << ptx[0];
  EXPECT_GT(Count(ptx[1], "cvt.rn.bf16"), 0) << ptx[1];
  EXPECT_EQ(Count(ptx[1], "setp.nan.f32"), 0) << ptx[1];
}

TEST(PtxArchTest, OthersThanTheKnownAreAnError) {
  EXPECT_TRUE(CheckPtxArch(75).ok());
  EXPECT_TRUE(CheckPtxArch(80).ok());
  EXPECT_TRUE(CheckPtxArch(90).ok());
  for (int arch : {0, 70, 86, 100, 999}) {
    EXPECT_EQ(CheckPtxArch(arch).code(), absl::StatusCode::kInvalidArgument) << arch;
  }
}

// LLVM keeps what it knows about functions under their addresses, which the next module may get. Every other module
// has code of its own for each architecture, written from copies.
TEST(PtxAnnotationTest, KernelsLearnNothingFromFormerOnes) {
  for (int i = 0; i < 300; ++i) {
    llvm::LLVMContext context;
    llvm::SMDiagnostic problem;
    std::string text = "define void @finish(ptr %p) { store i32 1, ptr %p ret void }\n";
    text = absl::StrCat(i % 3 == 0 ? text : "", "define void @main(ptr %p) { store i32 ", i, ", ptr %p ",
                        i % 2 ? "store bfloat 0xR3F80, ptr %p " : "", "ret void }\n", i % 3 == 1 ? text : "");
    std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
    ASSERT_NE(module, nullptr) << problem.getMessage().str();
    const int block = 32 << i % 4;
    std::vector<PtxEntry> entries = {{"main", block, 0}};
    if (i % 3 != 2) entries.push_back({"finish", 2 * block, 0});
    absl::StatusOr<std::vector<std::string>> ptx = CompileToPtx(*module, entries, 0, {75, 90});
    ASSERT_TRUE(ptx.ok()) << i << ": " << ptx.status();
    for (const std::string& code : *ptx) {
      ASSERT_EQ(Count(code, ".visible .entry"), static_cast<int>(entries.size())) << i << code;
      for (const PtxEntry& entry : entries) {
        ASSERT_EQ(Count(code, absl::StrCat(".maxntid ", entry.block, ", 1, 1")), 1) << i << code;
      }
    }
  }
}

TEST(PtxJoinTest, PutsOneHeaderBeforeAll) {
  EXPECT_EQ(JoinPtx(75, {"a\n", "b\n"}), ".version 7.5\n.target sm_75\n.address_size 64\na\nb\n");
}

}  // namespace
}  // namespace tandem

// Kernels that are compiled for a sanitizer, loaded as programs load them. The tests of the address sanitizer run in a
// process with its runtime: this program once more, with the runtime preloaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"
#include "passes/codegen/optimize.h"
#include "runtime/cpu/kernels/object_loader.h"
#include "runtime/executable/executable.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// y[i] = x[i] + 1 for the rows [begin, end).
constexpr char kAddOne[] = R"(
define void @add_one(ptr %args, i64 %begin, i64 %end, i64 %row_offset) {
entry:
  %x = load ptr, ptr %args
  %second = getelementptr ptr, ptr %args, i64 1
  %y = load ptr, ptr %second
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %from
  %sum = fadd float %v, 1.0
  %to = getelementptr float, ptr %y, i64 %i
  store float %sum, ptr %to
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
})";

absl::StatusOr<std::shared_ptr<const Executable>> Program(KernelSanitizer sanitizer) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(kAddOne, problem, context);
  if (module == nullptr) return absl::InternalError(problem.getMessage().str());
  auto compiler = ObjectCompiler::Create(*HostCpuTarget(), sanitizer);
  if (!compiler.ok()) return compiler.status();
  absl::StatusOr<OptimizedObject> object = (*compiler)->Compile(*module);
  if (!object.ok()) return object.status();
  ExecutableBuilder b(1, 1, 8, 8);
  const int add_one = b.Kernel("add_one", 0, format::Domain::kRows);
  const int x = b.Input("x", {kBatch}), y = b.Batch("y", {kBatch});
  b.Map();
  b.Launch("add_one", add_one, {x}, {y});
  b.Output("y", y);
  return Executable::Parse(BuildExecutable(b.Take(), {{format::SegmentKind::kElfObject, "kernels", object->elf}}));
}

void RunKernel(const LoadedKernels& kernels, std::vector<float>& x, std::vector<float>& y, int64_t rows) {
  void* args[] = {x.data(), y.data()};
  kernels.function(0)(args, 0, rows, 0);
}

TEST(InstrumentedKernels, NeedTheRuntimeOfTheSanitizer) {
  if (ProcessSanitizer() != KernelSanitizer::kNone) GTEST_SKIP() << "this process has one";
  for (const auto& [sanitizer, config] :
       {std::pair(KernelSanitizer::kAddress, "--config=asan"), std::pair(KernelSanitizer::kThread, "--config=tsan")}) {
    auto program = Program(sanitizer);
    ASSERT_TRUE(program.ok()) << program.status();
    const absl::Status status = LoadedKernels::Load(**program).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(config));
  }
}

TEST(InstrumentedKernels, NoneWithoutASanitizer) {
  EXPECT_FALSE(ParseKernelSanitizer("memory").ok());
  for (KernelSanitizer s : {KernelSanitizer::kNone, KernelSanitizer::kAddress, KernelSanitizer::kThread}) {
    EXPECT_EQ(ParseKernelSanitizer(Name(s)).value(), s);
  }
  auto program = Program(KernelSanitizer::kNone);
  ASSERT_TRUE(program.ok()) << program.status();
  auto kernels = LoadedKernels::Load(**program);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, y(8);
  RunKernel(**kernels, x, y, 8);
  EXPECT_EQ(y, (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9}));
}

// Runs in the child of the next test, and in programs built with --config=asan.
TEST(InstrumentedKernelsDeathTest, AStoreBeyondABufferIsReported) {
  if (ProcessSanitizer() != KernelSanitizer::kAddress) GTEST_SKIP() << "this process has no address sanitizer";
  auto program = Program(ProcessSanitizer());
  ASSERT_TRUE(program.ok()) << program.status();
  auto kernels = LoadedKernels::Load(**program);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, y(8), large(64), small(8);
  RunKernel(**kernels, x, y, 8);
  EXPECT_EQ(y, (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_DEATH(RunKernel(**kernels, large, small, 9), "heap-buffer-overflow(.|\n)*WRITE");
  EXPECT_DEATH(RunKernel(**kernels, small, large, 40), "heap-buffer-overflow(.|\n)*READ");
}

// What a shell command prints; its exit code in `code`.
std::string Output(const std::string& command, int* code) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 512> buffer;
  while (pipe != nullptr && std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  const int state = pipe != nullptr ? pclose(pipe) : -1;
  *code = WIFEXITED(state) ? WEXITSTATUS(state) : 255;
  return text;
}

TEST(InstrumentedKernels, AreWatchedWithThePreloadedRuntime) {
  if (ProcessSanitizer() != KernelSanitizer::kNone) GTEST_SKIP() << "this process has a sanitizer already";
  int code = 0;
  const std::string runtime(absl::StripAsciiWhitespace(Output("g++ -print-file-name=libasan.so", &code)));
  ASSERT_EQ(code, 0);
  std::array<char, 4096> program{};
  ASSERT_GT(readlink("/proc/self/exe", program.data(), program.size() - 1), 0);
  const std::string text =
      Output(absl::StrCat("LD_PRELOAD=", runtime, " ASAN_OPTIONS=detect_leaks=0 GTEST_OUTPUT= '", program.data(),
                          "' --gtest_filter='InstrumentedKernelsDeathTest.*' 2>&1"),
             &code);
  EXPECT_EQ(code, 0) << text;
  EXPECT_THAT(text, AllOf(HasSubstr("[       OK ] InstrumentedKernelsDeathTest"), HasSubstr("[  PASSED  ] 1 test")));
}

}  // namespace
}  // namespace tandem

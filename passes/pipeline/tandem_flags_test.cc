#include "passes/pipeline/tandem_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/env.h"
#include "base/exit_code.h"
#include "graph/ops.h"
#include "passes/analysis/machine_model.h"
#include "passes/compile/compile.h"
#include "runtime/format/index.h"

namespace tandem {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TandemFlags, ReadsEveryOption) {
  CompileOptions options;
  options.disabled_passes = {"cse"};
  ASSERT_TRUE(ApplyTandemFlags(" --disable-pass=td-schedule --print-ir-before=cse\t--print-ir-after=td-form-fusions "
                               "--disable-pass=td-group-updates --kernel-cache=/tmp/k --timing --guard-buffers "
                               "--sanitize=thread --crash-reproducer=crash.mlir\n",
                               &options)
                  .ok());
  EXPECT_EQ(options.kernel_cache_dir, "/tmp/k");
  EXPECT_TRUE(options.print_times);
  EXPECT_TRUE(options.guard_buffers);
  EXPECT_EQ(options.sanitize, "thread");
  EXPECT_EQ(options.crash_reproducer, "crash.mlir");
  EXPECT_THAT(options.disabled_passes, ElementsAre("cse", "td-schedule", "td-group-updates"));
  EXPECT_THAT(options.print_before, ElementsAre("cse"));
  EXPECT_THAT(options.print_after, ElementsAre("td-form-fusions"));
  EXPECT_TRUE(ApplyTandemFlags("", &options).ok());
  EXPECT_EQ(options.machine_model, "");
  ASSERT_TRUE(ApplyTandemFlags("--machine-model=a.txt --machine-model=b.txt", &options).ok());
  EXPECT_EQ(options.machine_model, "b.txt");
}

TEST(TandemFlags, NamesAMistake) {
  for (const char* text : {"--compile-to=fusion", "td-schedule", "--disable-passes=td-schedule", "--disable-pass",
                           "--machine-model", "--timing=1"}) {
    CompileOptions options;
    const absl::Status status = ApplyTandemFlags(std::string("--print-ir-after=cse ") + text, &options);
    EXPECT_EQ(ExitCodeFor(status), kExitUsage) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
}

class CompileWithFlagsTest : public ::testing::Test {
 protected:
  ~CompileWithFlagsTest() override { unsetenv("TANDEM_FLAGS"); }

  absl::StatusOr<std::shared_ptr<const Executable>> Compile(const char* flags) {
    setenv("TANDEM_FLAGS", flags, 1);
    GraphBuilder graph;
    Tensor x = graph.Input("x", DType::kFloat32, {kBatch, 4});
    graph.Output("y", Relu(x) + 1.0);
    CompileOptions options;
    options.cache_dir =
        ::testing::TempDir() + "/" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/compiled";
    return CompileGraph(graph, "predict", options);
  }
};

TEST_F(CompileWithFlagsTest, PrintsEvenWhatIsInTheCache) {
  auto quiet = Compile("");
  ASSERT_TRUE(quiet.ok()) << quiet.status();
  ::testing::internal::CaptureStderr();
  auto printed = Compile("--print-ir-after=td-outline-kernels");
  const std::string text = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(printed.ok()) << printed.status();
  EXPECT_THAT(text, HasSubstr("// IR after td-outline-kernels"));
  EXPECT_THAT(text, HasSubstr("exec.launch"));
  EXPECT_THAT(text, HasSubstr("tandem_flags_test.cc"));
  EXPECT_EQ((*quiet)->index().key, (*printed)->index().key);
  const int64_t compiled = CompileCount();
  ASSERT_TRUE(Compile("").ok());
  EXPECT_EQ(CompileCount(), compiled);
}

TEST_F(CompileWithFlagsTest, ADisabledPassIsAnotherExecutable) {
  auto whole = Compile("");
  auto without = Compile("--disable-pass=td-schedule");
  ASSERT_TRUE(whole.ok() && without.ok()) << whole.status() << without.status();
  EXPECT_NE((*whole)->index().key, (*without)->index().key);
}

TEST_F(CompileWithFlagsTest, AMachineModelIsAnotherExecutable) {
  auto whole = Compile("");
  ASSERT_TRUE(whole.ok()) << whole.status();
  MachineModel slow = *BuiltInMachineModel("generic-avx2");
  slow.library_f32 /= 2;
  const std::string path = ::testing::TempDir() + "/slow.txt", bad = ::testing::TempDir() + "/bad.txt";
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(path, MachineModelText(slow)).ok());
  auto other = Compile(("--machine-model=" + path).c_str());
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE((*whole)->index().key, (*other)->index().key);

  ASSERT_TRUE(Env::Default()->WriteFileAtomically(bad, MachineModelText(slow) + "cores = 2\n").ok());
  const auto mistake = Compile(("--machine-model=" + bad).c_str());
  EXPECT_EQ(ExitCodeFor(mistake.status()), kExitUsage);
  EXPECT_THAT(std::string(mistake.status().message()), HasSubstr(bad + ":21: unknown name \"cores\""));
  EXPECT_EQ(Compile("--machine-model=no/such/file").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(CompileWithFlagsTest, AFailedPassLeavesAReproducer) {
  const std::string path = ::testing::TempDir() + "/crash.mlir";
  const auto failed = Compile(("--disable-pass=td-lift-variables --crash-reproducer=" + path).c_str());
  EXPECT_EQ(ExitCodeFor(failed.status()), kExitCompileError) << failed.status();
  EXPECT_THAT(std::string(failed.status().message()),
              AllOf(HasSubstr("compilation failed in phase input, pass td-verify-input: "), HasSubstr(path)));
  const absl::StatusOr<std::string> reproducer = Env::Default()->ReadFile(path);
  ASSERT_TRUE(reproducer.ok()) << reproducer.status();
  EXPECT_THAT(*reproducer, AllOf(HasSubstr("td.relu"), HasSubstr("builtin.module(td-verify-input)")));

  const auto unwritable = Compile("--disable-pass=td-lift-variables --crash-reproducer=/no/such/folder/crash.mlir");
  EXPECT_THAT(std::string(unwritable.status().message()), HasSubstr("failed to create output stream"));
}

TEST_F(CompileWithFlagsTest, MistakesAreUsageErrors) {
  ASSERT_TRUE(Compile("").ok());
  const auto option = Compile("--verbose");
  EXPECT_EQ(ExitCodeFor(option.status()), kExitUsage);
  EXPECT_THAT(std::string(option.status().message()), HasSubstr("\"--verbose\""));
  for (const char* flags : {"--disable-pass=td-nothing", "--print-ir-after=td-nothing"}) {
    const auto pass = Compile(flags);
    EXPECT_EQ(ExitCodeFor(pass.status()), kExitUsage) << pass.status();
    EXPECT_THAT(std::string(pass.status().message()), HasSubstr("unknown pass \"td-nothing\"; passes are: "));
  }
  const auto needed = Compile("--disable-pass=td-insert-copies");
  EXPECT_EQ(ExitCodeFor(needed.status()), kExitUsage) << needed.status();
  EXPECT_THAT(std::string(needed.status().message()), HasSubstr("without this pass programs compute wrong values"));
}

}  // namespace
}  // namespace tandem

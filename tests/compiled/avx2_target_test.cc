// Programs for CPUs with AVX2 only, on any machine: no choice and no library call of theirs is one of AVX-512, so that
// they compute the bits that they compute on the machine that they are for.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "frontends/layers.h"
#include "frontends/losses.h"
#include "frontends/optimizers.h"
#include "gmock/gmock.h"
#include "graph/ops.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"
#include "runtime/format/index.h"
#include "tests/compiled/harness.h"

namespace tandem::compiled {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRows = 32;

// With a product that the runtime has a loop of its own for on CPUs with AVX-512, and a convolution that has one.
void Build(GraphBuilder& g) {
  Tensor x = g.Input("x", DType::kFloat32, {kBatch, 10, 10, 32});
  Tensor y = layers::Conv2D(x, {.filters = 64, .kernel_size = 3, .activation = Relu});
  y = layers::Dense(layers::Flatten(y), {.units = 64, .activation = Relu});
  y = layers::Dense(y, {.units = 1024, .activation = Relu});
  y = layers::Dense(y, {.units = 1024, .activation = Relu});
  Tensor scores = layers::Dense(y, {.units = 10});
  Tensor loss = losses::SparseSoftmaxCrossEntropy(g.Input("label", DType::kInt32, {kBatch}), scores);
  g.Output("loss", loss);
  optimizers::Adam({.learning_rate = 0.01}).Minimize(loss);
}

absl::StatusOr<Program> PrepareAvx2() { return Prepare(Build, {.batch = kRows, .target = "cpu:x86-64-v3"}); }

TEST(Avx2Target, HasNoLibraryCallOfAvx512) {
  absl::StatusOr<Program> program = PrepareAvx2();
  ASSERT_TRUE(program.ok()) << program.status();
  const format::Index& index = program->executable->index();
  EXPECT_THAT(index.target, Not(HasSubstr("avx512")));
  EXPECT_EQ(index.instructions, format::InstructionSet::kAvx2);
  int calls = 0;
  for (const auto& section : index.programs[0].sections) {
    for (const auto& command : section.commands) {
      const format::LibraryCall* call = command.body.As<format::LibraryCall>();
      if (call == nullptr) continue;
      ++calls;
      EXPECT_THAT(call->implementation, Not(HasSubstr("avx512"))) << command.name;
      EXPECT_THAT(call->implementation, Not(HasSubstr("unpacked_gemm"))) << command.name;
      EXPECT_THAT(call->implementation, Not(HasSubstr("direct_filter_grad"))) << command.name;
    }
  }
  EXPECT_GT(calls, 5);
}

TEST(Avx2Target, SharesNoProcessWithAnother) {
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "this machine has AVX2 only";
  absl::StatusOr<Program> program = PrepareAvx2();
  ASSERT_TRUE(program.ok()) << program.status();
  const absl::Status other = Prepare(Build, {.batch = kRows}).status();
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.message(),
              HasSubstr("cannot be compiled or loaded in a process that has one for AVX2: oneDNN computes with one set "
                        "of instructions. Use a process for each target"));
}

// Prints a fingerprint of all variables after some steps; for the test below.
TEST(Avx2Target, Trains) {
  absl::StatusOr<Program> program = PrepareAvx2();
  ASSERT_TRUE(program.ok()) << program.status();
  for (int step = 0; step < 5; ++step) {
    const Options options{.batch = kRows};
    const TensorMap batch = RandomInputs(*program->executable, kRows, options, step);
    ASSERT_TRUE(program->Run(Deal(*program, batch, {kRows}, step)).ok());
  }
  uint64_t fingerprint = 0;
  for (const auto& [name, value] : program->Values()) {
    const absl::string_view bytes(static_cast<const char*>(value.raw()), value.byte_size());
    fingerprint = Fingerprint64(absl::StrCat(name, bytes), fingerprint);
  }
  std::printf("variables: %016llx\n", static_cast<unsigned long long>(fingerprint));
}

std::string VariablesOfAProcess(const std::string& environment) {
  const std::string command =
      absl::StrCat(environment, " exec /proc/", getpid(), "/exe --gtest_filter=Avx2Target.Trains");
  FILE* output = popen(command.c_str(), "r");
  char line[1000];
  std::string variables;
  while (std::fgets(line, sizeof(line), output) != nullptr) {
    if (std::string(line).starts_with("variables: ")) variables = line;
  }
  EXPECT_EQ(pclose(output), 0);
  return variables;
}

TEST(Avx2Target, ComputesWhatOneDnnComputesWithoutAvx512) {
  const std::string bits = VariablesOfAProcess("");
  ASSERT_FALSE(bits.empty());
  EXPECT_EQ(VariablesOfAProcess("ONEDNN_MAX_CPU_ISA=AVX2"), bits);
}

}  // namespace
}  // namespace tandem::compiled

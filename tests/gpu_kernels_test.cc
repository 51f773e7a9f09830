// ptxas accepts every kernel of the models that samples and benchmarks train, for every GPU that an image is for, and
// needs no local memory for any. Where it is not installed these tests are skipped, and say so.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "benchmarks/models/model.h"
#include "gtest/gtest.h"
#include "passes/codegen/gpu/ptxas.h"
#include "passes/compile/compile.h"
#include "runtime/format/index.h"

// For the leak sanitizer: cuDNN and cuBLASLt keep what they made until the process ends.
extern "C" int __lsan_is_turned_off();  // NOLINT(bugprone-reserved-identifier)
extern "C" int __lsan_is_turned_off() { return 1; }

namespace tandem {
namespace {

struct Case {
  std::string model;
  int64_t batch;
  Precision precision = Precision::kFloat32;
};

class GpuKernelsTest : public testing::TestWithParam<Case> {};

TEST_P(GpuKernelsTest, NeedNoLocalMemory) {
  const std::string ptxas = FindPtxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed (looked in $CUDA_HOME, $PATH and /usr/local/cuda)";
  auto model = benchmarks::MakeModel(GetParam().model, {});
  ASSERT_TRUE(model.ok()) << model.status();
  GraphBuilder graph("test");
  benchmarks::FlopCounter flops;
  model->build(graph, flops);
  CompileOptions options;
  options.devices = {"gpu:0"};
  options.target = "cuda:sm_90";
  options.batch_per_replica = GetParam().batch;
  options.precision = GetParam().precision;
  options.threads = 2;
  auto executable = CompileGraph(graph, "train", options);
  ASSERT_TRUE(executable.ok()) << executable.status();
  const format::Index& index = (*executable)->index();
  ASSERT_EQ(index.images.size(), 2);
  for (const auto& image : index.images) {
    const std::string ptx((*executable)->segment(static_cast<int>(image.segment)));
    // Atomic operations count blocks and add nothing up: the order of additions would change from step to step.
    const std::string without_counts = absl::StrReplaceAll(ptx, {{"atom.global.inc.u32", ""}});
    for (const char* bad : {".extern", ".local", ".func", "atom.", "red.global"}) {
      EXPECT_FALSE(absl::StrContains(without_counts, bad)) << bad;
    }
    for (const std::string& gpu : GpusOfImage(static_cast<int>(image.arch))) {
      auto report = RunPtxas(ptxas, ptx, gpu, testing::TempDir());
      ASSERT_TRUE(report.ok()) << report.status();
      EXPECT_GE(report->size(), index.kernels.size());
      for (const PtxasKernel& kernel : *report) {
        std::string name = kernel.symbol;
        for (const auto& k : index.kernels) {
          if (absl::StartsWith(kernel.symbol, k.symbol)) name = k.name + " (" + k.skeleton + ")";
        }
        EXPECT_EQ(kernel.stack_bytes, 0) << gpu << " " << name;
        EXPECT_EQ(kernel.spill_bytes, 0) << gpu << " " << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GpuKernelsTest,
                         testing::Values(Case{"s0", 512}, Case{"s0", 512, Precision::kMixedBfloat16}, Case{"s2", 512},
                                         Case{"s4", 64}, Case{"mlp", 512}, Case{"transformer", 64},
                                         Case{"transformer", 64, Precision::kMixedBfloat16}, Case{"resnet50", 256}),
                         [](const auto& info) {
                           return info.param.model +
                                  (info.param.precision == Precision::kMixedBfloat16 ? "_bfloat16" : "");
                         });

}  // namespace
}  // namespace tandem

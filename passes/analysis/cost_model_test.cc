#include "passes/analysis/cost_model.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using testing::HasSubstr;

MachineModel Machine() {
  MachineModel m;
  m.library_f32 = 100e9;
  m.library_bf16 = 200e9;
  m.library_tf32 = 150e9;
  m.vector_f32 = 50e9, m.vector_f64 = 25e9, m.vector_bf16 = 90e9;
  m.transcendentals = 1e9;
  m.l1_bytes = 1000, m.l2_bytes = 10000, m.l3_bytes = 100000;
  m.l1_bandwidth = 80e9, m.l2_bandwidth = 40e9, m.l3_bandwidth = 20e9, m.dram_bandwidth = 10e9;
  m.l3_bandwidth_machine = 60e9, m.dram_bandwidth_machine = 15e9;
  m.library_call_overhead = 1e-6, m.kernel_call_overhead = 1e-8, m.section_overhead = 2e-6,
  m.direct_filter_grad_width = 13;
  return m;
}

TEST(MachineModelTest, BuiltInModelsParseAndPrintBack) {
  ASSERT_THAT(BuiltInMachineModelNames(),
              testing::ElementsAre("a10", "a100", "b200", "b300", "generic-avx2", "generic-avx512", "h100", "h200",
                                   "l40s", "orin", "rtx5090", "sapphirerapids", "t4", "zen4"));
  for (const std::string& name : BuiltInMachineModelNames()) {
    absl::StatusOr<MachineModel> model = BuiltInMachineModel(name);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->name, name);
    EXPECT_GT(model->library_f32, 1e9);
    EXPECT_LT(model->l1_bytes, model->l2_bytes);
    EXPECT_LT(model->l2_bytes, model->l3_bytes);
    EXPECT_LE(model->dram_bandwidth, model->dram_bandwidth_machine);
    absl::StatusOr<MachineModel> again = ParseMachineModel(name + ".txt", MachineModelText(*model));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(MachineModelText(*again), MachineModelText(*model));
    EXPECT_DOUBLE_EQ(again->library_call_overhead, model->library_call_overhead);
  }
  EXPECT_THAT(std::string(BuiltInMachineModel("pdp-11").status().message()),
              HasSubstr("generic-avx512, h100, h200, l40s, orin, rtx5090, sapphirerapids, t4, zen4"));
}

// Models of before have no rate of TensorFloat-32, and nothing but GPUs has one of its own.
TEST(MachineModelTest, TensorFloat32MayBeLeftOut) {
  EXPECT_EQ(BuiltInMachineModel("h100")->library_tf32, 494e12);
  EXPECT_EQ(BuiltInMachineModel("zen4")->library_tf32, BuiltInMachineModel("zen4")->library_f32);
  EXPECT_EQ(BuiltInMachineModel("a100")->vector_f64, 9700e9);
  EXPECT_EQ(BuiltInMachineModel("zen4")->vector_f64, BuiltInMachineModel("zen4")->vector_f32 / 2);
}

TEST(MachineModelTest, ACpuNameSelectsAModel) {
  EXPECT_EQ(MachineModelNameFor("znver4", 512), "zen4");
  EXPECT_EQ(MachineModelNameFor("rocketlake", 512), "generic-avx512");
  EXPECT_EQ(MachineModelNameFor("rocketlake", 512, /*has_matrix_unit=*/true), "sapphirerapids");
  EXPECT_EQ(MachineModelNameFor("x86-64-v3", 256), "generic-avx2");
}

TEST(MachineModelTest, ErrorsNameFileAndLine) {
  const std::string good = MachineModelText(Machine());
  auto error = [&](const std::string& from, const std::string& to) {
    absl::StatusOr<MachineModel> model = ParseMachineModel("dir/mine.txt", absl::StrReplaceAll(good, {{from, to}}));
    EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument) << to;
    return std::string(model.status().message());
  };
  EXPECT_THAT(error("library_f32 = 100", "library_f32 = fast"),
              HasSubstr("dir/mine.txt:1: library_f32 must be a positive number, not \"fast\""));
  EXPECT_THAT(error("library_bf16 = 200", "library_bf16 = -1"), HasSubstr("dir/mine.txt:2: "));
  EXPECT_THAT(error("library_bf16 = 200", "library_bf16 = nan"), HasSubstr("dir/mine.txt:2: "));
  EXPECT_THAT(error("vector_f32 = 50  # GFLOP/s", "vector_f32 = 50  # MFLOP/s"),
              HasSubstr("dir/mine.txt:4: vector_f32 is in GFLOP/s: write `vector_f32 = 50  # GFLOP/s`"));
  EXPECT_THAT(error("vector_f32 = 50  # GFLOP/s", "vector_f32 = 50"), HasSubstr("is in GFLOP/s"));
  EXPECT_THAT(error("library_bf16 = 200", "library_f32 = 200"), HasSubstr("dir/mine.txt:2: library_f32 is set twice"));
  EXPECT_THAT(error("library_bf16 = 200", "library_int8 = 2"), HasSubstr("unknown name \"library_int8\"; names are "));
  EXPECT_THAT(error("vector_f32 = 50", "vector_f32 50"), HasSubstr("dir/mine.txt:4: expected `name = value"));
  EXPECT_THAT(error("section_overhead", "# section_overhead"), HasSubstr("section_overhead is missing"));
}

TEST(CostModelTest, TheSmallestLevelThatHoldsTheWorkingSetGivesTheBandwidth) {
  const MachineModel m = Machine();
  EXPECT_EQ(Bandwidth(m, 1000), 80e9);
  EXPECT_EQ(Bandwidth(m, 1001), 40e9);
  EXPECT_EQ(Bandwidth(m, 50000), 20e9);
  EXPECT_EQ(Bandwidth(m, 50000, 2), 20e9);
  EXPECT_EQ(Bandwidth(m, 50000, 3), 5e9);   // together they leave the shared cache
  EXPECT_EQ(Bandwidth(m, 20000, 4), 15e9);  // a quarter of the machine's
  EXPECT_EQ(Bandwidth(m, 1000000), 10e9);
  EXPECT_EQ(Bandwidth(m, 1000000, 2), 7.5e9);
}

TEST(CostModelTest, TimeIsTheLargerOfComputeAndMemoryPlusOverhead) {
  const MachineModel m = Machine();
  Cost c = CostOf(m, {.library_flops = 1e6, .bytes = 5000, .library_calls = 1});
  EXPECT_DOUBLE_EQ(c.compute_seconds, 1e-5);
  EXPECT_DOUBLE_EQ(c.memory_seconds, 5000 / 40e9);
  EXPECT_DOUBLE_EQ(c.seconds, 1.1e-5);
  EXPECT_EQ(c.bound, Bound::kCompute);

  c = CostOf(m, {.vector_flops = 1000, .bytes = 8e6, .kernel_calls = 1});
  EXPECT_DOUBLE_EQ(c.seconds, 8e6 / 10e9 + 1e-8);
  EXPECT_EQ(c.bound, Bound::kDram);

  c = CostOf(m, {.bytes = 8e6, .working_set = 9000});
  EXPECT_DOUBLE_EQ(c.seconds, 8e6 / 40e9);
  EXPECT_EQ(c.bound, Bound::kL2);

  c = CostOf(m, {.library_bf16_flops = 2000, .transcendentals = 10, .library_calls = 1});
  EXPECT_DOUBLE_EQ(c.compute_seconds, 2e-8);
  EXPECT_EQ(c.bound, Bound::kOverhead);
  EXPECT_STREQ(BoundName(c.bound), "overhead");
  EXPECT_DOUBLE_EQ(CostOf(m, {.library_tf32_flops = 3000}).compute_seconds, 2e-8);
  EXPECT_EQ(CostOf(m, {}).seconds, 0);
}

TEST(CostModelTest, WorkAddsUp) {
  Work w = {.library_flops = 1, .bytes = 10, .working_set = 7, .library_calls = 1};
  w += {.library_flops = 2, .vector_flops = 5, .bytes = 20, .working_set = 3, .kernel_calls = 4};
  EXPECT_EQ(w.library_flops, 3);
  EXPECT_EQ(w.vector_flops, 5);
  EXPECT_EQ(w.bytes, 30);
  EXPECT_EQ(w.working_set, 7);
  EXPECT_EQ(w.library_calls, 1);
  EXPECT_EQ(w.kernel_calls, 4);
}

}  // namespace
}  // namespace tandem

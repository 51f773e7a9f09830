#include "tools/calibrate/measure.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tools/calibrate/loops.h"

namespace tandem {
namespace {

TEST(MeasureTest, GivesAModelThatReadsBack) {
  absl::StatusOr<MachineModel> model = MeasureMachine(2, 0.3);
  ASSERT_TRUE(model.ok()) << model.status();
  absl::StatusOr<MachineModel> again = ParseMachineModel("measured.txt", MachineModelText(*model));
  ASSERT_TRUE(again.ok()) << again.status();  // so every figure is a positive number
  EXPECT_EQ(again->name, "measured");
  EXPECT_GE(model->dram_bandwidth_machine, model->dram_bandwidth);
}

TEST(LoopsTest, ComputeWhatTheyAreNamedAfter) {
  const std::vector<float> x = {-20, -1.5, -0.1, 0, 0.3, 1, 7, 60};
  std::vector<float> y(x.size());
  Exp(x.data(), y.data(), x.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i] / std::exp(static_cast<double>(x[i])), 1, 1e-5) << x[i];
  y.assign(x.size(), 1);
  AddScaled(x.data(), y.data(), 2, x.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 1 + 2 * x[i]);
  const float one = 1;
  Polynomial(&one, y.data(), 1);
  EXPECT_EQ(y[0], 0.5f + 16 * 0.25f);
}

}  // namespace
}  // namespace tandem

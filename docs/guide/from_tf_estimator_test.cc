// Compiles and runs the programs of from_tf_estimator.md.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "estimator/test_models.h"
#include "gtest/gtest.h"
#include "tandem/base/env.h"
#include "tandem/base/status_macros.h"
#include "tandem/data/dataset.h"
#include "tandem/data/fashion_mnist.h"
#include "tandem/data/files/example.h"
#include "tandem/data/files/record_writer.h"
#include "tandem/estimator/early_stopping.h"
#include "tandem/estimator/estimator.h"
#include "tandem/estimator/exporter.h"
#include "tandem/estimator/train_and_evaluate.h"
#include "tandem/frontends/activations.h"
#include "tandem/frontends/layers.h"
#include "tandem/frontends/losses.h"
#include "tandem/frontends/metrics.h"
#include "tandem/frontends/optimizers.h"
#include "tandem/frontends/schedules.h"
#include "tandem/frontends/summary.h"
#include "tandem/graph/ops.h"

namespace tandem {
namespace {

#include "docs/guide/from_tf_estimator_test_blocks.inc"

TEST(FromTfEstimatorPage, ALine) {
  testing::internal::CaptureStdout();
  const absl::Status status = FitLine(test::ModelDir());
  const std::string printed = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(status.ok()) << status;
  float kernel = 0, bias = 0;
  ASSERT_EQ(std::sscanf(printed.substr(printed.find("y = ")).c_str(), "y = %f x + %f", &kernel, &bias), 2) << printed;
  EXPECT_NEAR(kernel, 10, 0.5);
  EXPECT_NEAR(bias, 5, 0.5);
}

// Pictures whose rows above the label's are white.
LabelledImages Bars(int64_t n) {
  LabelledImages bars{HostTensor::Zeros(DType::kUInt8, {n, 28, 28}), HostTensor::Zeros(DType::kUInt8, {n})};
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t label = static_cast<uint8_t>(i % 10);
    bars.labels.data<uint8_t>()[i] = label;
    std::fill_n(bars.images.data<uint8_t>() + i * 28 * 28, 28 * 2 * (label + 1), 255);
  }
  return bars;
}

TEST(FromTfEstimatorPage, AConvnet) {
  const std::string dir = test::ModelDir();
  testing::internal::CaptureStdout();
  const absl::Status status = TrainFashion({.train = Bars(640), .test = Bars(100)}, dir, 60);
  const std::string accuracy = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_GT(std::stod(accuracy), 0.8);
  const auto exports = Env::Default()->ListDir(dir + "/export/best");
  ASSERT_TRUE(exports.ok()) << exports.status();
  EXPECT_FALSE(exports->empty());
}

TEST(FromTfEstimatorPage, Records) {
  const std::string dir = test::ModelDir();
  for (const std::string file : {"/train-0", "/train-1"}) {
    const auto writer = RecordWriter::Create(dir + file);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (int i = 0; i < 300; ++i) {
      std::vector<float> x;
      for (int k = 0; k < 8; ++k) x.push_back(static_cast<float>((i * (k + 3)) % 7) / 7);
      const std::string example = ExampleBuilder().Float("x", x).Float("label", x[0] - x[5]).Serialize();
      ASSERT_EQ((*writer)->Write(example), absl::OkStatus());
    }
    ASSERT_EQ((*writer)->Close(), absl::OkStatus());
  }
  const absl::Status status = TrainOnRecords(dir + "/train-*", dir + "/model", 20);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(Env::Default()->Exists(dir + "/model/eval/metrics.jsonl"));
}

}  // namespace
}  // namespace tandem

#include "estimator/eval_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "estimator/metric_accumulator.h"

namespace tandem {
namespace {

RunValues Step(float loss, int64_t examples, float total, float count) {
  RunValues values;
  values.examples = examples;
  values.tensors["loss"] = HostTensor::Scalar(loss);
  values.tensors["metric/accuracy/total"] = HostTensor::Scalar(total);
  values.tensors["metric/accuracy/count"] = HostTensor::Scalar(count);
  return values;
}

TEST(MetricAccumulator, MeanOfEqualBatchesIsTheMeanOfTheirLosses) {
  MetricAccumulator two({"accuracy"});
  ASSERT_TRUE(two.Add(Step(11, 8, 1, 8)).ok());
  ASSERT_TRUE(two.Add(Step(22, 8, 2, 8)).ok());
  EXPECT_DOUBLE_EQ(two.Result(5)["loss"], 16.5);
  EXPECT_DOUBLE_EQ(two.Result(5)["accuracy"], 3.0 / 16);
  EXPECT_EQ(two.Result(5).global_step(), 5);
  EXPECT_EQ(two.batches(), 2);

  MetricAccumulator five({"accuracy"});
  for (float loss : {2, 4, 6, 8, 10}) ASSERT_TRUE(five.Add(Step(loss, 4, 0, 4)).ok());
  EXPECT_DOUBLE_EQ(five.Result(0)["loss"], 6);
}

TEST(MetricAccumulator, AShortBatchCountsByItsExamples) {
  MetricAccumulator sum({"accuracy"});
  ASSERT_TRUE(sum.Add(Step(1, 9, 9, 9)).ok());
  ASSERT_TRUE(sum.Add(Step(11, 1, 0, 1)).ok());
  EXPECT_DOUBLE_EQ(sum.Result(0)["loss"], 2);
  EXPECT_DOUBLE_EQ(sum.Result(0)["accuracy"], 0.9);
  EXPECT_EQ(sum.examples(), 10);
}

TEST(MetricAccumulator, WithoutExamplesIsNaNAndAMissingOutputIsAnError) {
  MetricAccumulator sum({"accuracy"});
  EXPECT_TRUE(std::isnan(sum.Result(0)["loss"]));
  EXPECT_TRUE(std::isnan(sum.Result(0)["accuracy"]));
  RunValues values;
  values.tensors["loss"] = HostTensor::Scalar(1.0f);
  EXPECT_FALSE(sum.Add(values).ok());
}

TEST(MetricAccumulator, ReservedNamesAreErrors) {
  for (const char* name : {"loss", "global_step", ""}) EXPECT_FALSE(MetricAccumulator::CheckName(name).ok()) << name;
  EXPECT_TRUE(MetricAccumulator::CheckName("accuracy").ok());
}

TEST(EvalResult, PrintsSortedKeysAndRoundTripsAsJson) {
  EvalResult result{{{"loss", 0.1}, {"accuracy", 0.25}, {"global_step", 1234567890}}};
  EXPECT_EQ(result.ToString(), "accuracy = 0.25, global_step = 1234567890, loss = 0.1");
  EXPECT_EQ(result.ToJson(), R"({"accuracy":0.25,"global_step":1234567890,"loss":0.1})");
  result.metrics["loss"] = NAN;
  auto back = EvalResult::FromJson(result.ToJson());
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan((*back)["loss"]));
  EXPECT_EQ(back->global_step(), 1234567890);
  for (const char* bad : {"", "[]", "{", "{\"a\": \"b\"}"}) EXPECT_FALSE(EvalResult::FromJson(bad).ok()) << bad;
}

}  // namespace
}  // namespace tandem

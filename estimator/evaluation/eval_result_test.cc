#include "estimator/evaluation/eval_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/user_code.h"
#include "estimator/evaluation/metric_accumulator.h"

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

// The metric whose sums Step has.
MetricAccumulator Accuracy() { return MetricAccumulator(std::map<std::string, Metric>{{"accuracy", Metric{}}}); }

TEST(MetricAccumulator, MeanOfEqualBatchesIsTheMeanOfTheirLosses) {
  MetricAccumulator two = Accuracy();
  ASSERT_TRUE(two.Add(Step(11, 8, 1, 8)).ok());
  ASSERT_TRUE(two.Add(Step(22, 8, 2, 8)).ok());
  EXPECT_DOUBLE_EQ((*two.Result(5))["loss"], 16.5);
  EXPECT_DOUBLE_EQ((*two.Result(5))["accuracy"], 3.0 / 16);
  EXPECT_EQ(two.Result(5)->global_step(), 5);
  EXPECT_EQ(two.batches(), 2);

  MetricAccumulator five = Accuracy();
  for (float loss : {2, 4, 6, 8, 10}) ASSERT_TRUE(five.Add(Step(loss, 4, 0, 4)).ok());
  EXPECT_DOUBLE_EQ((*five.Result(0))["loss"], 6);
}

TEST(MetricAccumulator, AShortBatchCountsByItsExamples) {
  MetricAccumulator sum = Accuracy();
  ASSERT_TRUE(sum.Add(Step(1, 9, 9, 9)).ok());
  ASSERT_TRUE(sum.Add(Step(11, 1, 0, 1)).ok());
  EXPECT_DOUBLE_EQ((*sum.Result(0))["loss"], 2);
  EXPECT_DOUBLE_EQ((*sum.Result(0))["accuracy"], 0.9);
  EXPECT_EQ(sum.examples(), 10);
}

TEST(MetricAccumulator, WithoutExamplesIsNaNAndAMissingOutputIsAnError) {
  MetricAccumulator sum = Accuracy();
  EXPECT_TRUE(std::isnan((*sum.Result(0))["loss"]));
  EXPECT_TRUE(std::isnan((*sum.Result(0))["accuracy"]));
  RunValues values;
  values.tensors["loss"] = HostTensor::Scalar(1.0f);
  EXPECT_FALSE(sum.Add(values).ok());
}

// A metric with a state of two sums, one of them a matrix of integers.
MetricAccumulator Ratio(MetricResult result) {
  Metric metric{.sums = {{"hits", Tensor()}, {"tries", Tensor()}}, .result = std::move(result)};
  return MetricAccumulator(std::map<std::string, Metric>{{"ratio", metric}});
}

RunValues RatioStep(HostTensor hits, double tries) {
  RunValues values;
  values.examples = 1;
  values.tensors["loss"] = HostTensor::Scalar(1.0f);
  values.tensors["metric/ratio/hits"] = std::move(hits);
  values.tensors["metric/ratio/tries"] = HostTensor::Scalar(tries);
  return values;
}

TEST(MetricAccumulator, AddsSumsOfAnyShape) {
  MetricAccumulator ratio = Ratio([](const MetricSums& sums) {
    std::vector<double> shares = sums.at("hits");
    for (double& share : shares) share /= sums.at("tries")[0];
    return HostTensor::FromVector<double>({2, 2}, shares);
  });
  EXPECT_EQ(ratio.fetches(), (std::vector<std::string>{"loss", "metric/ratio/hits", "metric/ratio/tries"}));
  // More than a float holds.
  ASSERT_TRUE(ratio.Add(RatioStep(HostTensor::FromVector<int64_t>({2, 2}, {1, 2, 3, int64_t{1} << 40}), 1)).ok());
  ASSERT_TRUE(ratio.Add(RatioStep(HostTensor::FromVector<int64_t>({2, 2}, {0, 4, 1, 1}), 1)).ok());
  absl::StatusOr<EvalResult> result = ratio.Result(7);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_FALSE(result->Has("ratio"));
  const HostTensor want = HostTensor::FromVector<double>({2, 2}, {0.5, 3, 2, ((int64_t{1} << 40) + 1) / 2.0});
  EXPECT_TRUE(result->arrays.at("ratio").BitEqual(want));
}

TEST(EvalResult, ANameThatIsNotThereIsAnError) {
  EvalResult result;
  result.metrics = {{"accuracy", 0.5}, {"loss", 1}};
  const absl::Status status = CallUserCode([&] { EXPECT_TRUE(std::isnan(result["acuracy"])); });
  EXPECT_EQ(status.message(),
            "EvalResult[\"acuracy\"]: the evaluation has no number of this name, it has accuracy, loss; did you mean "
            "\"accuracy\"?");
  EXPECT_EQ(result.global_step(), -1);
}

TEST(MetricAccumulator, ASumMustKeepItsShape) {
  MetricAccumulator ratio = Ratio([](const MetricSums&) { return 0.0; });
  ASSERT_TRUE(ratio.Add(RatioStep(HostTensor::FromVector<double>({2}, {1, 2}), 1)).ok());
  const absl::Status status = ratio.Add(RatioStep(HostTensor::FromVector<double>({3}, {1, 2, 3}), 1));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), testing::HasSubstr("metric \"ratio\": its sum \"hits\" has shape [3] in batch 2"));
}

TEST(MetricAccumulator, ErrorsOfAResultNameTheMetric) {
  const MetricResult bad[] = {
      [](const MetricSums& sums) { return sums.at("misses")[0]; },  // throws
      [](const MetricSums&) -> absl::StatusOr<MetricValue> { return absl::OutOfRangeError("no such class"); },
      [](const MetricSums&) { return HostTensor::Scalar(1.0f); },  // no float64
      [](const MetricSums&) { return HostTensor(); },
  };
  for (const MetricResult& result : bad) {
    MetricAccumulator ratio = Ratio(result);
    ASSERT_TRUE(ratio.Add(RatioStep(HostTensor::Scalar(1.0), 1)).ok());
    EXPECT_THAT(ratio.Result(0).status().message(), testing::HasSubstr("metric \"ratio\": "));
  }
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
  result.metrics["accuracy"] = INFINITY;
  result.metrics["least"] = -INFINITY;
  auto back = EvalResult::FromJson(result.ToJson());
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(std::isnan((*back)["loss"]));
  EXPECT_EQ((*back)["accuracy"], INFINITY);
  EXPECT_EQ((*back)["least"], -INFINITY);
  EXPECT_EQ(back->global_step(), 1234567890);
  EXPECT_TRUE(std::isnan((*EvalResult::FromJson("{\"loss\": null}"))["loss"])) << "as it was written before";
  for (const char* bad : {"", "[]", "{", "{\"a\": \"b\"}"}) EXPECT_FALSE(EvalResult::FromJson(bad).ok()) << bad;
}

TEST(EvalResult, ArraysAreLists) {
  EvalResult result{{{"loss", 0.5}}, {{"matrix", HostTensor::FromVector<double>({2, 2}, {5, -INFINITY, NAN, 7})}}};
  EXPECT_EQ(result.ToString(), "loss = 0.5, matrix = [[5.0,\"-Infinity\"],[\"NaN\",7.0]]");
  auto back = EvalResult::FromJson(result.ToJson());
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->ToJson(), R"({"loss":0.5,"matrix":[[5.0,"-Infinity"],["NaN",7.0]]})");
  EXPECT_TRUE(EvalResult::FromJson(R"({"matrix":[[5.0,1.0],[null,7.0]]})").ok()) << "as it was written before";
  EXPECT_EQ(back->arrays.at("matrix").shape(), (Shape{2, 2}));
  result.arrays["matrix"] = HostTensor::Zeros(DType::kFloat64, {101});
  EXPECT_EQ(result.ToString(), "loss = 0.5, matrix = array of shape [101]");
  for (const char* bad :
       {R"({"a":[1,[2]]})", R"({"a":[[1],[2,3]]})", R"({"a":["x"]})", R"({"a":[[[[[[[[[1]]]]]]]]]})"}) {
    EXPECT_FALSE(EvalResult::FromJson(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace tandem

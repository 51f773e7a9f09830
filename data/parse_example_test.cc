// ParseExample in pipelines: equal to TensorFlow's values, whatever stands before and behind it.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/env.h"
#include "data/dataset.h"
#include "data/files/record_writer.h"
#include "data/test_util.h"
#include "data/testdata/golden.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using F = FeatureSpec;

std::vector<FeatureSpec> FixedFeatures() {
  return {F::FixedLen("label", DType::kInt64),
          F::FixedLen("pair", DType::kInt64, {2}, HostTensor::FromVector<int64_t>({2}, {-7, 7})),
          F::FixedLen("floats", DType::kFloat32, {3}, HostTensor::FromVector<float>({3}, {0.5, 1.5, 2.5})),
          F::FixedLen("name", DType::kString, {}, HostTensor::String("nobody"))};
}

std::string Write(const std::string& name, const std::vector<std::string>& records) {
  const std::string path = JoinPath(testing::TempDir(), name);
  auto writer = RecordWriter::Create(path);
  for (const std::string& record : records) EXPECT_TRUE((*writer)->Write(record).ok());
  EXPECT_TRUE((*writer)->Close().ok());
  return path;
}

TEST(ParseExampleTest, GivesTensorFlowsValuesBatchedBeforeOrBehind) {
  std::map<std::string, HostTensor> expected = ReadGolden("examples.expected");
  const Dataset records = Dataset::TFRecord({GoldenPath("examples.tfrecord.gz")}, {.compression = Compression::kGzip});
  for (const Dataset& d :
       {records.Batch(44).ParseExample(FixedFeatures()), records.ParseExample(FixedFeatures()).Batch(44),
        records.Batch(44).ParseExample(FixedFeatures(), {.num_parallel_calls = 3}).Prefetch(2)}) {
    ASSERT_TRUE(d.status().ok()) << d.status();
    EXPECT_EQ(SpecString(d.spec()), "label:int64[b], pair:int64[b,2], floats:float32[b,3], name:string[b]");
    const std::vector<Element> batches = Read(d);
    ASSERT_EQ(batches.size(), 1u);
    for (size_t c = 0; c < 4; ++c) {
      EXPECT_TRUE(batches[0].components[c].BitEqual(expected[d.spec()[c].name])) << d.spec()[c].name;
    }
  }
  // Variable lengths are padded within a batch.
  const Dataset d = records.Batch(44).ParseExample({F::VarLen("ints", DType::kInt64, HostTensor::Scalar<int64_t>(-1)),
                                                    F::VarLen("words", DType::kString, HostTensor::String("?"))});
  EXPECT_EQ(SpecString(d.spec()), "ints:int64[b,b], words:string[b,b]");
  const std::vector<Element> batches = Read(d);
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_TRUE(batches[0].components[0].BitEqual(expected["ints"]));
  EXPECT_TRUE(batches[0].components[1].BitEqual(expected["words"]));
}

TEST(ParseExampleTest, SingleAndBatchedParsingAgree) {
  const Dataset records = Dataset::TFRecord({GoldenPath("examples.tfrecord")}).Shuffle(20, {.seed = 3});
  const std::vector<Element> behind = Read(records.ParseExample(FixedFeatures()).Batch(5));
  EXPECT_EQ(behind.size(), 9u);
  EXPECT_TRUE(BitEqual(Read(records.Batch(5).ParseExample(FixedFeatures())), behind));
  const auto same = [](const Element& e) -> absl::StatusOr<Element> { return e; };
  EXPECT_TRUE(BitEqual(Read(records.ParseExample(FixedFeatures()).Map(same).Batch(5)), behind));
}

TEST(ParseExampleTest, ErrorsNameTheFileTheRecordAndTheKey) {
  const std::string good = ExampleBuilder().Int64("label", 1).Serialize();
  const std::string path = Write("schema", {good, good, ExampleBuilder().Float("label", 1).Serialize(), good});
  const Dataset records = Dataset::TFRecord({path});
  for (const Dataset& d : {records.ParseExample({F::FixedLen("label", DType::kInt64)}),
                           records.ParseExample({F::FixedLen("label", DType::kInt64)}).Batch(4),
                           records.Batch(4).ParseExample({F::FixedLen("label", DType::kInt64)})}) {
    std::unique_ptr<Iterator> it = Make(d);
    absl::Status status;
    bool end = false;
    for (int i = 0; i < 3 && status.ok() && !end; ++i) {
      Element e;
      status = it->GetNext(&e, &end);
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    const std::string place = absl::StrCat("ParseExample, record 2, at byte ", 2 * (good.size() + 16), " of ", path);
    EXPECT_TRUE(absl::StrContains(status.message(), place)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "parse_example_test.cc:")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "'label' holds a float_list where a int64_list")) << status;
  }
  const Dataset text = Dataset::TFRecord({Write("text", {"no example"})}).ParseExample({F::VarLen("x", DType::kInt64)});
  Element e;
  bool end = false;
  const absl::Status status = Make(text)->GetNext(&e, &end);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(absl::StrContains(status.message(), "no Example")) << status;
}

TEST(ParseExampleTest, WantsRecords) {
  const std::vector<FeatureSpec> features = {F::FixedLen("label", DType::kInt64)};
  EXPECT_TRUE(absl::StrContains(Dataset::Range(3).ParseExample(features).status().message(), "must be records"));
  const Dataset records = Dataset::TFRecord({GoldenPath("examples.tfrecord")});
  EXPECT_FALSE(records.ParseExample({}).status().ok());
  EXPECT_FALSE(records.ParseExample(features).ParseExample(features).status().ok());
  EXPECT_FALSE(records.ParseExample(features, {.num_parallel_calls = -1}).status().ok());
}

}  // namespace
}  // namespace tandem

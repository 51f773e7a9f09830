// SequenceExamples: the values that TensorFlow reads, and errors with key and step.
#include "data/files/sequence_example.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/files/record_reader.h"
#include "data/files/wire.h"
#include "data/testdata/golden.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using F = FeatureSpec;

std::string Field(uint32_t number, absl::string_view bytes) {
  std::string out;
  wire::AppendBytes(number, bytes, &out);
  return out;
}

// A list under the key "x".
std::string Lists(const std::vector<std::string>& steps) {
  std::string list;
  for (const std::string& step : steps) list += Field(1, step);
  return Field(2, Field(1, Field(1, "x") + Field(2, list)));
}
// A Feature of one list of bytes.
std::string Word(absl::string_view word) { return Field(1, Field(1, word)); }

absl::Status Parse(std::vector<FeatureSpec> sequence, absl::string_view record, Element* out) {
  const auto parser = SequenceExampleParser::Create({}, std::move(sequence));
  EXPECT_TRUE(parser.ok()) << parser.status();
  return parser->Parse(record, out);
}

TEST(SequenceExampleTest, ReadsTheValuesThatTensorFlowReads) {
  std::map<std::string, HostTensor> expected = ReadGolden("sequences.expected");
  const auto parser = SequenceExampleParser::Create(
      {F::FixedLen("id", DType::kInt64, {}, HostTensor::Scalar<int64_t>(-1)), F::VarLen("tags", DType::kString)},
      {F::FixedLen("pairs", DType::kFloat32, {2}),
       F::FixedLen("label", DType::kInt64, {}, HostTensor::Scalar<int64_t>(0)),
       F::VarLen("tokens", DType::kInt64, HostTensor::Scalar<int64_t>(-1)),
       F::VarLen("words", DType::kString, HostTensor::String("?"))});
  ASSERT_TRUE(parser.ok()) << parser.status();
  EXPECT_EQ(SpecString(parser->spec()),
            "id:int64[], tags:string[b], pairs:float32[b,2], label:int64[b], tokens:int64[b,b], words:string[b,b]");
  auto reader = RecordReader::Open(GoldenPath("sequences.tfrecord"));
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (int i = 0;; ++i) {
    Record record;
    bool end = false;
    ASSERT_TRUE((*reader)->Next(&record, &end).ok());
    if (end) {
      EXPECT_EQ(i, 6);
      break;
    }
    Element element;
    const absl::Status status = parser->Parse(record.bytes, &element);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_TRUE(CheckElement(parser->spec(), element).ok()) << CheckElement(parser->spec(), element);
    for (size_t c = 0; c < parser->spec().size(); ++c) {
      const std::string name = absl::StrCat(i, ".", parser->spec()[c].name);
      ASSERT_EQ(expected.count(name), 1u) << name;
      EXPECT_TRUE(element.components[c].BitEqual(expected[name]))
          << name << ShapeString(element.components[c].shape()) << ShapeString(expected[name].shape());
    }
  }
}

TEST(SequenceExampleTest, ErrorsNameKeyAndStep) {
  Element out;
  const std::vector<FeatureSpec> one = {F::FixedLen("x", DType::kString)};
  absl::Status status = Parse(one, Lists({Word("a"), Word("b")}), &out);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(out.components[0].string(1), "b");
  status = Parse(one, Lists({Word("a"), Field(1, Field(1, "b") + Field(1, "c"))}), &out);
  EXPECT_TRUE(absl::StrContains(status.message(), "step 1: feature 'x' has 2 values where the shape [] needs 1"))
      << status;
  status = Parse(one, Lists({Word("a"), ""}), &out);
  EXPECT_TRUE(absl::StrContains(status.message(), "step 1: feature 'x' is absent and has no default")) << status;
  status = Parse({F::FixedLen("x", DType::kInt64)}, Lists({Word("a")}), &out);
  EXPECT_TRUE(absl::StrContains(status.message(), "step 0: feature 'x' holds a bytes_list where a int64_list"))
      << status;
  status = Parse(one, "", &out);
  EXPECT_TRUE(absl::StrContains(status.message(), "feature 'x' has no list of steps and no default")) << status;
  const std::string record = Lists({Word("word")});
  for (size_t size = 1; size < record.size(); ++size) {
    EXPECT_FALSE(Parse(one, record.substr(0, size), &out).ok()) << size;
  }
  // Of two lists with one key, the last; no steps where the key is absent.
  ASSERT_TRUE(Parse(one, Lists({Word("a"), Word("b")}) + Lists({Word("c")}), &out).ok());
  EXPECT_EQ(out.components[0].shape(), Shape{1});
  ASSERT_TRUE(Parse({F::VarLen("x", DType::kFloat32)}, "", &out).ok());
  EXPECT_EQ(out.components[0].shape(), (Shape{0, 0}));
}

TEST(SequenceExampleTest, BadFeaturesAreNamed) {
  const auto create = [](std::vector<FeatureSpec> context, std::vector<FeatureSpec> sequence) {
    return std::string(SequenceExampleParser::Create(std::move(context), std::move(sequence)).status().message());
  };
  EXPECT_TRUE(absl::StrContains(create({}, {}), "no feature to read"));
  EXPECT_TRUE(absl::StrContains(create({}, {F::VarLen("x", DType::kInt32)}), "'x' cannot be int32"));
  EXPECT_TRUE(absl::StrContains(create({}, {F::VarLen("x", DType::kInt64), F::VarLen("x", DType::kInt64)}), "twice"));
  EXPECT_TRUE(absl::StrContains(create({F::VarLen("x", DType::kInt64)}, {F::VarLen("x", DType::kInt64)}),
                                "gives a second component 'x'"));
}

}  // namespace
}  // namespace tandem

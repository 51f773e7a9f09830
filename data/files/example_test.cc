// Examples: the bytes that protobuf writes, and the values that TensorFlow reads.
#include "data/files/example.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "data/files/record_reader.h"
#include "data/files/wire.h"
#include "data/testdata/golden.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using F = FeatureSpec;

std::vector<std::string> Records(const std::string& path, Compression compression) {
  auto reader = RecordReader::Open(path, {.compression = compression});
  EXPECT_TRUE(reader.ok()) << reader.status();
  std::vector<std::string> records;
  for (bool end = false; reader.ok();) {
    Record record;
    const absl::Status status = (*reader)->Next(&record, &end);
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok() || end) break;
    EXPECT_TRUE((*reader)->CheckBytes(record).ok());
    records.emplace_back(record.bytes);
  }
  return records;
}

std::vector<absl::string_view> Views(const std::vector<std::string>& strings) {
  return {strings.begin(), strings.end()};
}

// A record with `feature`, a serialised Feature, under the key "x".
std::string Wrapped(absl::string_view feature) {
  std::string entry, features, record;
  wire::AppendBytes(1, "x", &entry);
  wire::AppendBytes(2, feature, &entry);
  wire::AppendBytes(1, entry, &features);
  wire::AppendBytes(1, features, &record);
  return record;
}

std::string Field(uint32_t number, absl::string_view bytes) {
  std::string out;
  wire::AppendBytes(number, bytes, &out);
  return out;
}

absl::Status ParseOne(std::vector<FeatureSpec> features, absl::string_view record, Element* out) {
  auto parser = ExampleParser::Create(std::move(features));
  EXPECT_TRUE(parser.ok()) << parser.status();
  return parser->ParseOne(record, out);
}

TEST(ExampleTest, WritesTheBytesThatProtobufWrites) {
  ExampleBuilder builder;
  builder.Bytes("s", "later wins").Float("f", {1, -2}).Bytes("s", "hi").Int64("a", {1, 2, 300});
  EXPECT_EQ(absl::BytesToHexString(builder.Serialize()),
            "0a2f0a0d0a016112081a060a040102ac020a110a0166120c120a0a080000803f000000c00a0b0a017312060a040a026869");
}

std::vector<FeatureSpec> GoldenFeatures() {
  return {F::FixedLen("label", DType::kInt64),
          F::FixedLen("pair", DType::kInt64, {2}, HostTensor::FromVector<int64_t>({2}, {-7, 7})),
          F::FixedLen("floats", DType::kFloat32, {3}, HostTensor::FromVector<float>({3}, {0.5, 1.5, 2.5})),
          F::FixedLen("name", DType::kString, {}, HostTensor::String("nobody")),
          F::VarLen("ints", DType::kInt64, HostTensor::Scalar<int64_t>(-1)),
          F::VarLen("reals", DType::kFloat32, HostTensor::Scalar<float>(-1)),
          F::VarLen("words", DType::kString, HostTensor::String("?"))};
}

TEST(ExampleTest, ReadsTheValuesThatTensorFlowReads) {
  std::map<std::string, HostTensor> expected = ReadGolden("examples.expected");
  auto parser = ExampleParser::Create(GoldenFeatures());
  ASSERT_TRUE(parser.ok()) << parser.status();
  for (auto [suffix, compression] :
       {std::pair("", Compression::kNone), std::pair(".gz", Compression::kGzip), std::pair(".z", Compression::kZlib)}) {
    const std::vector<std::string> records =
        Records(GoldenPath(absl::StrCat("examples.tfrecord", suffix)), compression);
    ASSERT_EQ(records.size(), 44u);
    Element batch;
    int64_t bad_row = 0;
    const absl::Status status = parser->ParseBatch(Views(records), &batch, &bad_row);
    ASSERT_TRUE(status.ok()) << status << " in row " << bad_row;
    ASSERT_EQ(batch.components.size(), expected.size());
    for (size_t c = 0; c < parser->spec().size(); ++c) {
      const std::string& name = parser->spec()[c].name;
      EXPECT_TRUE(batch.components[c].BitEqual(expected[name])) << name << ShapeString(batch.components[c].shape());
    }
    // One by one: the same without the padding.
    for (size_t row = 0; row < records.size(); ++row) {
      Element one;
      ASSERT_TRUE(parser->ParseOne(records[row], &one).ok());
      for (size_t c = 0; c < parser->spec().size(); ++c) {
        const HostTensor& t = one.components[c];
        const HostTensor& all = batch.components[c];
        const int64_t width = all.num_elements() / all.shape()[0];
        EXPECT_TRUE(t.num_elements() == width || (parser->spec()[c].shape == Shape{-1} && t.num_elements() < width));
        for (int64_t i = 0; i < t.num_elements(); ++i) {
          if (t.dtype() == DType::kString) {
            EXPECT_EQ(t.string(i), all.string(row * width + i));
          } else {
            const int64_t size = SizeOf(t.dtype());
            EXPECT_EQ(std::memcmp(static_cast<const char*>(t.raw()) + i * size,
                                  static_cast<const char*>(all.raw()) + (row * width + i) * size, size),
                      0);
          }
        }
      }
    }
  }
}

// What proto3 parsers must take: several packed pieces, packed and not in one list, and of two lists the last kind.
TEST(ExampleTest, ListsMayComeInPieces) {
  const std::string ints = absl::StrCat(Field(1, "\x01\x02"), absl::string_view("\x08\x03", 2), Field(1, "\x04"));
  Element out;
  ASSERT_TRUE(ParseOne({F::VarLen("x", DType::kInt64)}, Wrapped(Field(3, ints)), &out).ok());
  EXPECT_EQ(out.components[0].values<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4}));
  const std::string twice = absl::StrCat(Field(2, Field(1, "abcd")), Field(3, Field(1, "\x05")), Field(3, ints));
  ASSERT_TRUE(ParseOne({F::VarLen("x", DType::kInt64)}, Wrapped(twice), &out).ok());
  EXPECT_EQ(out.components[0].values<int64_t>(), (std::vector<int64_t>{5, 1, 2, 3, 4}));
  // Fields of other numbers and types are skipped.
  const std::string unknown =
      absl::StrCat(Field(9, "???"), absl::string_view("\x50\x01", 2), Field(3, Field(1, "\x06")),
                   absl::string_view("\x5d"
                                     "abcd",
                                     5));
  ASSERT_TRUE(ParseOne({F::FixedLen("x", DType::kInt64)}, Wrapped(unknown), &out).ok());
  EXPECT_EQ(out.components[0].values<int64_t>()[0], 6);
}

TEST(ExampleTest, ErrorsNameKeyAndKinds) {
  const std::string record = ExampleBuilder().Int64("n", {1, 2}).Float("f", 1).Bytes("s", "x").Serialize();
  const auto error = [&](FeatureSpec spec) {
    Element out;
    return std::string(ParseOne({spec}, record, &out).message());
  };
  Element out;
  EXPECT_EQ(ParseOne({F::FixedLen("n", DType::kFloat32, {2})}, record, &out).code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(error(F::FixedLen("n", DType::kFloat32, {2})),
            "feature 'n' holds a int64_list where a float_list (float32) is expected");
  EXPECT_EQ(error(F::VarLen("f", DType::kString)),
            "feature 'f' holds a float_list where a bytes_list (string) is expected");
  EXPECT_EQ(error(F::FixedLen("n", DType::kInt64, {3})), "feature 'n' has 2 values where the shape [3] needs 3");
  EXPECT_EQ(error(F::FixedLen("n", DType::kInt64)), "feature 'n' has 2 values where the shape [] needs 1");
  EXPECT_TRUE(absl::StrContains(error(F::FixedLen("absent", DType::kInt64)), "feature 'absent' is absent"));
  EXPECT_EQ(error(F::VarLen("absent", DType::kInt64)), "");
  int64_t bad_row = 0;
  auto parser = ExampleParser::Create({F::FixedLen("n", DType::kInt64)});
  const std::string good = ExampleBuilder().Int64("n", 1).Serialize();
  EXPECT_FALSE(parser->ParseBatch({good, good, record, good}, &out, &bad_row).ok());
  EXPECT_EQ(bad_row, 2);
}

TEST(ExampleTest, ListsWhatAnExampleHas) {
  auto features = ListFeatures(ExampleBuilder().Int64("n", {1, 2}).Float("f", 1).Bytes("s", "x").Serialize());
  ASSERT_TRUE(features.ok()) << features.status();
  std::string text;
  for (const FeatureSummary& f : *features) absl::StrAppend(&text, f.key, ":", Name(f.dtype), "[", f.count, "] ");
  EXPECT_EQ(text, "f:float32[1] n:int64[2] s:string[1] ");
  EXPECT_EQ(ListFeatures("no example").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ListFeatures(Wrapped("")).value()[0].dtype, DType::kInvalid);
}

TEST(ExampleTest, BadFeaturesAreRefused) {
  const auto error = [](std::vector<FeatureSpec> features) {
    return std::string(ExampleParser::Create(std::move(features)).status().message());
  };
  EXPECT_TRUE(absl::StrContains(error({}), "no feature"));
  EXPECT_TRUE(absl::StrContains(error({F::FixedLen("a", DType::kInt32)}), "'a' cannot be int32"));
  EXPECT_TRUE(absl::StrContains(error({F::FixedLen("a", DType::kInt64, {-1})}), "shape"));
  EXPECT_TRUE(absl::StrContains(error({F::FixedLen("a", DType::kInt64), F::VarLen("a", DType::kInt64)}), "second"));
  EXPECT_TRUE(absl::StrContains(error({F::FixedLen("a", DType::kInt64, {2}, HostTensor::Scalar<float>(1))}),
                                "its default is float32[]"));
  EXPECT_TRUE(absl::StrContains(
      error({F::FixedLen("a", DType::kInt64, {3}, HostTensor::FromVector<int64_t>({2}, {1, 2}))}), "default"));
}

// A record is changed in every byte and cut everywhere: an error, or some values, and never more memory than it has.
TEST(ExampleTest, DamageIsAnErrorOrValues) {
  const std::string good =
      ExampleBuilder().Int64("n", {1, -2, 300}).Float("f", {1, 2}).Bytes("s", {"some", "words"}).Serialize();
  auto parser = ExampleParser::Create(
      {F::VarLen("n", DType::kInt64), F::VarLen("f", DType::kFloat32), F::VarLen("s", DType::kString)});
  ASSERT_TRUE(parser.ok());
  int errors = 0, values = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      Element out;
      const absl::Status status = parser->ParseOne(bad, &out);
      status.ok() ? ++values : ++errors;
      EXPECT_EQ(status.ok(), status.message().empty());
    }
    Element out;
    EXPECT_EQ(parser->ParseOne(good.substr(0, i), &out).ok(), i == 0);
  }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(values, 1000);
}

}  // namespace
}  // namespace tandem

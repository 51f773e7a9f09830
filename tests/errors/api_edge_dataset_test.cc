// data/dataset.h with arguments that it cannot use: every stage has a row.
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "data/dataset.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

struct Row {
  const char* function;  // as the header declares it
  const char* argument;
  std::function<Dataset()> call;
  const char* says = "";
  // What the message calls the function, where it is made of others.
  const char* named = nullptr;
};

absl::StatusOr<Element> Same(const Element& e) { return e; }
absl::StatusOr<Dataset> Three(const Element&) { return Dataset::Range(3); }
absl::StatusOr<int64_t> One(const Element&) { return 1; }
absl::StatusOr<Element> Last(const Element&, const Element& e, Element* next) { return *next = e; }

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = JoinPath(testing::TempDir(), name);
  EXPECT_TRUE(Env::Default()->WriteFile(path, {text}).ok());
  return path;
}

std::vector<Row> Rows() {
  using Slices = Dataset::Slices;
  const HostTensor rows = HostTensor::Zeros(DType::kFloat32, {4, 2});
  const Dataset d = Dataset::Range(4);
  const Dataset batches = d.Batch(2);
  const std::string text = WriteFile("seven.txt", "1234567");
  const Element number = {.components = {HostTensor::Scalar<int64_t>(0)}};
  const std::vector<ComponentSpec> numbers = {{"value", DType::kInt64, {}}};
  return {
      {"FromTensorSlices", "nothing", [] { return Dataset::FromTensorSlices(Slices()); }},
      {"FromTensorSlices", "an empty tensor",
       [] {
         return Dataset::FromTensorSlices({{"x", HostTensor()}});
       }},
      {"FromTensorSlices", "a name twice",
       [=] {
         return Dataset::FromTensorSlices({{"x", rows}, {"x", rows}});
       }},
      {"Range", "a negative size", [] { return Dataset::Range(-kHuge); }},
      {"Map", "no function", [=] { return d.Map(nullptr); }, "null"},
      {"Map", "negative threads", [=] { return d.Map(Same, {.num_parallel_calls = -1}); }},
      {"Map", "too many threads", [=] { return d.Map(Same, {.num_parallel_calls = 1 << 30}); }},
      {"Map", "names of nothing",
       [=] {
         return d.Map(Same, {.names = {"a", "b"}});
       }},
      {"MapInto", "no function",
       [=] {
         return d.MapInto(nullptr, {.spec = {{"x", DType::kFloat32, {}}}});
       },
       "null"},
      {"MapInto", "no description", [=] { return d.MapInto([](auto&&...) { return absl::OkStatus(); }, {}); }},
      {"Shuffle", "no buffer", [=] { return d.Shuffle(0); }},
      {"Shuffle", "a huge buffer", [=] { return d.Shuffle(kHuge); }},
      {"Repeat", "a negative count", [=] { return d.Repeat(-kHuge); }},
      {"ShuffleAndRepeat", "both", [=] { return d.ShuffleAndRepeat(-1, -7); }, "", "Shuffle"},
      {"Batch", "size 0", [=] { return d.Batch(0); }},
      {"Batch", "a huge size", [=] { return d.Batch(kHuge); }},
      {"Prefetch", "a negative size", [=] { return d.Prefetch(-1); }},
      {"Shard", "no shards", [=] { return d.Shard(0, 0); }},
      {"Shard", "no such shard", [=] { return d.Shard(2, kHuge); }},
      {"Take", "a negative count", [=] { return d.Take(-kHuge); }},
      {"Skip", "a negative count", [=] { return d.Skip(-kHuge); }},
      {"TFRecord", "no files", [] { return Dataset::TFRecord({}); }, "file"},
      {"TFRecord", "a file that is not there", [] { return Dataset::TFRecord({"/no/such/file"}); }, "/no/such/file"},
      {"TFRecord", "no buffer", [=] { return Dataset::TFRecord({text}, {.buffer_size = 0}); }, "buffer"},
      {"TFRecord", "a negative limit", [=] { return Dataset::TFRecord({text}, {.max_record_bytes = -1}); }},
      {"TextLine", "no files", [] { return Dataset::TextLine({}); }, "file"},
      {"TextLine", "a huge buffer", [=] { return Dataset::TextLine({text}, {.buffer_size = kHuge}); }, "buffer"},
      {"TextLine", "a negative limit", [=] { return Dataset::TextLine({text}, {.max_line_bytes = -1}); }},
      {"Csv", "no files",
       [] {
         return Dataset::Csv({}, {{"a", DType::kFloat32}});
       },
       "file"},
      {"Csv", "no columns", [=] { return Dataset::Csv({text}, {}); }, "column"},
      {"Csv", "a column twice",
       [=] {
         return Dataset::Csv({text}, {{"a", DType::kFloat32}, {"a", DType::kInt64}});
       }},
      {"Csv", "a column without a type", [=] { return Dataset::Csv({text}, {{"a"}}); }},
      {"Csv", "a quote as delimiter",
       [=] {
         return Dataset::Csv({text}, {{"1234567", DType::kFloat32}}, {.delimiter = '"'});
       }},
      {"FixedLengthRecord", "no files", [] { return Dataset::FixedLengthRecord({}, {.record_bytes = 4}); }, "file"},
      {"FixedLengthRecord", "no length", [=] { return Dataset::FixedLengthRecord({text}, {}); }, "record_bytes"},
      {"FixedLengthRecord", "a negative header",
       [=] { return Dataset::FixedLengthRecord({text}, {.record_bytes = 1, .header_bytes = -1}); }},
      {"FixedLengthRecord", "a length that does not fit",
       [=] { return Dataset::FixedLengthRecord({text}, {.record_bytes = 4}); }, "7 bytes"},
      {"FixedLengthRecord", "an overflow",
       [=] { return Dataset::FixedLengthRecord({text}, {.record_bytes = kHuge, .header_bytes = kHuge}); }},
      {"Idx", "no files", [] { return Dataset::Idx({}); }, "file"},
      {"ListFiles", "no patterns", [] { return Dataset::ListFiles({}); }},
      {"FromTensors", "nothing", [] { return Dataset::FromTensors({}); }},
      {"FromTensors", "an empty tensor",
       [] {
         return Dataset::FromTensors({{"x", HostTensor()}});
       }},
      {"FromTensors", "a name twice",
       [=] {
         return Dataset::FromTensors({{"x", rows}, {"x", rows}});
       }},
      {"FromGenerator", "no function", [=] { return Dataset::FromGenerator(nullptr, numbers); }, "null"},
      {"FromGenerator", "no description",
       [] { return Dataset::FromGenerator([](auto&&...) { return absl::OkStatus(); }, {}); }},
      {"Zip", "nothing", [] { return Dataset::Zip({}); }},
      {"Zip", "a name twice",
       [=] {
         return Dataset::Zip({d, d});
       },
       "value"},
      {"Zip", "a broken one",
       [=] {
         return Dataset::Zip({d, d.Batch(0)});
       },
       "", "Batch"},
      {"ParseExample", "no features", [=] { return Dataset::TextLine({text}).ParseExample({}); }},
      {"ParseExample", "of numbers", [=] { return d.ParseExample({{.key = "a", .dtype = DType::kInt64}}); }},
      {"ParseExample", "a feature without a type",
       [=] { return Dataset::TextLine({text}).ParseExample({{.key = "a"}}); }},
      {"ParseExample", "too many threads",
       [=] {
         return Dataset::TextLine({text}).ParseExample({{.key = "a", .dtype = DType::kInt64}},
                                                       {.num_parallel_calls = 1 << 30});
       }},
      {"ParseSequenceExample", "no features", [=] { return Dataset::TextLine({text}).ParseSequenceExample({}, {}); }},
      {"ParseSequenceExample", "of numbers",
       [=] { return d.ParseSequenceExample({{.key = "a", .dtype = DType::kInt64}}, {}); }},
      {"Filter", "no function", [=] { return d.Filter(nullptr); }, "null"},
      {"TakeWhile", "no function", [=] { return d.TakeWhile(nullptr); }, "null"},
      {"IgnoreErrors", "a negative limit", [=] { return d.IgnoreErrors({.max = -1}); }},
      {"AssertCardinality", "a negative count", [=] { return d.AssertCardinality(-1); }, "must be >= 0"},
      {"Dedupe", "no function", [=] { return d.Dedupe(nullptr); }, "null"},
      {"Dedupe", "no keys", [=] { return d.Dedupe([](const Element&) { return std::string(); }, {.max_keys = 0}); }},
      {"FlatMap", "no function", [=] { return d.FlatMap(nullptr); }, "null"},
      {"Interleave", "no function", [=] { return d.Interleave(nullptr); }, "null"},
      {"Interleave", "no cycle", [=] { return d.Interleave(Three, {.cycle_length = 0}); }},
      {"Interleave", "no block", [=] { return d.Interleave(Three, {.block_length = 0}); }},
      {"Interleave", "a huge cycle", [=] { return d.Interleave(Three, {.cycle_length = kHuge}); }},
      {"Interleave", "too many threads", [=] { return d.Interleave(Three, {.num_parallel_calls = 1 << 30}); }},
      {"Unbatch", "scalars", [=] { return d.Unbatch(); }},
      {"Concatenate", "other components",
       [=] {
         return d.Concatenate(Dataset::FromTensorSlices({{"x", rows}}));
       }},
      {"Concatenate", "batches and examples", [=] { return d.Concatenate(batches); }},
      {"Enumerate", "a negative start", [=] { return d.Enumerate(-1); }},
      {"Enumerate", "a name that is there", [=] { return d.Enumerate(0, "value"); }, "value"},
      {"Scan", "no function", [=] { return d.Scan(number, nullptr, numbers); }, "null"},
      {"Scan", "a state of text",
       [=] {
         return d.Scan({.components = {HostTensor::FromStrings({1}, std::vector<std::string>{"a"})}}, Last, numbers);
       }},
      {"Scan", "no description", [=] { return d.Scan(number, Last, {}); }},
      {"Window", "size 0", [=] { return d.Window({.size = 0}); }},
      {"Window", "a huge size", [=] { return d.Window({.size = kHuge}); }},
      {"Window", "a negative shift", [=] { return d.Window({.shift = -1}); }},
      {"Window", "no stride", [=] { return d.Window({.stride = 0}); }},
      {"Cache", "without an end", [=] { return d.Repeat().Cache(); }},
      {"Parts", "none", [=] { return batches.Parts(0); }},
      {"Parts", "examples", [=] { return d.Parts(2); }, "put Batch before"},
      {"PaddedBatch", "size 0", [=] { return d.PaddedBatch(0); }},
      {"PaddedBatch", "a huge size", [=] { return d.PaddedBatch(kHuge); }},
      {"PaddedBatch", "a component that is not there",
       [=] {
         return d.PaddedBatch(2, {.padded_shapes = {{"x", {}}}});
       }},
      {"PaddedBatch", "padding of another type",
       [=] {
         return d.PaddedBatch(2, {.padding_values = {{"value", HostTensor::Scalar<float>(0)}}});
       }},
      {"BucketBySequenceLength", "no function",
       [=] {
         return d.BucketBySequenceLength(nullptr, {2}, {1, 1});
       },
       "null"},
      {"BucketBySequenceLength", "too few sizes",
       [=] {
         return d.BucketBySequenceLength(One, {2, 4}, {1, 1});
       }},
      {"BucketBySequenceLength", "falling boundaries",
       [=] {
         return d.BucketBySequenceLength(One, {4, 2}, {1, 1, 1});
       }},
      {"BucketBySequenceLength", "size 0",
       [=] {
         return d.BucketBySequenceLength(One, {2}, {0, 1});
       }},
  };
}

TEST(DatasetEdgeTest, WhatCannotBeMadeIsAnError) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(std::string(row.function) + ", " + row.argument);
    const Dataset made = row.call();
    const absl::Status& status = made.status();
    EXPECT_TRUE(status.code() == absl::StatusCode::kInvalidArgument || status.code() == absl::StatusCode::kNotFound)
        << status;
    const char* name = row.named != nullptr ? row.named : row.function;
    EXPECT_TRUE(absl::StrContains(status.message(), name)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), row.says)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "api_edge_dataset_test.cc:")) << status;
    // Whatever is made of it has its error.
    EXPECT_EQ(made.Map(Same).Batch(2).status(), status);
    EXPECT_EQ(made.MakeIterator().status(), status);
  }
}

TEST(DatasetEdgeTest, EveryStageHasARow) {
  std::set<std::string> with_row;
  for (const Row& row : Rows()) with_row.insert(row.function);
  std::ifstream header("data/dataset.h");
  ASSERT_TRUE(header.good());
  const std::regex declaration(R"(^  (?:static )?Dataset (\w+)\(.*)");
  std::smatch match;
  int stages = 0;
  for (std::string line; std::getline(header, line);) {
    if (!std::regex_match(line, match, declaration) || match[1] == "Of") continue;  // a private one
    ++stages;
    EXPECT_TRUE(with_row.contains(match[1])) << match[1] << " has no row in the table";
  }
  EXPECT_GT(stages, 30);
}

}  // namespace
}  // namespace tandem

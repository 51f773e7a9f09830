// The stages that select, flatten, join and pad: orders and values, those of tf.data where it has the stage.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "data/testdata/golden.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using Numbers = std::vector<int64_t>;

int64_t First(const Element& e) { return e.components[0].values<int64_t>()[0]; }

// Datasets of these lengths.
const Numbers& Lengths() {
  static const auto* lengths = new Numbers{5, 0, 3, 7, 1, 4, 0, 2};
  return *lengths;
}

// 100 * i, 100 * i + 1, ... for length i.
Dataset Set(int64_t i) {
  return Dataset::Range(Lengths()[i])
      .Map(
          [i](const Element& e) -> absl::StatusOr<Element> {
            return Element{{HostTensor::Scalar<int64_t>(100 * i + First(e))}};
          },
          {.spec = {{"value", DType::kInt64, {}}}});
}

absl::StatusOr<Dataset> SetOf(const Element& e) { return Set(First(e)); }

Dataset Sequences() {
  return Dataset::Range(8).Map(
      [](const Element& e) -> absl::StatusOr<Element> {
        HostTensor t(DType::kInt64, {Lengths()[First(e)]});
        for (int64_t i = 0; i < t.num_elements(); ++i) t.data<int64_t>()[i] = i;
        return Element{{t}};
      },
      {.spec = {{"value", DType::kInt64, {-1}}}});
}

bool Even(const Element& e) { return First(e) % 2 == 0; }

// Element 3 of Range is an error.
Dataset WithError(int64_t n) {
  return Dataset::Range(n).Map(
      [](const Element& e) -> absl::StatusOr<Element> {
        if (First(e) == 3) return absl::DataLossError("three is broken");
        return e;
      },
      {.spec = {{"value", DType::kInt64, {}}}});
}

// The values of all elements, -1 for an error.
Numbers WithErrors(const Dataset& d) {
  std::unique_ptr<Iterator> it = Make(d);
  Numbers out;
  for (int i = 0; i < 1000; ++i) {
    Element e;
    bool end = false;
    const absl::Status status = it->GetNext(&e, &end);
    if (end) break;
    out.push_back(status.ok() ? First(e) : -1);
  }
  return out;
}

TEST(StagesTest, InterleaveHasTheOrderOfTfData) {
  std::map<std::string, HostTensor> expected = ReadGolden("stages.expected");
  for (auto [cycle, block] : {std::pair(1, 1), {2, 1}, {3, 2}, {5, 3}, {16, 4}}) {
    const HostTensor& order = expected[absl::StrCat("interleave_", cycle, "_", block)];
    const Numbers golden(order.values<int64_t>().begin(), order.values<int64_t>().end());
    ASSERT_EQ(golden.size(), 22u);
    for (int threads : {1, 3}) {
      const Dataset d = Dataset::Range(8).Interleave(
          SetOf, {.cycle_length = cycle, .block_length = block, .num_parallel_calls = threads});
      ASSERT_TRUE(d.status().ok()) << d.status();
      EXPECT_EQ(Values(d), golden) << cycle << " " << block;
      EXPECT_EQ(Values(d.Repeat(2).Take(22)), golden);
    }
    if (cycle == 1) {
      EXPECT_EQ(Values(Dataset::Range(8).FlatMap(SetOf)), golden);
    }
  }
}

TEST(StagesTest, PaddedBatchesAreThoseOfTfData) {
  std::map<std::string, HostTensor> expected = ReadGolden("stages.expected");
  const PaddedBatchOptions options = {.padding_values = {{"value", HostTensor::Scalar<int64_t>(-1)}}};
  const auto length = [](const Element& e) -> absl::StatusOr<int64_t> { return e.components[0].num_elements(); };
  for (auto [name, d] :
       {std::pair("padded_", Sequences().PaddedBatch(3, options)),
        std::pair("bucket_", Sequences().BucketBySequenceLength(length, {2, 5}, {2, 3, 1}, options))}) {
    ASSERT_TRUE(d.status().ok()) << d.status();
    const std::vector<Element> batches = Read(d);
    EXPECT_EQ(expected.count(absl::StrCat(name, batches.size())), 0u);
    for (size_t i = 0; i < batches.size(); ++i) {
      ASSERT_EQ(expected.count(absl::StrCat(name, i)), 1u) << name << i;
      EXPECT_TRUE(batches[i].components[0].BitEqual(expected[absl::StrCat(name, i)])) << name << i;
    }
    EXPECT_GT(batches.size(), 2u);
  }
}

TEST(StagesTest, PaddingKeepsRowsAndStringsInTheirPlaces) {
  const auto grow = [](const Element& e) -> absl::StatusOr<Element> {
    const int64_t n = First(e) + 1;
    HostTensor t(DType::kFloat32, {n, 2});
    std::vector<std::string> words;
    for (int64_t i = 0; i < 2 * n; ++i) t.data<float>()[i] = static_cast<float>(10 * n + i);
    for (int64_t i = 0; i < n; ++i) words.push_back(absl::StrCat("w", i));
    return Element{{t, HostTensor::FromStrings({n}, words)}};
  };
  const Dataset d =
      Dataset::Range(2).Map(grow, {.spec = {{"x", DType::kFloat32, {-1, 2}}, {"w", DType::kString, {-1}}}});
  const std::vector<Element> batches =
      Read(d.PaddedBatch(2, {.padded_shapes = {{"x", {-1, 3}}}, .padding_values = {{"w", HostTensor::String("?")}}}));
  ASSERT_EQ(batches.size(), 1u);
  const HostTensor& x = batches[0].components[0];
  EXPECT_EQ(x.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(x.values<float>(), (std::vector<float>{10, 11, 0, 0, 0, 0, 20, 21, 0, 22, 23, 0}));
  const HostTensor& w = batches[0].components[1];
  EXPECT_TRUE(w.BitEqual(HostTensor::FromStrings({2, 2}, std::vector<std::string>{"w0", "?", "w0", "w1"})));
  EXPECT_FALSE(Read(*Make(d.PaddedBatch(1)), 1).empty());
  Element e;
  bool end = false;
  const absl::Status status = Make(d.PaddedBatch(2, {.padded_shapes = {{"w", {1}}}}))->GetNext(&e, &end);
  EXPECT_TRUE(absl::StrContains(status.message(), "component 'w' is string[2] in row 1")) << status;
}

// What stages know of the end decides whether an evaluation of all of it is an error or goes on for ever.
TEST(StagesTest, WhatDropsElementsOfAnEndlessDatasetHasNoEnd) {
  const auto all = [](const Element&) -> absl::StatusOr<bool> { return true; };
  const auto key = [](const Element& e) -> absl::StatusOr<std::string> { return std::to_string(First(e)); };
  const auto three = [](const Element&) -> absl::StatusOr<Dataset> { return Dataset::Range(3); };
  const auto some = [=](const Element&) -> absl::StatusOr<Dataset> { return Dataset::Range(3).Filter(all); };
  const auto endless = [](const Element&) -> absl::StatusOr<Dataset> { return Dataset::Range(3).Repeat(); };
  const Dataset ends = Dataset::Range(3), repeated = ends.Repeat();
  int number = 0;
  for (const auto& [dataset, cardinality] : {
           std::pair(repeated.Filter(all), kInfiniteCardinality),
           std::pair(repeated.IgnoreErrors({.max = 1}), kInfiniteCardinality),
           std::pair(repeated.Dedupe(key), kInfiniteCardinality),
           std::pair(repeated.Filter(all).Batch(2), kInfiniteCardinality),
           std::pair(repeated.Filter(all).Take(5), int64_t{5}),
           std::pair(repeated.TakeWhile(all), kUnknownCardinality),
           std::pair(repeated.FlatMap(three), kInfiniteCardinality),
           std::pair(repeated.FlatMap(some), kInfiniteCardinality),
           std::pair(ends.FlatMap(endless), kInfiniteCardinality),
           std::pair(ends.Interleave(endless, {.cycle_length = 2}), kInfiniteCardinality),
           std::pair(ends.Filter(all), kUnknownCardinality),
           std::pair(ends.IgnoreErrors({.max = 1}), kUnknownCardinality),
           std::pair(ends.Dedupe(key), kUnknownCardinality),
           std::pair(ends.FlatMap(some), kUnknownCardinality),
           std::pair(ends.FlatMap(some).AssertCardinality(9), int64_t{9}),
           std::pair(Dataset::Range(0).Filter(all), int64_t{0}),
       }) {
    EXPECT_EQ(dataset.status(), absl::OkStatus()) << number;
    EXPECT_EQ(dataset.cardinality(), cardinality) << number;
    ++number;
  }
}

TEST(StagesTest, FilterAndTakeWhile) {
  const auto small = [](const Element& e) -> absl::StatusOr<bool> { return First(e) < 4; };
  const auto even = [](const Element& e) -> absl::StatusOr<bool> { return Even(e); };
  EXPECT_EQ(Values(Dataset::Range(9).Filter(even)), (Numbers{0, 2, 4, 6, 8}));
  EXPECT_EQ(Values(Dataset::Range(9).Filter(even).Batch(2).Repeat(2)), (Numbers{0, 2, 4, 6, 8, 0, 2, 4, 6, 8}));
  EXPECT_EQ(Values(Dataset::Range(9).TakeWhile(small)), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(Values(Dataset::Range(9).TakeWhile(small).Repeat(2)), (Numbers{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(Dataset::Range(9).Filter(even).cardinality(), kUnknownCardinality);
  EXPECT_EQ(WithErrors(WithError(6).Filter(even)), (Numbers{0, 2, -1, 4}));
  const auto fails = [](const Element& e) -> absl::StatusOr<bool> {
    if (First(e) == 1) return absl::InternalError("no idea");
    return true;
  };
  EXPECT_EQ(WithErrors(Dataset::Range(3).Filter(fails).Shuffle(1)), (Numbers{0, -1, 2}));
  Element e;
  bool end = false;
  const absl::Status status = Make(Dataset::Range(3).Skip(1).Filter(fails))->GetNext(&e, &end);
  EXPECT_TRUE(absl::StrContains(status.message(), "Filter, element 1 of the source: no idea")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "stages_test.cc:")) << status;
  EXPECT_FALSE(Dataset::Range(3).Filter(nullptr).status().ok());
  EXPECT_FALSE(Dataset::Range(3).TakeWhile(nullptr).status().ok());
}

TEST(StagesTest, IgnoreErrorsCountsInEachPass) {
  EXPECT_EQ(WithErrors(WithError(6).IgnoreErrors({.max = 1}).Repeat(2)), (Numbers{0, 1, 2, 4, 5, 0, 1, 2, 4, 5}));
  EXPECT_EQ(WithErrors(WithError(5).IgnoreErrors({.max = 0})), (Numbers{0, 1, 2, -1, 4}));
  const Dataset twice = WithError(5).Concatenate(WithError(5)).IgnoreErrors({.max = 1});
  EXPECT_EQ(WithErrors(twice), (Numbers{0, 1, 2, 4, 0, 1, 2, -1, 4}));
  std::unique_ptr<Iterator> it = Make(WithError(5).IgnoreErrors({.max = 0}));
  Read(*it, 3);
  Element e;
  bool end = false;
  const absl::Status status = it->GetNext(&e, &end);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(absl::StrContains(status.message(), "more than 0 elements are broken")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "three is broken")) << status;
  EXPECT_FALSE(WithError(5).IgnoreErrors({.max = -1}).status().ok());
}

TEST(StagesTest, FlatMapReportsWhatItsFunctionDoes) {
  const auto fails = [](const Element& e) -> absl::StatusOr<Dataset> {
    if (First(e) == 1) return absl::InternalError("no set");
    if (First(e) == 2) return Dataset::Range(-1);
    if (First(e) == 3) return Dataset::Range(2).Batch(2);
    if (First(e) == 4) throw std::runtime_error("thrown");
    return Dataset::Range(2);
  };
  const Dataset d = Dataset::Range(6).FlatMap(fails);
  ASSERT_TRUE(d.status().ok()) << d.status();
  EXPECT_EQ(WithErrors(d), (Numbers{0, 1, -1, -1, -1, -1, 0, 1}));
  EXPECT_EQ(WithErrors(d.Shuffle(1).Prefetch(2)), (Numbers{0, 1, -1, -1, -1, -1, 0, 1}));
  for (auto [skip, message] : {std::pair(2, "no set"),
                               {3, "Range: the size must not be negative"},
                               {4, "datasets of the same stages and types"},
                               {5, "thrown"}}) {
    std::unique_ptr<Iterator> it = Make(d.Skip(skip));
    Element e;
    bool end = false;
    const absl::Status status = it->GetNext(&e, &end);
    EXPECT_TRUE(absl::StrContains(status.message(), message)) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat("element ", skip - 1, " of the source"))) << status;
  }
  EXPECT_FALSE(Dataset::Range(0).FlatMap(fails).status().ok());
  EXPECT_FALSE(Dataset::Range(1).FlatMap(nullptr).status().ok());
  EXPECT_FALSE(Dataset::Range(1).Interleave(fails, {.cycle_length = 0}).status().ok());
  EXPECT_FALSE(Dataset::Range(1).Interleave(fails, {.block_length = 0}).status().ok());
}

// "pair" {i, 10 i} and "byte" i; element 3 is an error.
absl::Status WritePair(const Element& in, absl::Span<const ComponentBuffer> out) {
  const int64_t i = First(in);
  if (i == 3) return absl::DataLossError("three is broken");
  EXPECT_EQ(out[0].shape, (Shape{2}));
  EXPECT_EQ(out[0].data<float>(), nullptr);
  out[0].data<int64_t>()[0] = i;
  out[0].data<int64_t>()[1] = 10 * i;
  *out[1].data<uint8_t>() = static_cast<uint8_t>(i);
  return absl::OkStatus();
}

TEST(StagesTest, MapIntoIsMapIntoTheBatch) {
  const std::vector<ComponentSpec> spec = {{"pair", DType::kInt64, {2}}, {"byte", DType::kUInt8, {}}};
  const auto as_map = [](const Element& in) -> absl::StatusOr<Element> {
    Element out{{HostTensor(DType::kInt64, {2}), HostTensor(DType::kUInt8, {})}};
    TD_RETURN_IF_ERROR(WritePair(in, {ComponentBuffer::Of(out.components[0]), ComponentBuffer::Of(out.components[1])}));
    return out;
  };
  const Dataset numbers = Dataset::Range(40).Skip(4).Shuffle(10);
  for (const int threads : {1, 3}) {
    const MapOptions options = {.num_parallel_calls = threads, .spec = spec};
    const Dataset into = numbers.MapInto(WritePair, options), map = numbers.Map(as_map, options);
    EXPECT_TRUE(BitEqual(Read(into), Read(map)));
    EXPECT_TRUE(BitEqual(Read(into.Batch(7).Prefetch(2)), Read(map.Batch(7))));
    EXPECT_TRUE(BitEqual(Read(into.Repeat(2).Batch(5).Shuffle(3)), Read(map.Repeat(2).Batch(5).Shuffle(3))));
    EXPECT_EQ(into.Signature(), map.Signature()) << "positions of one fit the other";
  }
  // An error is that of the element, or of its batch.
  const Dataset broken = Dataset::Range(6).MapInto(WritePair, {.spec = spec});
  EXPECT_EQ(WithErrors(broken), (Numbers{0, 1, 2, -1, 4, 5}));
  EXPECT_EQ(WithErrors(broken.Batch(2)), (Numbers{0, -1, 4}));
}

TEST(StagesTest, MapIntoNeedsToKnowTheSizes) {
  const Dataset d = Dataset::Range(6);
  for (const auto& [dataset, what] : std::vector<std::pair<Dataset, std::string>>{
           {d.MapInto(nullptr, {.spec = {{"x", DType::kInt64, {}}}}), "the function is null"},
           {d.MapInto(WritePair, {}), "MapOptions.spec must describe the result"},
           {d.MapInto(WritePair, {.names = {"x"}}), "MapOptions.spec must describe the result"},
           {d.MapInto(WritePair, {.spec = {{"x", DType::kInt64, {-1}}}}),
            "component 'x' of MapOptions.spec is x:int64"},
           {d.MapInto(WritePair, {.spec = {{"x", DType::kString, {}}}}), "use Map"},
           {d.Batch(2).MapInto(WritePair, {.spec = {{"x", DType::kInt64, {}}}}), "put MapInto before Batch"}}) {
    EXPECT_EQ(dataset.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(dataset.status().message(), what)) << dataset.status();
    EXPECT_TRUE(absl::StrContains(dataset.status().message(), "stages_test.cc:")) << dataset.status();
  }
}

TEST(StagesTest, UnbatchGivesTheRows) {
  EXPECT_EQ(Values(Dataset::Range(10).Batch(4).Unbatch()), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(Batches(Read(Dataset::Range(10).Batch(4).Unbatch().Batch(3))),
            (std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9}}));
  EXPECT_EQ(SpecString(Dataset::Range(10).Batch(4).Unbatch().spec()), "value:int64[]");
  EXPECT_FALSE(Dataset::Range(10).Unbatch().status().ok());
}

TEST(StagesTest, ZipConcatenateAndEnumerate) {
  const Dataset letters = Dataset::FromTensorSlices(
      {{"letter", HostTensor::FromStrings({4}, std::vector<std::string>{"a", "b", "c", "d"})}});
  const Dataset zipped = Dataset::Zip({Dataset::Range(3), letters});
  EXPECT_EQ(SpecString(zipped.spec()), "value:int64[], letter:string[]");
  EXPECT_EQ(zipped.cardinality(), 3);
  std::vector<Element> elements = Read(zipped.Repeat(2));
  ASSERT_EQ(elements.size(), 6u);
  EXPECT_EQ(elements[4].components[0].values<int64_t>()[0], 1);
  EXPECT_EQ(elements[4].components[1].string(), "b");
  const Dataset both = Dataset::Range(2).Concatenate(Dataset::Range(9).Skip(7));
  EXPECT_EQ(Values(both.Repeat(2)), (Numbers{0, 1, 7, 8, 0, 1, 7, 8}));
  EXPECT_EQ(both.cardinality(), 4);
  elements = Read(letters.Enumerate(5).Batch(4));
  ASSERT_EQ(elements.size(), 1u);
  EXPECT_EQ(elements[0].components[0].values<int64_t>(), (Numbers{5, 6, 7, 8}));
  EXPECT_EQ(elements[0].components[1].string(3), "d");
  EXPECT_FALSE(Dataset::Zip({}).status().ok());
  EXPECT_TRUE(absl::StrContains(Dataset::Zip({letters, letters}).status().message(), "the name 'letter'"));
  EXPECT_FALSE(Dataset::Zip({letters, Dataset::Range(3).Batch(2)}).status().ok());
  EXPECT_TRUE(absl::StrContains(letters.Concatenate(Dataset::Range(3)).status().message(), "letter:string[]"));
  EXPECT_FALSE(letters.Enumerate(-1).status().ok());
  EXPECT_FALSE(letters.Enumerate(0, "letter").status().ok());
}

TEST(StagesTest, WindowsAreThoseOfTfData) {
  std::map<std::string, HostTensor> expected = ReadGolden("stages.expected");
  for (const DatasetWindowOptions& o : {DatasetWindowOptions{3, 0, 1, false}, DatasetWindowOptions{3, 1, 2, true},
                                        DatasetWindowOptions{2, 4, 3, false}, DatasetWindowOptions{4, 2, 1, false}}) {
    const std::string name = absl::StrCat("window_", o.size, "_", o.shift > 0 ? o.shift : o.size, "_", o.stride, "_");
    const Dataset d = Dataset::Range(10).Window(o);
    const std::vector<Element> windows = Read(d);
    EXPECT_EQ(d.cardinality(), static_cast<int64_t>(windows.size())) << name;
    EXPECT_EQ(expected.count(absl::StrCat(name, windows.size())), 0u) << name;
    for (size_t i = 0; i < windows.size(); ++i) {
      ASSERT_EQ(expected.count(absl::StrCat(name, i)), 1u) << name << i;
      EXPECT_TRUE(windows[i].components[0].BitEqual(expected[absl::StrCat(name, i)])) << name << i;
    }
  }
  EXPECT_FALSE(Dataset::Range(10).Window({.size = 0}).status().ok());
  EXPECT_FALSE(Dataset::Range(10).Window({.size = 2, .shift = -1}).status().ok());
  EXPECT_FALSE(Dataset::Range(10).Window({.size = 1 << 20, .stride = 1 << 20}).status().ok());
  EXPECT_FALSE(Dataset::Range(10).Batch(2).Window({.size = 2}).status().ok());
}

TEST(StagesTest, ScanCarriesAState) {
  const auto sum = [](const Element& state, const Element& e, Element* next) -> absl::StatusOr<Element> {
    if (First(e) == 4) return absl::InternalError("no four");
    next->components.assign(1, HostTensor::Scalar<int64_t>(First(state) + First(e)));
    return *next;
  };
  const Element zero = {{HostTensor::Scalar<int64_t>(100)}};
  const std::vector<ComponentSpec> spec = {{"sum", DType::kInt64, {}}};
  const Dataset d = Dataset::Range(7).Scan(zero, sum, spec);
  EXPECT_EQ(WithErrors(d.Repeat(2)), (Numbers{100, 101, 103, 106, -1, 111, 117, 100, 101, 103, 106, -1, 111, 117}));
  EXPECT_EQ(Values(d.Take(4).Batch(3).Prefetch(2)), (Numbers{100, 101, 103, 106}));
  EXPECT_EQ(Values(d.Skip(5)), (Numbers{111, 117}));
  for (const Dataset& refused : {d.Shuffle(2), d.Window({.size = 2}), d.Cache(), d.Batch(2).Unbatch(), d.FlatMap(SetOf),
                                 Dataset::Zip({d}).Shuffle(2)}) {
    EXPECT_TRUE(absl::StrContains(refused.status().message(), "cannot follow Scan")) << refused.status();
  }
  const auto other = [](const Element&, const Element& e, Element* next) -> absl::StatusOr<Element> {
    next->components.assign(1, HostTensor::Scalar<float>(1));
    return e;
  };
  Element e;
  bool end = false;
  const absl::Status status = Make(Dataset::Range(7).Scan(zero, other, spec))->GetNext(&e, &end);
  EXPECT_TRUE(absl::StrContains(status.message(), "Scan, element 0 of the source: the function's next state"))
      << status;
  EXPECT_FALSE(Dataset::Range(7).Scan({{HostTensor::String("x")}}, sum, spec).status().ok());
  EXPECT_FALSE(Dataset::Range(7).Scan(zero, nullptr, spec).status().ok());
  EXPECT_FALSE(Dataset::Range(7).Scan(zero, sum, {}).status().ok());
}

TEST(StagesTest, CacheMakesEachElementOnce) {
  std::atomic<int> calls = 0;
  const Dataset d = Dataset::Range(6)
                        .Shuffle(6, {.seed = 1})
                        .Map(
                            [&calls](const Element& e) -> absl::StatusOr<Element> {
                              ++calls;
                              return e;
                            },
                            {.spec = {{"value", DType::kInt64, {}}}})
                        .Cache();
  const Numbers once = Values(d);
  EXPECT_EQ(once.size(), 6u);
  Numbers twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(Values(d.Repeat(2).Prefetch(3)), twice);
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(WithErrors(WithError(5).Cache().Repeat(2)), (Numbers{0, 1, 2, -1, 4, 0, 1, 2, -1, 4}));
  EXPECT_FALSE(Dataset::Range(3).Repeat().Cache().status().ok());
}

absl::StatusOr<std::string> LastDigit(const Element& e) {
  if (First(e) == 17) return absl::InternalError("no key");
  return absl::StrCat(First(e) % 10);
}

TEST(StagesTest, AssertCardinalityMakesTheLengthKnown) {
  const auto all = [](const Element&) -> absl::StatusOr<bool> { return true; };
  const Dataset unknown = Dataset::Range(6).Filter(all);
  const Dataset known = unknown.AssertCardinality(6);
  EXPECT_EQ(unknown.cardinality(), kUnknownCardinality);
  EXPECT_EQ(known.cardinality(), 6);
  EXPECT_EQ(known.Repeat(3).Batch(4).cardinality(), 5);
  EXPECT_EQ(WithErrors(known.Repeat(2)), (Numbers{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}));
  Numbers shuffled = Values(known.Shuffle(20, {.seed = 2}).Prefetch(2));
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, (Numbers{0, 1, 2, 3, 4, 5}));
  // The first that is missing, or one too many, is an error, in each pass.
  EXPECT_EQ(WithErrors(unknown.AssertCardinality(7)), (Numbers{0, 1, 2, 3, 4, 5, -1}));
  EXPECT_EQ(WithErrors(unknown.AssertCardinality(4)), (Numbers{0, 1, 2, 3, -1}));
  EXPECT_EQ(WithErrors(unknown.AssertCardinality(4).Repeat(2)), (Numbers{0, 1, 2, 3, -1, 0, 1, 2, 3, -1}));
  EXPECT_TRUE(absl::StrContains(Dataset::Range(5).AssertCardinality(6).status().message(),
                                "AssertCardinality: the dataset has 5 elements, not 6"));
  EXPECT_TRUE(absl::StrContains(Dataset::Range(5).Repeat().AssertCardinality(6).status().message(),
                                "put AssertCardinality before Repeat"));
  EXPECT_FALSE(unknown.AssertCardinality(-1).status().ok());
}

TEST(StagesTest, DedupeKeepsTheFirstOfEachKey) {
  const Dataset range = Dataset::Range(30);
  EXPECT_EQ(WithErrors(range.Skip(4).Dedupe(LastDigit)), (Numbers{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -1}));
  // Each pass has its own keys.
  EXPECT_EQ(WithErrors(range.Take(12).Dedupe(LastDigit).Repeat(2)),
            (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(WithErrors(range.Repeat(2).Dedupe(LastDigit)), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -1}));
  EXPECT_EQ(WithErrors(WithError(6).Dedupe(LastDigit)), (Numbers{0, 1, 2, -1, 4, 5}));
  // Elements that other stages keep by their places.
  Numbers shuffled = Values(range.Take(12).Dedupe(LastDigit).Shuffle(20, {.seed = 2}).Batch(3).Prefetch(2));
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const Dataset limited = range.Dedupe(LastDigit, {.max_keys = 3});
  std::unique_ptr<Iterator> it = Make(limited);
  EXPECT_EQ(Read(*it, 3).size(), 3u);
  Element e;
  bool end = false;
  const absl::Status status = it->GetNext(&e, &end);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(status.message(), "Dedupe, element 3 of the source: there are more than 3 keys"))
      << status;
  EXPECT_FALSE(range.Dedupe(nullptr).status().ok());
  EXPECT_FALSE(range.Dedupe(LastDigit, {.max_keys = 0}).status().ok());
}

TEST(StagesTest, FromTensorsIsOneElement) {
  const Dataset d =
      Dataset::FromTensors({{"x", HostTensor::FromVector<int64_t>({2}, {3, 4})}, {"s", HostTensor::String("text")}});
  EXPECT_EQ(SpecString(d.spec()), "x:int64[2], s:string[]");
  const std::vector<Element> elements = Read(d.Repeat(2).Batch(2));
  ASSERT_EQ(elements.size(), 1u);
  EXPECT_EQ(elements[0].components[0].values<int64_t>(), (Numbers{3, 4, 3, 4}));
  EXPECT_EQ(elements[0].components[1].string(1), "text");
}

// Squares of every third number below 20, with errors at 6 (which goes on) and 15 (which does not).
absl::Status Squares(int64_t* position, Element* out, bool* end) {
  const int64_t at = *position;
  *end = at >= 20;
  if (at == 15) return absl::DataLossError("stuck");
  *position = at + 3;
  if (at == 6) throw std::runtime_error("six");
  out->components.assign(1, HostTensor::Scalar<int64_t>(at * at));
  return absl::OkStatus();
}

TEST(StagesTest, FromGeneratorGoesOnFromAPosition) {
  const Dataset d = Dataset::FromGenerator(Squares, {{"value", DType::kInt64, {}}});
  EXPECT_EQ(WithErrors(d), (Numbers{0, 9, -1, 81, 144, -1}));
  EXPECT_EQ(WithErrors(d.Repeat(2).Prefetch(3)), (Numbers{0, 9, -1, 81, 144, -1, 0, 9, -1, 81, 144, -1}));
  EXPECT_EQ(WithErrors(d.IgnoreErrors({.max = 2})), (Numbers{0, 9, 81, 144}));
  std::unique_ptr<Iterator> it = Make(d.Skip(2));
  Element e;
  bool end = false;
  absl::Status status = it->GetNext(&e, &end);
  EXPECT_TRUE(absl::StrContains(status.message(), "FromGenerator, position 6: threw std::runtime_error: \"six\""))
      << status;
  const Dataset stands = Dataset::FromGenerator(
      [](int64_t*, Element* out, bool*) {
        out->components.assign(1, HostTensor::Scalar<int64_t>(1));
        return absl::OkStatus();
      },
      {{"value", DType::kInt64, {}}});
  EXPECT_EQ(WithErrors(stands), Numbers{-1});
  const Dataset other = Dataset::FromGenerator(Squares, {{"value", DType::kFloat32, {}}});
  EXPECT_TRUE(absl::StrContains(Make(other)->GetNext(&e, &end).message(), "component 'value' is int64[]"));
  EXPECT_FALSE(Dataset::FromGenerator(nullptr, {{"value", DType::kInt64, {}}}).status().ok());
  EXPECT_FALSE(Dataset::FromGenerator(Squares, {}).status().ok());
}

// An error at the end is the last element's: the dataset has not ended as if all were well.
TEST(StagesTest, AGeneratorThatFailsAndEndsHasFailed) {
  for (const bool throws : {false, true}) {
    const Dataset d = Dataset::FromGenerator(
        [throws](int64_t* position, Element* out, bool* end) -> absl::Status {
          out->components.assign(1, HostTensor::Scalar<int64_t>(*position));
          if (++*position < 3) return absl::OkStatus();
          *end = true;
          if (throws) throw std::runtime_error("the link is down");
          return absl::UnavailableError("the link is down");
        },
        {{"value", DType::kInt64, {}}});
    EXPECT_EQ(WithErrors(d), (Numbers{0, 1, -1})) << throws;
    EXPECT_EQ(WithErrors(d.Prefetch(2)), (Numbers{0, 1, -1})) << throws;
    EXPECT_EQ(WithErrors(d.Shuffle(1)), (Numbers{0, 1, -1})) << throws;
    EXPECT_EQ(WithErrors(d.IgnoreErrors({.max = 1})), (Numbers{0, 1})) << throws;
    std::unique_ptr<Iterator> it = Make(d.Skip(2));
    Element e;
    bool end = false;
    const absl::Status status = it->GetNext(&e, &end);
    EXPECT_TRUE(absl::StrContains(status.message(), "FromGenerator, position 2: ")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "the link is down")) << status;
  }
}

TEST(StagesTest, BadBatchesAreNamed) {
  EXPECT_FALSE(Sequences().PaddedBatch(0).status().ok());
  EXPECT_FALSE(Sequences().Batch(2).PaddedBatch(2).status().ok());
  EXPECT_FALSE(Sequences().PaddedBatch(2, {.padded_shapes = {{"other", {2}}}}).status().ok());
  EXPECT_FALSE(Sequences().PaddedBatch(2, {.padded_shapes = {{"value", {2, 2}}}}).status().ok());
  EXPECT_FALSE(Sequences().PaddedBatch(2, {.padding_values = {{"value", HostTensor::Scalar<float>(1)}}}).status().ok());
  const auto fails = [](const Element& e) -> absl::StatusOr<int64_t> {
    if (e.components[0].num_elements() == 7) return absl::InternalError("no length");
    return 1;
  };
  EXPECT_FALSE(Sequences().BucketBySequenceLength(fails, {2}, {2}).status().ok());
  EXPECT_FALSE(Sequences().BucketBySequenceLength(fails, {2, 2}, {2, 2, 2}).status().ok());
  EXPECT_FALSE(Sequences().BucketBySequenceLength(nullptr, {2}, {2, 2}).status().ok());
  std::unique_ptr<Iterator> it = Make(Sequences().BucketBySequenceLength(fails, {2}, {4, 4}));
  Element e;
  bool end = false;
  const absl::Status status = it->GetNext(&e, &end);
  EXPECT_TRUE(absl::StrContains(status.message(), "BucketBySequenceLength, element 3 of the source: no length"))
      << status;
}

}  // namespace
}  // namespace tandem

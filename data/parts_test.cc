// Parts: batches that are given in parts.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "data/dataset.h"
#include "data/epoch.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using Numbers = std::vector<int64_t>;

absl::StatusOr<Element> Same(const Element& e) { return e; }

TEST(PartsTest, TheLastPartsHaveLessOrNothing) {
  const Dataset parts = Dataset::Range(11).Batch(5).Parts(4);
  EXPECT_EQ(Batches(Read(parts)),
            (std::vector<Numbers>{{0, 1}, {2, 3}, {4}, {}, {5, 6}, {7, 8}, {9}, {}, {10}, {}, {}, {}}));
  EXPECT_EQ(parts.batch_size(), 2);
  EXPECT_EQ(parts.cardinality(), 12);
  EXPECT_EQ(SpecString(parts.spec()), "value:int64[b]");
  EXPECT_EQ(Dataset::Range(11).Batch(5).Repeat().Parts(4).cardinality(), kInfiniteCardinality);
}

TEST(PartsTest, HasTheSizesOfTheFormulaHoweverBatchesAreMade) {
  for (int64_t rows = 1; rows < 10; ++rows) {
    for (int64_t count = 1; count < 7; ++count) {
      const Dataset batch = Dataset::Range(rows).Batch(rows);
      const int64_t size = (rows + count - 1) / count;
      std::vector<Numbers> expected(count);
      for (int64_t i = 0; i < rows; ++i) expected[i / size].push_back(i);
      for (const Dataset& d : {batch, batch.Map(Same), Dataset::Range(rows).PaddedBatch(rows), batch.Parts(1)}) {
        for (const Dataset& parts : {d.Parts(count), d.Parts(count).Prefetch(3)}) {
          EXPECT_EQ(Batches(Read(parts)), expected) << rows << " rows, " << parts.Signature();
        }
      }
    }
  }
}

TEST(PartsTest, OfPartsAreParts) {
  const Dataset batch = Dataset::Range(7).Batch(7);
  const std::vector<Numbers> expected = {{0, 1}, {2, 3}, {4, 5}, {6}};
  EXPECT_EQ(Batches(Read(batch.Parts(2).Parts(2))), expected);
  EXPECT_EQ(Batches(Read(batch.Map(Same).Parts(2).Parts(2))), expected);
  EXPECT_EQ(Values(Read(batch.Parts(3).Unbatch())), (Numbers{0, 1, 2, 3, 4, 5, 6}));
}

// Strings, rows of higher rank, and what has no rows, which is in every part.
TEST(PartsTest, CutsComponentsOfAllKinds) {
  const Dataset rows =
      Dataset::FromTensorSlices({{"x", HostTensor::FromVector<float>({3, 2}, {0, 1, 2, 3, 4, 5})},
                                 {"name", HostTensor::FromStrings({3}, std::vector<std::string>{"a", "", "ccc"})}});
  const auto with_sum = [](const Element& in) -> absl::StatusOr<Element> {
    Element out;
    out.Set("x", in["x"]);
    out.Set("name", in["name"]);
    out.Set("sum", 15.0f);
    return out;
  };
  const std::vector<ComponentSpec> spec = {
      {"x", DType::kFloat32, {kBatch, 2}}, {"name", DType::kString, {kBatch}}, {"sum", DType::kFloat32, {}}};
  for (const Dataset& batch : {rows.Batch(3), rows.Batch(3).Map(with_sum, {.spec = spec})}) {
    const std::vector<Element> parts = Read(batch.Parts(4));
    ASSERT_EQ(parts.size(), 4u);
    for (int64_t i = 0; i < 4; ++i) {
      const std::vector<HostTensor>& c = parts[i].components;
      ASSERT_EQ(c.size(), batch.spec().size());
      EXPECT_EQ(c[0].shape(), (Shape{i < 3, 2}));
      EXPECT_EQ(c[1].shape(), (Shape{i < 3}));
      if (i < 3) {
        EXPECT_EQ(c[0].values<float>()[1], static_cast<float>(2 * i + 1));
        EXPECT_EQ(c[1].string(), std::vector<std::string>({"a", "", "ccc"})[i]);
      }
      if (c.size() > 2) {
        EXPECT_EQ(*c[2].data<float>(), 15.0f);
      }
    }
  }
}

TEST(PartsTest, OnlyPartsThatAreWantedAreMade) {
  std::atomic<int> calls{0};
  const auto count = [&](const Element& e) -> absl::StatusOr<Element> {
    ++calls;
    return e;
  };
  const MapOptions with_spec = {.spec = Dataset::Range(1).spec()};
  const MapOptions of_batch = {.spec = Dataset::Range(1).Batch(1).spec()};
  struct Case {
    Dataset dataset;
    int one_of_four, all;
  };
  const Dataset numbers = Dataset::Range(40);
  for (const Case& c :
       {Case{numbers.Map(count, with_spec).Batch(8).Parts(4), 10, 40},
        Case{numbers.Map(count, with_spec).Batch(8).Shuffle(3).Repeat(2).Parts(4), 20, 80},
        Case{numbers.Batch(8).Map(count, of_batch).Parts(4), 5, 5},  // a function of the batch: once, for all parts
        Case{numbers.Batch(8).Map(count, of_batch).Parts(2).Parts(2), 5, 5}}) {
    for (const Dataset& d : {c.dataset, c.dataset.Prefetch(3), c.dataset.Map(Same, {.num_parallel_calls = 3})}) {
      calls = 0;
      std::unique_ptr<Iterator> it = Make(d);
      it->MakeOnly(4, 1, 1);
      int64_t part = 0;
      for (const Element& e : Read(*it)) {
        EXPECT_EQ(e.components.empty(), part++ % 4 != 1);
        EXPECT_EQ(e.rows(), 2);
      }
      EXPECT_EQ(calls, c.one_of_four) << d.Signature();
      calls = 0;
      Read(d);
      EXPECT_EQ(calls, c.all) << d.Signature();
    }
  }
}

TEST(PartsTest, ParsesExamplesOfItsPartOnly) {
  const Dataset records = Dataset::FromTensorSlices(
      {{"record",
        HostTensor::FromStrings({3}, std::vector<std::string>{ExampleBuilder().Int64("n", 7).Serialize(), "broken",
                                                              ExampleBuilder().Int64("n", 9).Serialize()})}});
  std::unique_ptr<Iterator> it =
      Make(records.Batch(3).ParseExample({FeatureSpec::FixedLen("n", DType::kInt64)}).Parts(3));
  Element e;
  bool end = false;
  ASSERT_TRUE(it->GetNext(&e, &end).ok());
  EXPECT_EQ(e.components[0].values<int64_t>()[0], 7);
  const absl::Status broken = it->GetNext(&e, &end);
  EXPECT_THAT(std::string(broken.message()), HasSubstr("element 1 of the source"));
  ASSERT_TRUE(it->GetNext(&e, &end).ok());
  EXPECT_EQ(e.components[0].values<int64_t>()[0], 9);
}

TEST(PartsTest, AnErrorOfAFunctionIsThatOfAllParts) {
  const auto fails = [](const Element& e) -> absl::StatusOr<Element> {
    if (e.components[0].values<int64_t>()[0] == 4) return absl::DataLossError("four");
    return e;
  };
  std::unique_ptr<Iterator> it =
      Make(Dataset::Range(8).Batch(4).Map(fails, {.spec = Dataset::Range(1).Batch(1).spec()}).Parts(2));
  EXPECT_EQ(Values(Read(*it, 2)), (Numbers{0, 1, 2, 3}));
  Element e;
  bool end = false;
  for (int part = 0; part < 2; ++part) EXPECT_THAT(std::string(it->GetNext(&e, &end).message()), HasSubstr("four"));
  EXPECT_TRUE(it->GetNext(&e, &end).ok());
  EXPECT_TRUE(end);
}

TEST(PartsTest, CountsEpochs) {
  const Dataset ten = Dataset::Range(10);
  EXPECT_EQ(*EpochOf(ten.Batch(4).Repeat().Parts(2)), (EpochLength{6, 1}));
  EXPECT_EQ(*EpochOf(ten.Batch(4).Parts(2)), (EpochLength{6, 1}));
  EXPECT_EQ(*EpochOf(ten.Repeat().Batch(4).Parts(2)), (EpochLength{20, 4}));
}

// Batches that are gathered, and batches that are cut; elements with payloads; a part that is asked for behind others.
std::vector<Dataset> Pipelines(int64_t parts) {
  const Dataset numbers = Dataset::Range(23).Shuffle(9, {.seed = 3});
  const auto odd = [](const Element& e) -> absl::StatusOr<bool> { return e.components[0].values<int64_t>()[0] % 2; };
  return {numbers.Batch(6).Parts(parts),
          numbers.Repeat(2).Batch(6).Parts(parts).Prefetch(5),
          numbers.Batch(6).Map(Same).Repeat(2).Parts(parts),
          numbers.Filter(odd).PaddedBatch(5).Parts(parts).Map(Same, {.num_parallel_calls = 2}),
          numbers.Batch(6).Shuffle(2).Parts(parts).Take(9),
          numbers.Filter(odd).Batch(5).Parts(parts).Shuffle(3).Repeat(2)};
}

TEST(PartsTest, EveryPositionIsRestoredExactly) {
  for (const Dataset& d : Pipelines(4)) {
    const std::vector<Element> all = Read(d);
    for (size_t k = 0; k <= all.size(); ++k) {
      std::unique_ptr<Iterator> first = Make(d), second = Make(d);
      Read(*first, static_cast<int64_t>(k));
      const std::string state = *first->SaveState();
      Read(*second, static_cast<int64_t>(k % 3));
      const absl::Status restored = second->RestoreState(state);
      ASSERT_TRUE(restored.ok()) << restored;
      EXPECT_EQ(*second->SaveState(), state);
      EXPECT_TRUE(BitEqual(Read(*second), {all.begin() + static_cast<int64_t>(k), all.end()})) << d.Signature() << k;
    }
  }
}

// Behind a whole batch a position fits any number of parts. Within one it fits where a part begins at that row.
TEST(PartsTest, PositionsFitOtherNumbersOfParts) {
  const Dataset batches = Dataset::Range(30).Shuffle(7, {.seed = 1}).Batch(8).Prefetch(2);
  const std::vector<int64_t> all = Values(batches);
  for (int64_t from = 1; from <= 9; ++from) {
    for (int64_t to = 1; to <= 9; ++to) {
      const int64_t size = (8 + from - 1) / from, to_size = (8 + to - 1) / to;
      for (int64_t k = 0; k < 4 * from; ++k) {
        std::unique_ptr<Iterator> first = Make(batches.Parts(from)), second = Make(batches.Parts(to));
        const int64_t read = static_cast<int64_t>(Values(Read(*first, k)).size());
        const absl::Status restored = second->RestoreState(*first->SaveState());
        const int64_t rows = k / from == 3 ? 6 : 8;  // of the last batch, which has a size of its own
        const int64_t of_size = rows == 8 ? size : (rows + from - 1) / from;
        const int64_t in_batch = k % from == 0 ? 0 : std::min(rows, k % from * of_size);
        const int64_t new_size = rows == 8 ? to_size : (rows + to - 1) / to;
        const bool fits = from == to || in_batch % new_size == 0 || in_batch == rows;
        ASSERT_EQ(restored.ok(), fits) << from << " -> " << to << " at " << k << ": " << restored;
        if (fits) {
          EXPECT_EQ(Values(Read(*second)), (Numbers{all.begin() + read, all.end()})) << from << " -> " << to;
        } else {
          EXPECT_EQ(restored.code(), absl::StatusCode::kFailedPrecondition);
          EXPECT_THAT(std::string(restored.message()),
                      HasSubstr(absl::StrCat("no part begins there where there are ", to, ";")));
        }
      }
    }
  }
}

TEST(PartsTest, PositionsFitOtherSizesOfBatchesBetweenTwoBatches) {
  const Dataset numbers = Dataset::Range(30).Shuffle(7, {.seed = 1});
  for (int64_t k : {2, 3}) {
    std::unique_ptr<Iterator> first = Make(numbers.Batch(4).Parts(2)), second = Make(numbers.Batch(5).Parts(3));
    const int64_t read = static_cast<int64_t>(Values(Read(*first, k)).size());
    const absl::Status restored = second->RestoreState(*first->SaveState());
    if (k == 2) {
      const std::vector<int64_t> all = Values(numbers);
      ASSERT_TRUE(restored.ok()) << restored;
      EXPECT_EQ(Values(Read(*second)), (Numbers{all.begin() + read, all.end()}));
    } else {
      EXPECT_EQ(restored.code(), absl::StatusCode::kFailedPrecondition);
      EXPECT_THAT(std::string(restored.message()), HasSubstr("the dataset has batches of another size now"));
    }
  }
}

// What a state may claim: the numbers of the part and of the parts, the width and the numbers of the token.
TEST(PartsTest, AStateWithAWrongNumberIsDamaged) {
  const Dataset d = Dataset::Range(30).Batch(4).Parts(3);
  std::unique_ptr<Iterator> it = Make(d);
  Read(*it, 1);
  const std::string state = *it->SaveState();
  const size_t body = state.size() - 8;
  const auto with = [&](size_t back, char value) {
    std::string bytes = state.substr(0, body);
    bytes[body - back] = value;
    const uint64_t checksum = Fingerprint64(bytes);
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(checksum >> (8 * i)));
    return bytes;
  };
  EXPECT_TRUE(Make(d)->RestoreState(with(1, 3)).ok());  // as it was
  // From the end: four rows, their number, the width, the passes, the parts, the part.
  for (const auto& [back, value] : std::vector<std::pair<size_t, char>>{{1, 99}, {5, 5}, {5, 0}, {9, 1}, {10, 3}}) {
    EXPECT_FALSE(Make(d)->RestoreState(with(back, value)).ok()) << back;
  }
}

std::string ErrorOf(const Dataset& d) { return std::string(d.status().message()); }

TEST(PartsTest, WrongArgumentsNameTheLine) {
  EXPECT_THAT(ErrorOf(Dataset::Range(4).Parts(2)),
              AllOf(HasSubstr("parts_test.cc:"), HasSubstr("Parts: the elements are single examples (value:int64[])"),
                    HasSubstr("put Batch before")));
  EXPECT_THAT(ErrorOf(Dataset::Range(4).Batch(2).Parts(0)), HasSubstr("must be between 1 and 268435456, got 0"));
  EXPECT_THAT(ErrorOf(Dataset::Range(4).Batch(2).Parts(-1)), HasSubstr("got -1"));
  const auto sum = [](const Element&) -> absl::StatusOr<Element> { return Element{{HostTensor::Scalar(1.0f)}}; };
  EXPECT_THAT(ErrorOf(Dataset::Range(4).Batch(2).Map(sum, {.spec = {{"sum", DType::kFloat32, {}}}}).Parts(2)),
              HasSubstr("no component has rows that could be parted; the elements are { sum:float32[] }"));
}

TEST(PartsTest, CannotFollowScan) {
  const auto sum = [](const Element& state, const Element& e, Element* next) -> absl::StatusOr<Element> {
    *next = state;
    return e;
  };
  const Dataset scanned = Dataset::Range(6).Scan({{HostTensor::Scalar<int64_t>(0)}}, sum, Dataset::Range(1).spec());
  EXPECT_THAT(ErrorOf(scanned.Batch(2).Parts(2)), HasSubstr("the stage cannot follow Scan"));
  EXPECT_EQ(Values(scanned.Batch(4).Parts(1)), (Numbers{0, 1, 2, 3, 4, 5}));  // nothing is kept
}

TEST(PartsTest, ComponentsOfDifferentLengthsAreAnError) {
  const auto shorter = [](const Element& in) -> absl::StatusOr<Element> {
    Element out;
    out.Set("a", in["value"]);
    out.Set("b", HostTensor::Zeros(DType::kFloat32, {1}));
    return out;
  };
  std::unique_ptr<Iterator> it =
      Make(Dataset::Range(4)
               .Batch(4)
               .Map(shorter, {.spec = {{"a", DType::kInt64, {kBatch}}, {"b", DType::kFloat32, {kBatch}}}})
               .Parts(2));
  Element e;
  bool end = false;
  EXPECT_THAT(std::string(it->GetNext(&e, &end).message()),
              AllOf(HasSubstr("parts_test.cc:"), HasSubstr("the batch of 4 that begins with element 0 of the source"),
                    HasSubstr("component 'b' has 1 rows and 'a' has 4")));
}

}  // namespace
}  // namespace tandem

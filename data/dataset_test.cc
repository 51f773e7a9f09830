// What every stage yields, in which order.
#include "data/dataset.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

using Ints = std::vector<int64_t>;
using IntBatches = std::vector<Ints>;

Ints Iota(int64_t n, int64_t from = 0) {
  Ints v(n);
  std::iota(v.begin(), v.end(), from);
  return v;
}

absl::StatusOr<Element> Square(const Element& in) {
  HostTensor out = in.components[0].Clone();
  for (int64_t i = 0; i < out.num_elements(); ++i) out.data<int64_t>()[i] *= out.data<int64_t>()[i];
  return Element{{out}};
}

TEST(DatasetTest, RangeKnowsItself) {
  Dataset d = Dataset::Range(4);
  EXPECT_EQ(Values(d), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(SpecString(d.spec()), "value:int64[]");
  EXPECT_EQ(d.batch_size(), 0);
  EXPECT_EQ(d.cardinality(), 4);
  EXPECT_EQ(Values(Dataset::Range(0)), Ints());
}

TEST(DatasetTest, EndStaysTheEnd) {
  for (const Dataset& d : {Dataset::Range(1), Dataset::Range(1).Prefetch(3), Dataset::Range(1).Batch(2),
                           Dataset::Range(1).Shuffle(2).Repeat(1)}) {
    std::unique_ptr<Iterator> it = Make(d);
    EXPECT_EQ(Read(*it).size(), 1u);
    EXPECT_EQ(Read(*it).size(), 0u);
    EXPECT_EQ(Read(*it).size(), 0u);
  }
}

TEST(DatasetTest, SlicesAreRowsAndBatchesStackThem) {
  HostTensor x = HostTensor::FromVector<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  HostTensor y = HostTensor::FromVector<int32_t>({3}, {7, 8, 9});
  Dataset d = Dataset::FromTensorSlices({{"x", x}, {"y", y}});
  EXPECT_EQ(SpecString(d.spec()), "x:float32[2], y:int32[]");
  std::vector<Element> rows = Read(d);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[1].components[0].BitEqual(HostTensor::FromVector<float>({2}, {3, 4})));
  EXPECT_TRUE(rows[1].components[1].BitEqual(HostTensor::Scalar<int32_t>(8)));

  Dataset batched = d.Batch(2);
  EXPECT_EQ(SpecString(batched.spec()), "x:float32[b,2], y:int32[b]");
  EXPECT_EQ(batched.batch_size(), 2);
  EXPECT_EQ(batched.cardinality(), 2);
  std::vector<Element> batches = Read(batched);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_TRUE(batches[0].components[0].BitEqual(HostTensor::FromVector<float>({2, 2}, {1, 2, 3, 4})));
  EXPECT_TRUE(batches[1].components[0].BitEqual(HostTensor::FromVector<float>({1, 2}, {5, 6})));
  EXPECT_TRUE(batches[1].components[1].BitEqual(HostTensor::FromVector<int32_t>({1}, {9})));

  Dataset full = d.Batch(2, {.drop_remainder = true});
  EXPECT_EQ(full.cardinality(), 1);
  EXPECT_EQ(Read(full).size(), 1u);
}

TEST(DatasetTest, NoRowsAndRowsWithoutElements) {
  Dataset none = Dataset::FromTensorSlices({{"x", HostTensor(DType::kFloat32, {0, 5})}});
  EXPECT_EQ(none.cardinality(), 0);
  EXPECT_EQ(Read(none.Shuffle(3).Repeat().Batch(2)).size(), 0u);
  std::vector<Element> hollow = Read(Dataset::FromTensorSlices({{"x", HostTensor(DType::kFloat32, {3, 0})}}).Batch(2));
  ASSERT_EQ(hollow.size(), 2u);
  EXPECT_EQ(hollow[0].components[0].shape(), (Shape{2, 0}));
}

TEST(DatasetTest, TakeSkipShard) {
  Dataset d = Dataset::Range(10);
  EXPECT_EQ(Values(d.Take(3)), Iota(3));
  EXPECT_EQ(Values(d.Take(30)), Iota(10));
  EXPECT_EQ(Values(d.Take(-1)), Iota(10));
  EXPECT_EQ(Values(d.Take(0)), Ints());
  EXPECT_EQ(Values(d.Skip(7)), (Ints{7, 8, 9}));
  EXPECT_EQ(Values(d.Skip(10)), Ints());
  EXPECT_EQ(Values(d.Skip(-1)), Ints());
  EXPECT_EQ(Values(d.Repeat().Skip(-1)), Ints());
  EXPECT_EQ(Values(d.Shard(3, 0)), (Ints{0, 3, 6, 9}));
  EXPECT_EQ(Values(d.Shard(3, 2)), (Ints{2, 5, 8}));
  EXPECT_EQ(Values(d.Shard(20, 15)), Ints());
  EXPECT_EQ(Values(d.Skip(1).Shard(2, 1).Take(3)), (Ints{2, 4, 6}));
  for (const Dataset& each : {d.Take(3), d.Take(30), d.Take(0), d.Skip(7), d.Skip(11), d.Skip(-1), d.Shard(3, 0),
                              d.Shard(3, 2), d.Shard(20, 15), d.Skip(1).Shard(2, 1), d.Repeat().Take(25),
                              d.Repeat(3).Skip(4).Batch(4), d.Batch(4, {.drop_remainder = true})}) {
    EXPECT_EQ(each.cardinality(), Read(each).size()) << each.Signature();
  }
}

// The shards of one dataset are disjoint and cover it.
TEST(DatasetTest, ShardsPartition) {
  for (int64_t n : {0, 1, 7, 12}) {
    Ints all;
    for (int i = 0; i < 4; ++i) {
      Ints shard = Values(Dataset::Range(n).Shard(4, i));
      all.insert(all.end(), shard.begin(), shard.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, Iota(n));
  }
}

TEST(DatasetTest, RepeatAndBatchAcrossEpochs) {
  EXPECT_EQ(Values(Dataset::Range(3).Repeat(2)), (Ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(Values(Dataset::Range(3).Repeat(0)), Ints());
  EXPECT_EQ(Values(Dataset::Range(3).Repeat(), 7), (Ints{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(Values(Dataset::Range(2).Repeat(2).Repeat(2)), (Ints{0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(Values(Dataset::Range(0).Repeat()), Ints());
  EXPECT_EQ(Values(Dataset::Range(5).Take(2).Repeat(2)), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(Batches(Read(Dataset::Range(3).Repeat(2).Batch(4))), (IntBatches{{0, 1, 2, 0}, {1, 2}}));
  EXPECT_EQ(Batches(Read(Dataset::Range(3).Batch(2).Repeat(2))), (IntBatches{{0, 1}, {2}, {0, 1}, {2}}));
  EXPECT_EQ(Dataset::Range(3).Repeat().cardinality(), kInfiniteCardinality);
  EXPECT_EQ(Dataset::Range(3).Repeat(INT64_MAX).cardinality(), kInfiniteCardinality);
}

// A pass may be empty by chance: the others still come. An empty dataset stays empty.
TEST(DatasetTest, RepeatGoesOnBehindAnEmptyPass) {
  const auto first_of_each = [](int64_t least) {
    return Dataset::Range(3).Shuffle(3, {.seed = 2}).Take(1).Filter([least](const Element& e) -> absl::StatusOr<bool> {
      return *e.components[0].data<int64_t>() >= least;
    });
  };
  const std::vector<int64_t> all = Values(first_of_each(0).Repeat(9));
  ASSERT_EQ(all.size(), 9u);
  for (int64_t least = 1; least <= 2; ++least) {
    std::vector<int64_t> expected;
    for (int64_t v : all) {
      if (v >= least) expected.push_back(v);
    }
    if (all[0] < least) expected.clear();
    EXPECT_EQ(Values(first_of_each(least).Repeat(9)), expected) << least;
  }
  EXPECT_EQ(all[0], 1);  // so that the first pass is empty in one of the two
  EXPECT_EQ(Values(first_of_each(3).Repeat(INT64_MAX)), std::vector<int64_t>());
}

TEST(DatasetTest, BatchesOfBatches) {
  Dataset d = Dataset::Range(9).Batch(2, {.drop_remainder = true}).Batch(3);
  EXPECT_EQ(SpecString(d.spec()), "value:int64[b,2]");
  std::vector<Element> e = Read(d);
  ASSERT_EQ(e.size(), 2u);
  EXPECT_EQ(e[0].components[0].shape(), (Shape{3, 2}));
  EXPECT_EQ(e[1].components[0].shape(), (Shape{1, 2}));
  EXPECT_EQ(Values(e), Iota(8));
}

TEST(ShuffleTest, IsAPermutationThatLooksAheadByTheBufferOnly) {
  for (int64_t n : {1, 5, 100}) {
    for (int64_t buffer : {1, 2, 10, 100, 1000}) {
      Ints order = Values(Dataset::Range(n).Shuffle(buffer, {.seed = 3}));
      for (int64_t i = 0; i < static_cast<int64_t>(order.size()); ++i) EXPECT_LT(order[i], i + buffer);
      if (buffer == 1) {
        EXPECT_EQ(order, Iota(n));
      } else if (n == 100) {
        EXPECT_NE(order, Iota(n));
      }
      std::sort(order.begin(), order.end());
      EXPECT_EQ(order, Iota(n));
    }
  }
}

// The order is part of what a checkpoint relies on: it must be the same in every build. (These numbers come from a
// simulation of the algorithm in Python.)
TEST(ShuffleTest, OrderIsPinned) {
  EXPECT_EQ(Values(Dataset::Range(10).Shuffle(4, {.seed = 7}).Repeat(2)),
            (Ints{3, 1, 0, 4, 6, 7, 9, 5, 2, 8, 1, 4, 3, 5, 0, 2, 8, 7, 6, 9}));
}

TEST(ShuffleTest, FirstPickIsUniform) {
  std::vector<int> counts(8);
  for (uint64_t seed = 0; seed < 8000; ++seed) ++counts[Values(Dataset::Range(20).Shuffle(8, {.seed = seed}), 1)[0]];
  // 1000 expected, standard deviation 30.
  for (int c : counts) EXPECT_NEAR(c, 1000, 150);
}

TEST(ShuffleTest, SeedAndEpochDecideTheOrder) {
  Dataset d = Dataset::Range(50);
  EXPECT_EQ(Values(d.Shuffle(50, {.seed = 1})), Values(d.Shuffle(50, {.seed = 1})));
  EXPECT_NE(Values(d.Shuffle(50, {.seed = 1})), Values(d.Shuffle(50, {.seed = 2})));
  EXPECT_NE(Values(d.Shuffle(50, {.seed = 1})), Values(d.Shuffle(50, {.seed = 1 + (uint64_t{1} << 32)})));

  Ints two = Values(d.Shuffle(50, {.seed = 1}).Repeat(2));
  Ints first(two.begin(), two.begin() + 50), second(two.begin() + 50, two.end());
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  EXPECT_EQ(first, second);  // epochs do not mix

  Ints same = Values(d.Shuffle(50, {.seed = 1, .reshuffle_each_iteration = false}).Repeat(2));
  EXPECT_EQ(Ints(same.begin(), same.begin() + 50), Ints(same.begin() + 50, same.end()));
  EXPECT_EQ(Values(d.ShuffleAndRepeat(50, 2, {.seed = 1})), two);
}

TEST(ShuffleTest, TwoShufflesWithOneSeedAreIndependent) {
  Dataset d = Dataset::Range(50).Shuffle(50, {.seed = 1});
  Ints once = Values(d), twice = Values(d.Shuffle(50, {.seed = 1}));
  // Were both stages to draw the same numbers, the second would apply the same permutation again.
  Ints squared(50);
  for (int i = 0; i < 50; ++i) squared[i] = once[once[i]];
  EXPECT_NE(twice, squared);
  EXPECT_NE(twice, once);
}

TEST(ShuffleTest, AfterBatchMovesWholeBatches) {
  IntBatches batches = Batches(Read(Dataset::Range(11).Batch(2).Shuffle(4, {.seed = 5})));
  EXPECT_EQ(batches.size(), 6u);
  std::sort(batches.begin(), batches.end());
  EXPECT_EQ(batches, (IntBatches{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10}}));
}

TEST(MapTest, AppliesInOrderAndDescribesTheResult) {
  Dataset d = Dataset::Range(5).Map(Square);
  EXPECT_EQ(Values(d), (Ints{0, 1, 4, 9, 16}));
  EXPECT_EQ(SpecString(d.spec()), "value:int64[]");
  EXPECT_EQ(Values(Dataset::Range(5).Shuffle(5, {.seed = 2}).Map(Square)),
            Values(Dataset::Range(5).Map(Square).Shuffle(5, {.seed = 2})));
}

TEST(MapTest, OfBatchesStaysBatched) {
  Dataset d = Dataset::Range(5).Batch(2).Map(Square);
  EXPECT_EQ(SpecString(d.spec()), "value:int64[b]");
  EXPECT_EQ(d.batch_size(), 2);
  EXPECT_EQ(Batches(Read(d)), (IntBatches{{0, 1}, {4, 9}, {16}}));
}

// Wherever the batch comes from, its rows are not taken for a size that never varies.
TEST(MapTest, KnowsTheRowsOfABatch) {
  const auto same = [](const Element& e) -> absl::StatusOr<Element> { return e; };
  const auto batches = [](const Element&) -> absl::StatusOr<Dataset> { return Dataset::Range(10).Batch(4); };
  const auto key = [](const Element& e) -> absl::StatusOr<std::string> {
    return std::to_string(e.components[0].data<int64_t>()[0]);
  };
  for (const Dataset& d :
       {Dataset::Range(10).Batch(4), Dataset::Range(10).Batch(4).Cache(), Dataset::Range(10).Batch(4).Dedupe(key),
        Dataset::Range(1).FlatMap(batches), Dataset::Range(1).Batch(1).Concatenate(Dataset::Range(9).Batch(1))}) {
    const Dataset mapped = d.Map(same);
    ASSERT_TRUE(mapped.status().ok()) << mapped.status();
    EXPECT_EQ(SpecString(mapped.spec()), "value:int64[b]") << d.Signature();
    EXPECT_EQ(Read(mapped).size(), Read(d).size()) << d.Signature();
  }
}

TEST(MapTest, ChangesComponents) {
  auto split = [](const Element& in) -> absl::StatusOr<Element> {
    int64_t v = *in.components[0].data<int64_t>();
    return Element{{HostTensor::Scalar<float>(v / 2.0f), HostTensor::FromVector<int64_t>({2}, {v, -v})}};
  };
  Dataset d = Dataset::Range(3).Map(split, {.names = {"half", "pair"}}).Batch(3);
  EXPECT_EQ(SpecString(d.spec()), "half:float32[b], pair:int64[b,2]");
  std::vector<Element> e = Read(d);
  ASSERT_EQ(e.size(), 1u);
  EXPECT_TRUE(e[0].components[0].BitEqual(HostTensor::FromVector<float>({3}, {0, 0.5f, 1})));
  EXPECT_TRUE(e[0].components[1].BitEqual(HostTensor::FromVector<int64_t>({3, 2}, {0, 0, 1, -1, 2, -2})));
}

TEST(MapTest, ExplicitSpecAllowsVaryingSizesAndEmptyInput) {
  auto ones = [](const Element& in) -> absl::StatusOr<Element> {
    return Element{{HostTensor::Zeros(DType::kInt64, {*in.components[0].data<int64_t>()})}};
  };
  MapOptions options{.spec = {{"zeros", DType::kInt64, {-1}}}};
  std::vector<Element> e = Read(Dataset::Range(4).Map(ones, options));
  ASSERT_EQ(e.size(), 4u);
  EXPECT_EQ(e[3].components[0].shape(), (Shape{3}));
  EXPECT_EQ(Read(Dataset::Range(0).Map(ones, options)).size(), 0u);
}

TEST(MapTest, IsNotCalledForElementsThatAreNotDelivered) {
  int calls = 0;
  auto count = [&calls](const Element& in) -> absl::StatusOr<Element> {
    ++calls;
    return in;
  };
  Dataset d = Dataset::Range(100).Map(count, {.spec = {{"value", DType::kInt64, {}}}}).Shuffle(50).Skip(10).Take(5);
  EXPECT_EQ(Read(d).size(), 5u);
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace tandem

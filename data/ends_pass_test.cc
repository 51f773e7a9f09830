// Iterator::ends_pass, compared with a model that knows of which pass each example is.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "data/dataset.h"
#include "data/test_util.h"
#include "gtest/gtest.h"

namespace tandem {
namespace {

absl::StatusOr<Element> Same(const Element& e) { return e; }

// The next elements, each as its values, with a bar behind those that end a pass: "0 1 2|3 4".
std::string Passes(Iterator& it, int64_t limit = 1000) {
  std::string out;
  for (int64_t i = 0; i < limit; ++i) {
    const std::vector<Element> next = Read(it, 1);
    if (next.empty()) break;
    const std::vector<int64_t> values = Values(next);
    const char last = out.empty() ? '|' : out.back();
    absl::StrAppend(&out, last == '|' ? "" : " ", values.empty() ? "-" : absl::StrJoin(values, ","),
                    it.ends_pass() ? "|" : "");
  }
  return out;
}
std::string Passes(const Dataset& dataset, int64_t limit = 1000) { return Passes(*Make(dataset), limit); }

TEST(EndsPassTest, IsTheLastElementOfAPass) {
  const Dataset five = Dataset::Range(5);
  EXPECT_EQ(Passes(five.Repeat(2)), "0 1 2 3 4|0 1 2 3 4|");
  EXPECT_EQ(Passes(five.Repeat(), 12), "0 1 2 3 4|0 1 2 3 4|0 1");
  EXPECT_EQ(Passes(five), "0 1 2 3 4|");
  EXPECT_EQ(Passes(five.Repeat(2).Repeat(2), 20), "0 1 2 3 4 0 1 2 3 4|0 1 2 3 4 0 1 2 3 4|");
  EXPECT_EQ(Passes(five.Batch(2).Repeat(2).Prefetch(1)), "0,1 2,3 4|0,1 2,3 4|");
  EXPECT_EQ(Passes(five.Repeat(2).Take(7)), "0 1 2 3 4|0 1|");  // cut off
}

TEST(EndsPassTest, BatchesAndPartsEndWhatTheirExamplesEnd) {
  const Dataset five = Dataset::Range(5);
  EXPECT_EQ(Passes(five.Repeat(2).Batch(4)), "0,1,2,3 4,0,1,2|3,4|");
  EXPECT_EQ(Passes(five.Repeat(2).PaddedBatch(5)), "0,1,2,3,4|0,1,2,3,4|");
  EXPECT_EQ(Passes(five.Repeat(3).Batch(4, {.drop_remainder = true})), "0,1,2,3 4,0,1,2|3,4,0,1|");
  EXPECT_EQ(Passes(five.Batch(4).Repeat(2).Parts(2)), "0,1 2,3 4 -|0,1 2,3 4 -|");
  EXPECT_EQ(Passes(five.Repeat(2).Batch(4).Parts(2)), "0,1 2,3 4,0 1,2|3 4|");
  EXPECT_EQ(Passes(five.Repeat(2).Batch(5).Filter([](const Element& e) -> absl::StatusOr<bool> { return true; })),
            "0,1,2,3,4|0,1,2,3,4|");
}

TEST(EndsPassTest, WhatIsDroppedEndsNothing) {
  const auto small = [](const Element& e) -> absl::StatusOr<bool> { return e.components[0].values<int64_t>()[0] < 3; };
  const auto large = [](const Element& e) -> absl::StatusOr<bool> { return e.components[0].values<int64_t>()[0] > 1; };
  const Dataset five = Dataset::Range(5);
  EXPECT_EQ(Passes(five.Repeat(2).Filter(small)), "0 1 2|0 1 2|");
  EXPECT_EQ(Passes(five.Repeat(2).Filter(large)), "2 3 4|2 3 4|");
  EXPECT_EQ(Passes(five.Repeat(2).Filter(small).Batch(2)), "0,1 2,0|1,2|");
  EXPECT_EQ(Passes(five.Repeat(3).Shard(2, 0)), "0 2 4|1 3|0 2 4|");
}

TEST(EndsPassTest, OfDatasetsThatArePutTogether) {
  const Dataset three = Dataset::Range(3);
  const auto twice = [](const Element& e) -> absl::StatusOr<Dataset> { return Dataset::Range(2); };
  EXPECT_EQ(Passes(three.Repeat(2).FlatMap(twice)), "0 1 0 1 0 1|0 1 0 1 0 1|");
  EXPECT_EQ(Passes(three.FlatMap(twice).Repeat(2)), "0 1 0 1 0 1|0 1 0 1 0 1|");
  EXPECT_EQ(Passes(three.Repeat(2).Concatenate(three)), "0 1 2 0 1 2 0 1 2|");
  EXPECT_EQ(Passes(three.Concatenate(three).Repeat(2)), "0 1 2 0 1 2|0 1 2 0 1 2|");
  EXPECT_EQ(Passes(three.Repeat(2).Cache()), "0 1 2 0 1 2|");
  EXPECT_EQ(Passes(three.Cache().Repeat(2)), "0 1 2|0 1 2|");
  const Dataset other = Dataset::Range(9).Map(Same, {.names = {"other"}});
  EXPECT_EQ(Passes(Dataset::Zip({three.Repeat(2), other})), "0 1 2|0 1 2|");
  EXPECT_EQ(Passes(Dataset::Zip({other, three.Repeat(2)})), "0 1 2|3 4 5|");
}

TEST(EndsPassTest, IsFalseBeforeTheFirstElement) {
  for (const Dataset& d : {Dataset::Range(2).Repeat(2), Dataset::Range(2).Repeat(2).Prefetch(2)}) {
    std::unique_ptr<Iterator> it = Make(d);
    EXPECT_FALSE(it->ends_pass());
    Read(*it, 2);
    EXPECT_TRUE(it->ends_pass());
    EXPECT_TRUE(it->ends_pass());  // asked again
    ASSERT_TRUE(it->RestoreState(*it->SaveState()).ok());
    EXPECT_FALSE(it->ends_pass());
    EXPECT_EQ(Values(Read(*it)), (std::vector<int64_t>{0, 1}));
    EXPECT_TRUE(it->ends_pass());
  }
}

TEST(EndsPassTest, AnElementThatIsAnErrorEndsAPassToo) {
  const auto fails = [](const Element& e) -> absl::StatusOr<Element> {
    if (e.components[0].values<int64_t>()[0] == 1) return absl::DataLossError("one");
    return e;
  };
  std::unique_ptr<Iterator> it =
      Make(Dataset::Range(2).Map(fails, {.spec = Dataset::Range(1).spec()}).Repeat(2).Prefetch(1));
  Element e;
  bool end = false;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(it->GetNext(&e, &end).ok(), i % 2 == 0);
    EXPECT_EQ(it->ends_pass(), i % 2 == 1);
  }
}

// Asking looks at the place of the next element and does not make it.
TEST(EndsPassTest, DoesNotMakeTheNextElement) {
  int calls = 0;
  const auto count = [&](const Element& e) -> absl::StatusOr<Element> {
    ++calls;
    return e;
  };
  std::unique_ptr<Iterator> it = Make(Dataset::Range(4).Map(count, {.spec = Dataset::Range(1).spec()}).Repeat(2));
  for (int i = 1; i <= 8; ++i) {
    Read(*it, 1);
    it->ends_pass();
    EXPECT_EQ(calls, i);
  }
}

// An element of the model: its values, and the passes that its examples are of.
struct Item {
  std::vector<int64_t> values;
  std::set<int64_t> passes;
};

struct Modelled {
  Dataset dataset;
  std::vector<Item> items;
  bool infinite = false;
};

// What comes before the last Repeat: as many elements in every pass, whatever their order.
Dataset RandomPass(std::mt19937& rng) {
  auto pick = [&rng](int from, int to) { return std::uniform_int_distribution<int>(from, to)(rng); };
  Dataset d = Dataset::Range(pick(1, 20));
  const int modulus = pick(2, 4);
  const auto some = [modulus](const Element& e) -> absl::StatusOr<bool> {
    return e.components[0].values<int64_t>()[0] % modulus != 1;
  };
  if (pick(0, 3) == 0) d = d.Filter(some);
  if (pick(0, 2) == 0) d = d.Repeat(pick(1, 2));
  if (pick(0, 1) == 0) d = d.Shuffle(pick(1, 9), {.seed = 4});
  if (pick(0, 3) == 0) d = d.Take(pick(1, 12));
  if (pick(0, 2) == 0) d = d.Batch(pick(1, 5));
  if (d.batch_size() > 0 && pick(0, 2) == 0) d = d.Parts(pick(1, 3));
  if (pick(0, 3) == 0) d = d.Prefetch(pick(1, 3));
  return d;
}

Modelled RandomModel(uint32_t seed) {
  std::mt19937 rng(seed);
  auto pick = [&rng](int from, int to) { return std::uniform_int_distribution<int>(from, to)(rng); };
  const Dataset pass = RandomPass(rng);
  const int64_t length = static_cast<int64_t>(Read(pass).size());
  const int count = pick(0, 2) == 0 ? -1 : pick(1, 4);
  Modelled m{.dataset = pass.Repeat(count), .infinite = count < 0};
  for (const Element& e : Read(pass.Repeat(m.infinite ? 100 : count))) {
    m.items.push_back({Values({e}), {static_cast<int64_t>(m.items.size()) / length}});
  }
  for (int stages = pick(0, 5); stages > 0; --stages) {
    const bool batched = m.dataset.batch_size() > 0;
    std::vector<Item> next;
    switch (pick(0, 7)) {
      case 0: {
        if (batched) break;
        const int modulus = pick(2, 5);
        m.dataset = m.dataset.Filter([modulus](const Element& e) -> absl::StatusOr<bool> {
          return e.components[0].values<int64_t>()[0] % modulus != 0;
        });
        std::erase_if(m.items, [modulus](const Item& item) { return item.values[0] % modulus == 0; });
        break;
      }
      case 1: {
        const size_t n = pick(0, 5);
        m.dataset = m.dataset.Skip(static_cast<int64_t>(n));
        m.items.erase(m.items.begin(), m.items.begin() + static_cast<int64_t>(std::min(n, m.items.size())));
        break;
      }
      case 2: {
        const size_t n = pick(1, 60);
        m.dataset = m.dataset.Take(static_cast<int64_t>(n));
        if (n < m.items.size()) {
          m.items.resize(n);
          m.infinite = false;
        }
        break;
      }
      case 3: {
        const int shards = pick(1, 3), index = pick(0, shards - 1);
        m.dataset = m.dataset.Shard(shards, index);
        for (size_t i = index; i < m.items.size(); i += shards) next.push_back(m.items[i]);
        m.items = std::move(next);
        break;
      }
      case 4: {
        if (batched) break;
        const size_t size = pick(1, 7);
        const bool drop = m.dataset.cardinality() < 0 && pick(0, 1), padded = pick(0, 2) == 0;
        m.dataset = padded ? m.dataset.PaddedBatch(static_cast<int64_t>(size), {.drop_remainder = drop})
                           : m.dataset.Batch(static_cast<int64_t>(size), {.drop_remainder = drop});
        for (size_t i = 0; i < m.items.size(); ++i) {
          if (i % size == 0) next.emplace_back();
          next.back().values.push_back(m.items[i].values[0]);
          next.back().passes.insert(m.items[i].passes.begin(), m.items[i].passes.end());
        }
        if (drop && !next.empty() && next.back().values.size() < size) next.pop_back();
        m.items = std::move(next);
        break;
      }
      case 5: {
        if (!batched) break;
        const size_t parts = pick(1, 4);
        m.dataset = m.dataset.Parts(static_cast<int64_t>(parts));
        for (const Item& item : m.items) {
          const size_t size = (item.values.size() + parts - 1) / parts;
          for (size_t p = 0; p < parts; ++p) {
            const auto at = [&](size_t i) { return item.values.begin() + std::min(i * size, item.values.size()); };
            next.push_back({{at(p), at(p + 1)}, item.passes});
          }
        }
        m.items = std::move(next);
        break;
      }
      case 6:
        m.dataset = m.dataset.Map(Same, {.num_parallel_calls = pick(1, 2), .spec = m.dataset.spec()});
        break;
      case 7:
        m.dataset = m.dataset.Prefetch(pick(1, 4));
        break;
    }
  }
  return m;
}

// Whether each element is the last that has something of one of its passes.
std::vector<bool> EndsOf(const std::vector<Item>& items) {
  std::vector<bool> ends(items.size());
  std::set<int64_t> later;
  for (size_t i = items.size(); i-- > 0;) {
    for (const int64_t pass : items[i].passes) ends[i] = later.insert(pass).second || ends[i];
  }
  return ends;
}

TEST(EndsPassTest, AgreesWithTheModelOverRandomPipelines) {
  int pipelines = 1000;
  if (const char* wanted = std::getenv("TANDEM_PIPELINES"); wanted != nullptr) {
    ASSERT_TRUE(absl::SimpleAtoi(wanted, &pipelines)) << wanted;
  }
  int64_t ended = 0, compared = 0;
  for (int p = 0; p < pipelines && !HasFailure(); ++p) {
    const Modelled m = RandomModel(p);
    ASSERT_TRUE(m.dataset.status().ok()) << m.dataset.status();
    SCOPED_TRACE(absl::StrCat("pipeline ", p, ": ", m.dataset.Signature()));
    const std::vector<bool> ends = EndsOf(m.items);
    // The model of what has no end is cut off somewhere.
    const size_t known = std::min<size_t>(m.infinite ? m.items.size() / 2 : m.items.size(), 150);
    std::mt19937 rng(p);
    const auto coin = [&rng] { return std::uniform_int_distribution<int>(0, 1)(rng) == 0; };
    const size_t cut = std::uniform_int_distribution<size_t>(0, known)(rng);
    std::unique_ptr<Iterator> it = Make(m.dataset), never_asked = Make(m.dataset);
    for (size_t i = 0; i < known && !HasFailure(); ++i) {
      if (i == cut) {
        // Asking changes no position, and a position needs no more than it has.
        const std::string state = *it->SaveState();
        EXPECT_EQ(state, *never_asked->SaveState());
        it = Make(m.dataset);
        ASSERT_TRUE(it->RestoreState(state).ok());
      }
      const std::vector<Element> next = Read(*it, 1);
      Read(*never_asked, 1);
      ASSERT_EQ(next.size(), 1u) << i;
      EXPECT_EQ(Values(next), m.items[i].values) << i;
      if (coin()) continue;  // not every element is asked about
      EXPECT_EQ(it->ends_pass(), ends[i]) << "element " << i << " of " << m.items.size();
      ended += ends[i];
      ++compared;
    }
    if (known == m.items.size() && !m.infinite) {
      EXPECT_TRUE(Read(*it).empty());
    }
  }
  EXPECT_GT(compared, 5 * pipelines);
  EXPECT_GT(ended, pipelines / 2);
}

}  // namespace
}  // namespace tandem

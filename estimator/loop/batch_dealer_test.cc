#include "estimator/loop/batch_dealer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/exit_code.h"
#include "base/logging.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using Rows = std::vector<int64_t>;

std::unique_ptr<BatchDealer> Deal(const Dataset& dataset, int replicas) {
  auto dealer = BatchDealer::Create(dataset, ReplicaShare::OneProcess(replicas));
  EXPECT_TRUE(dealer.ok()) << dealer.status();
  return *std::move(dealer);
}

// The values of each replica in the next round; nothing at the end.
std::vector<Rows> Next(BatchDealer* dealer) {
  BatchRound round;
  auto more = dealer->Next(&round);
  EXPECT_TRUE(more.ok()) << more.status();
  std::vector<Rows> values;
  if (!more.ok() || !*more) return values;
  for (const auto& batch : round.replicas) {
    auto v = batch[0].values<int64_t>();
    values.emplace_back(v.begin(), v.end());
  }
  return values;
}

TEST(BatchDealer, DealsConsecutiveBatches) {
  auto dealer = Deal(Dataset::Range(10).Batch(1), 2);
  for (int64_t i = 0; i < 10; i += 2) EXPECT_EQ(Next(dealer.get()), (std::vector<Rows>{{i}, {i + 1}}));
  EXPECT_TRUE(Next(dealer.get()).empty());
}

TEST(BatchDealer, TheLastRoundHasShortAndEmptyBatches) {
  auto dealer = Deal(Dataset::Range(7).Batch(2), 3);
  EXPECT_EQ(Next(dealer.get()), (std::vector<Rows>{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(Next(dealer.get()), (std::vector<Rows>{{6}, {}, {}}));
  EXPECT_TRUE(Next(dealer.get()).empty());
  EXPECT_EQ(dealer->batches(), 4);
}

TEST(BatchDealer, PeekShowsTheNextRound) {
  auto dealer = Deal(Dataset::Range(12).Batch(2).Prefetch(8), 2);
  EXPECT_EQ(Next(dealer.get()), (std::vector<Rows>{{0, 1}, {2, 3}}));
  BatchRound round;
  while (!dealer->Peek(&round)) std::this_thread::yield();
  ASSERT_EQ(round.replicas.size(), 2u);
  EXPECT_EQ(round.replicas[1][0].values<int64_t>()[1], 7);
  EXPECT_EQ(round.examples, 4);
  EXPECT_EQ(Next(dealer.get()), (std::vector<Rows>{{4, 5}, {6, 7}}));
  EXPECT_EQ(dealer->batches(), 4);
}

TEST(BatchDealer, CoversEveryExampleForAnyNumberOfReplicas) {
  for (int replicas : {1, 2, 3, 4}) {
    auto dealer = Deal(Dataset::Range(1000).Batch(16), replicas);
    int64_t examples = 0;
    BatchRound round;
    while (*dealer->Next(&round)) examples += round.examples;
    EXPECT_EQ(examples, 1000) << replicas;
  }
}

TEST(BatchDealer, ResumesAfterTheRoundsDrawn) {
  const Dataset dataset = Dataset::Range(40).Shuffle(8, {.seed = 3}).Repeat(2).Batch(4).Prefetch(2);
  auto first = Deal(dataset, 2);
  Next(first.get());
  Next(first.get());
  const std::string state = *first->SaveState();
  auto second = Deal(dataset, 2);
  ASSERT_TRUE(second->RestoreState(state).ok());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Next(first.get()), Next(second.get())) << i;
  EXPECT_TRUE(Next(second.get()).empty());
}

TEST(BatchDealer, ARestoredEndStartsAgainOnce) {
  LogCapture log;
  const Dataset dataset = Dataset::Range(4).Batch(2);
  auto first = Deal(dataset, 2);
  Next(first.get());
  auto second = Deal(dataset, 2);
  ASSERT_TRUE(second->RestoreState(*first->SaveState()).ok());
  EXPECT_EQ(Next(second.get()), (std::vector<Rows>{{0, 1}, {2, 3}}));
  EXPECT_TRUE(Next(second.get()).empty());
  EXPECT_TRUE(log.Contains("starting it again"));
}

const std::vector<ComponentSpec> kNumbers = {{"n", DType::kInt64, {kBatch}}};
// Of a batch, all but the multiples of 3.
absl::StatusOr<Element> WithoutThirds(const Element& batch) {
  Rows rest;
  for (const int64_t v : batch.components[0].values<int64_t>()) {
    if (v % 3 != 0) rest.push_back(v);
  }
  return Element{{HostTensor::FromVector<int64_t>({static_cast<int64_t>(rest.size())}, rest)}};
}

// Pipelines whose batches' sizes are known before they are made, and others.
std::vector<Dataset> Pipelines() {
  const auto same = [](const Element& e) -> absl::StatusOr<Element> { return e; };
  const auto odd = [](const Element& e) -> absl::StatusOr<bool> { return e.components[0].data<int64_t>()[0] % 3 != 0; };
  const Dataset shuffled = Dataset::Range(53).Shuffle(8, {.seed = 3}).Repeat(2);
  return {shuffled.Batch(3),
          shuffled.Batch(3).Prefetch(4),
          shuffled.Map(same, {.num_parallel_calls = 2}).Batch(3).Prefetch(2),
          shuffled.Batch(3).Map(same),
          shuffled.Batch(3).Map(WithoutThirds, {.spec = kNumbers, .changes_rows = true}),
          shuffled.Batch(3).Concatenate(Dataset::Range(11).Batch(3)),
          Dataset::Zip({shuffled.Batch(3), Dataset::Range(200).Map(same, {.names = {"other"}}).Batch(3)}),
          shuffled.Filter(odd).Batch(3).Prefetch(2),
          shuffled.Batch(3).Filter(odd)};
}

// What the processes of a group get is what one process gets for the replicas of all.
TEST(BatchDealer, ProcessesGetTheirPartsOfEveryRound) {
  for (const Dataset& dataset : Pipelines()) {
    for (int batches : {1, 2}) {
      ReplicaShare all = ReplicaShare::OneProcess(4);
      all.batches = batches;
      auto one = BatchDealer::Create(dataset, all);
      ASSERT_TRUE(one.ok()) << one.status();
      std::vector<std::unique_ptr<BatchDealer>> parts;
      for (int first : {0, 1, 3}) {
        parts.push_back(*BatchDealer::Create(
            dataset, {.replicas = 4, .first = first, .count = first == 1 ? 2 : 1, .batches = batches}));
      }
      BatchRound whole;
      for (int round = 0; *(*one)->Next(&whole); ++round) {
        size_t replica = 0;
        for (std::unique_ptr<BatchDealer>& part : parts) {
          BatchRound mine;
          ASSERT_TRUE(*part->Next(&mine));
          EXPECT_EQ(mine.rows, whole.rows);
          EXPECT_EQ(mine.examples, whole.examples);
          for (const auto& batch : mine.replicas) {
            EXPECT_TRUE(batch[0].BitEqual(whole.replicas[replica++][0])) << "round " << round;
          }
        }
        EXPECT_EQ(replica, 4u);
        if (round == 1) {  // from a saved position on, whoever saved it
          const std::string state = *parts[round]->SaveState();
          for (auto& part : parts) ASSERT_TRUE(part->RestoreState(state).ok());
        }
      }
      BatchRound none;
      for (std::unique_ptr<BatchDealer>& part : parts) EXPECT_FALSE(*part->Next(&none));
    }
  }
}

// A batch that is accumulated is the one that a larger Batch makes.
TEST(BatchDealer, AccumulatedBatchesAreLargerBatches) {
  for (int replicas : {1, 2, 3}) {
    const Dataset examples = Dataset::Range(47).Shuffle(8, {.seed = 3});
    auto larger = Deal(examples.Batch(6), replicas);
    ReplicaShare share = ReplicaShare::OneProcess(replicas);
    share.batches = 3;
    auto accumulated = *BatchDealer::Create(examples.Batch(2), share);
    EXPECT_EQ(accumulated->batch_size(), 6);
    for (int round = 0; round < 47 / 6; ++round) {
      const std::vector<Rows> want = Next(larger.get());
      EXPECT_EQ(Next(accumulated.get()), want) << "replicas " << replicas << ", round " << round;
      if (want.empty()) break;
    }
  }
}

// What other processes have is not made.
TEST(BatchDealer, OthersBatchesAreNotMade) {
  std::atomic<int> made{0};
  const auto count = [&](const Element& e) -> absl::StatusOr<Element> {
    ++made;
    return e;
  };
  const MapOptions other = {.names = {"other"}};
  const Dataset numbers = Dataset::Range(40);
  struct Case {
    Dataset dataset;
    int calls;
  };
  for (const Case& c :
       {Case{numbers.Map(count).Batch(2), 10}, Case{numbers.Batch(2).Map(count), 5},
        Case{numbers.Batch(2).Map(count, {.changes_rows = true}), 20},
        Case{Dataset::Zip({numbers.Batch(2), numbers.Map(count, other).Batch(2)}).Map(count), 15},
        Case{numbers.Take(20).Batch(2).Map(count).Concatenate(numbers.Skip(20).Map(count).Batch(2)), 3 + 4}}) {
    for (bool threads : {false, true}) {
      made = 0;
      const Dataset dataset = threads ? c.dataset.Prefetch(2) : c.dataset;
      auto dealer = *BatchDealer::Create(dataset, {.replicas = 4, .first = 1, .count = 1});
      while (!Next(dealer.get()).empty()) {
      }
      EXPECT_EQ(made, c.calls) << SpecString(dataset.spec());
    }
  }
}

// The others count on what was drawn.
TEST(BatchDealer, AMapThatChangesTheRowsOfABatchSaysSo) {
  const Dataset dataset = Dataset::Range(8).Batch(4).Map(WithoutThirds, {.spec = kNumbers});
  auto dealer = *BatchDealer::Create(dataset, {.replicas = 2, .first = 1, .count = 1});
  BatchRound round;
  EXPECT_EQ(dealer->Next(&round).status(),
            absl::InvalidArgumentError(
                "the batch of 4 that begins with element 4 of the source: a Map changes its 4 examples, which the "
                "workers that share the input count on, to 3; set MapOptions.changes_rows, or choose examples with "
                "Filter in front of Batch"));
  EXPECT_EQ(Next(Deal(dataset, 2).get()), (std::vector<Rows>{{1, 2}, {4, 5, 7}}));
}

TEST(BatchDealer, ABatchThatAMapMakesLargerSaysSo) {
  const auto twice = [](const Element& batch) -> absl::StatusOr<Element> {
    Rows rows(batch.components[0].values<int64_t>().begin(), batch.components[0].values<int64_t>().end());
    rows.insert(rows.end(), rows.begin(), rows.end());
    return Element{{HostTensor::FromVector<int64_t>({static_cast<int64_t>(rows.size())}, rows)}};
  };
  const Dataset dataset = Dataset::Range(8).Batch(4).Map(twice, {.spec = kNumbers, .changes_rows = true});
  BatchRound round;
  EXPECT_EQ(Deal(dataset, 2)->Next(&round).status(),
            absl::InvalidArgumentError("the dataset gives a batch of 8 examples, and its Batch says at most 4: a Map "
                                       "behind it adds some; put .Unbatch().Batch(4) at the end"));
  EXPECT_EQ(Next(Deal(dataset.Unbatch().Batch(4), 2).get()), (std::vector<Rows>{{0, 1, 2, 3}, {0, 1, 2, 3}}));
}

TEST(BatchDealer, AnotherPipelinesStateIsRefused) {
  auto first = Deal(Dataset::Range(4).Batch(2), 1);
  auto second = Deal(Dataset::Range(5).Batch(2), 1);
  EXPECT_EQ(second->RestoreState(*first->SaveState()).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(BatchDealer, ANumberOfABatchCannotBeAccumulated) {
  const auto first = [](const Element& batch) -> absl::StatusOr<Element> {
    return Element{{HostTensor::Scalar<int64_t>(batch.components[0].data<int64_t>()[0])}};
  };
  const Dataset dataset = Dataset::Range(4).Batch(2).Map(first, {.spec = {{"first", DType::kInt64, {}}}});
  ReplicaShare share = ReplicaShare::OneProcess(1);
  share.batches = 2;
  EXPECT_THAT(std::string(BatchDealer::Create(dataset, share).status().message()),
              HasSubstr("the dataset's component 'first' has no rows of examples"));
}

TEST(BatchDealer, WantsBatches) {
  auto dealer = BatchDealer::Create(Dataset::Range(4), {});
  EXPECT_THAT(std::string(dealer.status().message()), HasSubstr(".Batch("));
}

TEST(BatchDealer, TellsTheTraceOfTheStages) {
  auto dealer = Deal(Dataset::Range(4).Batch(2), 1);
  Next(dealer.get());
  const std::string args = dealer->TraceArgs();
  EXPECT_THAT(args, HasSubstr("\"elements\":"));
  EXPECT_THAT(args, HasSubstr("\"slowest\":\"the "));
  EXPECT_THAT(args, HasSubstr("\"busy_seconds\":{\"0 Range ("));
  EXPECT_EQ(args.back(), '}');  // of busy_seconds: those of the whole are the trace's
}

TEST(BatchDealer, LabelsOutOfRangeAreBadData) {
  const Dataset dataset =
      Dataset::FromTensorSlices({{"label", HostTensor::FromVector<int32_t>({4}, {0, 9, 3, 10})}}).Batch(2);
  auto dealer = Deal(dataset, 1);
  dealer->set_label_ranges({{"label", 10}});
  BatchRound round;
  EXPECT_TRUE(dealer->Next(&round).ok());
  const absl::Status status = dealer->Next(&round).status();
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_THAT(std::string(status.message()), HasSubstr("label 10 in row 1"));
  EXPECT_FALSE(CheckLabels(HostTensor::FromVector<int64_t>({1}, {-1}), {"y", 10}).ok());
  EXPECT_TRUE(CheckLabels(HostTensor::FromVector<float>({1}, {77}), {"y", 10}).ok());
  const HostTensor words = HostTensor::FromVector<int32_t>({2, 3}, {0, 1, 2, 3, 40, 5});
  EXPECT_THAT(std::string(CheckLabels(words, {"words", 10, /*table=*/true}).message()),
              HasSubstr("index 40, element 1 of row 1 of its batch"));
}

}  // namespace
}  // namespace tandem

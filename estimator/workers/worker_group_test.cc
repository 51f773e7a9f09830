#include "estimator/workers/worker_group.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/exit_code.h"
#include "estimator/workers/agree_on_parts.h"
#include "estimator/workers/share_checkpoint.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/collectives/gather_texts.h"
#include "runtime/collectives/testing/thread_group.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Runs `work` as each rank of a group, in threads; the ranks' statuses.
std::vector<absl::Status> AsWorkers(int size, const std::function<absl::Status(WorkerGroup&)>& work) {
  std::vector<std::string> names;
  for (int r = 0; r < size; ++r) names.push_back(absl::StrCat("rank ", r));
  std::vector<std::unique_ptr<ProcessGroup>> groups = MakeThreadGroups(size);
  std::vector<absl::Status> statuses(size);
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      WorkerGroup workers(groups[r].get(), names);
      statuses[r] = work(workers);
      if (!statuses[r].ok()) groups[r]->Abort(statuses[r]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return statuses;
}

void ExpectAllOk(const std::vector<absl::Status>& statuses) {
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
}

TEST(WorkerGroup, GathersTextsOfDifferentLengths) {
  ExpectAllOk(AsWorkers(3, [](WorkerGroup& workers) {
    const std::string mine(workers.rank() * 3, static_cast<char>('a' + workers.rank()));
    const auto all = workers.Gather(mine, "letters");
    EXPECT_THAT(*all, ElementsAre("", "bbb", "cccccc"));
    return all.status();
  }));
}

TEST(WorkerGroup, GivesTheChiefsText) {
  ExpectAllOk(AsWorkers(4, [](WorkerGroup& workers) {
    const auto text = workers.FromChief(workers.is_chief() ? "the chief's" : "something longer than that", "a text");
    EXPECT_EQ(*text, "the chief's");
    return text.status();
  }));
}

// What a worker says of the length of its text, with nothing behind it.
std::string RefusalOf(int64_t length) {
  const std::vector<absl::Status> statuses = AsWorkers(2, [&](WorkerGroup& workers) -> absl::Status {
    if (workers.rank() == 0) return workers.Gather("abc", "letters").status();
    std::vector<int64_t> lengths(2);
    return workers.group().AllGather(
        {reinterpret_cast<const std::byte*>(&length), sizeof length},
        absl::MakeSpan(reinterpret_cast<std::byte*>(lengths.data()), sizeof length * lengths.size()), "letters");
  });
  EXPECT_TRUE(absl::IsInternal(statuses[0])) << statuses[0];
  return std::string(statuses[0].message());
}

TEST(WorkerGroup, RefusesTextsOfNoLength) {
  EXPECT_EQ(RefusalOf(-5), "letters: rank 1 has a text of -5 bytes, and at most 268435456 can be sent");
  EXPECT_EQ(RefusalOf(int64_t{1} << 40),
            "letters: rank 1 has a text of 1099511627776 bytes, and at most 268435456 can be sent");
}

TEST(WorkerGroup, RefusesATextOfTheChiefsThatIsTooLong) {
  const std::vector<absl::Status> statuses = AsWorkers(2, [](WorkerGroup& workers) -> absl::Status {
    if (!workers.is_chief()) return workers.FromChief("", "a text").status();
    uint64_t length = ~uint64_t{0};
    return workers.group().Broadcast(absl::MakeSpan(reinterpret_cast<std::byte*>(&length), sizeof length), /*root=*/0,
                                     "a text");
  });
  EXPECT_TRUE(absl::IsInternal(statuses[1])) << statuses[1];
  EXPECT_EQ(statuses[1].message(),
            "a text: rank 0 has a text of 18446744073709551615 bytes, and at most 268435456 can be sent");
}

TEST(WorkerGroup, RefusesWhatItDoesNotKnowBetweenSteps) {
  const std::vector<absl::Status> statuses = AsWorkers(2, [](WorkerGroup& workers) -> absl::Status {
    if (!workers.is_chief()) return workers.Meet(WorkerGroup::Wish::kGoOn).status();
    const std::vector<std::byte> mine(16, std::byte{9});
    std::vector<std::byte> all(32);
    return workers.group().AllGather(mine, absl::MakeSpan(all), "meeting between steps");
  });
  EXPECT_TRUE(absl::IsInternal(statuses[1])) << statuses[1];
  EXPECT_EQ(statuses[1].message(),
            "rank 0 says between two steps what this worker does not know; start all with the same program");
}

TEST(WorkerGroup, SaysOnAllWorkersWhatTheyDifferIn) {
  for (const absl::Status& status : AsWorkers(4, [](WorkerGroup& workers) {
         return workers.Agree("target", workers.rank() == 2 ? "cpu:x86-64-v3" : "cpu:znver4", "name one");
       })) {
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_EQ(status.message(),
              "the workers differ in target: rank 0 has { cpu:znver4 } and rank 2 has { cpu:x86-64-v3 }; name one");
  }
  ExpectAllOk(AsWorkers(4, [](WorkerGroup& workers) { return workers.Agree("target", "cpu:znver4", "name one"); }));
}

// What the workers of ranks 0 and 2 are told that have these parts.
std::string DifferenceOf(const NamedParts& chief, const NamedParts& other) {
  std::vector<absl::Status> statuses = AsWorkers(4, [&](WorkerGroup& workers) {
    const NamedParts& mine = workers.rank() >= 2 ? other : chief;
    return AgreeOnParts(
        workers, "the program", workers.rank() >= 2 ? "b" : "a",
        [&] {
          EXPECT_NE(workers.rank(), 1);
          return mine;
        },
        "name one");
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_EQ(status, statuses[0]);
  }
  return std::string(statuses[0].message());
}

TEST(AgreeOnParts, NamesTheFirstThatDiffers) {
  EXPECT_EQ(DifferenceOf({{"batch", "8"}, {"w", "[2]"}, {"b", "[1]"}}, {{"batch", "8"}, {"w", "[3]"}, {"b", "[2]"}}),
            "the workers differ in the program, first in w: rank 0 has { [2] } and rank 2 has { [3] }; name one");
}

TEST(AgreeOnParts, NamesOneThatIsNotThere) {
  const NamedParts more = {{"v", "[1]"}, {"w", "[2]"}, {"x", "[3]"}}, less = {{"v", "[1]"}, {"x", "[3]"}};
  EXPECT_EQ(DifferenceOf(more, less),
            "the workers differ in the program, first in w: rank 0 has { [2] } and rank 2 has { nothing }; name one");
  EXPECT_EQ(DifferenceOf(less, more),
            "the workers differ in the program, first in w: rank 0 has { nothing } and rank 2 has { [2] }; name one");
  EXPECT_EQ(DifferenceOf({{"v", "[1]"}}, {{"v", "[1]"}, {"w", "[2]"}}),
            "the workers differ in the program, first in w: rank 0 has { nothing } and rank 2 has { [2] }; name one");
}

TEST(AgreeOnParts, NamesTheOrder) {
  EXPECT_EQ(DifferenceOf({{"v", "1"}, {"w", "2"}, {"x", "3"}}, {{"v", "1"}, {"x", "3"}, {"w", "2"}}),
            "the workers differ in the program, first in what follows on v: rank 0 has { w: 2 } and rank 2 has { x: 3 "
            "}; name one");
}

TEST(AgreeOnParts, CutsLongTexts) {
  const std::string common = "line\n" + std::string(400, 'c');
  const std::string shown = "line\\x0a" + std::string(195, 'c');
  EXPECT_EQ(DifferenceOf({{"w", common + "1"}}, {{"w", common + "22"}}),
            absl::StrCat("the workers differ in the program, first in w: rank 0 has { ", shown,
                         "... (406 bytes of fingerprint 75f9e16f918df0b3) } and rank 2 has { ", shown,
                         "... (407 bytes of fingerprint ac009ba6b8b24516) }; name one"));
}

TEST(AgreeOnParts, HasTheKeysWhereNoPartDiffers) {
  EXPECT_EQ(DifferenceOf({{"w", "1"}}, {{"w", "1"}}),
            "the workers differ in the program: rank 0 has { a } and rank 2 has { b }; name one");
  EXPECT_EQ(DifferenceOf({}, {}), "the workers differ in the program: rank 0 has { a } and rank 2 has { b }; name one");
}

TEST(AgreeOnParts, AsksForNoPartsOfWhatIsTheSame) {
  ExpectAllOk(AsWorkers(3, [](WorkerGroup& workers) {
    return AgreeOnParts(
        workers, "the program", "a",
        [] {
          ADD_FAILURE();
          return NamedParts();
        },
        "name one");
  }));
}

TEST(WorkerGroup, TakesTheStrongestWishAndItsFirstRank) {
  using Wish = WorkerGroup::Wish;
  const std::vector<Wish> wishes = {Wish::kGoOn, Wish::kStop, Wish::kSignal, Wish::kSignal};
  ExpectAllOk(AsWorkers(4, [&](WorkerGroup& workers) {
    auto met = workers.Meet(Wish::kGoOn);
    EXPECT_EQ(met->wish, Wish::kGoOn);
    met = workers.Meet(workers.rank() == 1 ? Wish::kStop : Wish::kGoOn);
    EXPECT_EQ(met->wish, Wish::kStop);
    EXPECT_EQ(met->from, 1);
    met = workers.Meet(wishes[workers.rank()]);
    EXPECT_EQ(met->wish, Wish::kSignal);
    EXPECT_EQ(met->from, 2);
    return met.status();
  }));
}

TEST(WorkerGroup, RefusesScalarsThatAreNotTheSame) {
  for (const absl::Status& status : AsWorkers(3, [](WorkerGroup& workers) {
         const absl::Status same = workers.Meet(WorkerGroup::Wish::kGoOn, [] { return 7; }).status();
         if (!same.ok()) return same;
         return workers.Meet(WorkerGroup::Wish::kGoOn, [&] { return workers.rank() == 1 ? 8 : 7; }).status();
       })) {
    EXPECT_EQ(ExitCodeFor(status), kExitUsage);
    EXPECT_EQ(status.message(),
              "hooks have set other step scalars at rank 1 than at rank 0; set a learning rate in a hook that all "
              "workers have, from values that are the same on all of them");
  }
}

// The chief evaluates after its second step and at the end; the others join it there.
TEST(WorkerGroup, JoinsTheChiefsEvaluations) {
  ExpectAllOk(AsWorkers(3, [&](WorkerGroup& workers) -> absl::Status {
    using Wish = WorkerGroup::Wish;
    int evaluations = 0, steps = 0;
    const auto evaluate = [&]() -> absl::Status {
      ++evaluations;
      EXPECT_EQ(steps, evaluations == 1 ? 2 : 3);
      EXPECT_NE(workers.evaluating_with_chief(), workers.is_chief());
      return workers.Meet(Wish::kGoOn).status();  // between its steps
    };
    if (!workers.is_chief()) {
      workers.set_on_evaluate([&](uint64_t which) {
        EXPECT_EQ(which, evaluations == 0 ? 7 : 0);  // as it is announced
        return evaluate();
      });
    }
    for (; steps < 3; ++steps) {
      if (steps == 2 && workers.is_chief()) {
        if (absl::Status s = workers.AnnounceEvaluation(7); !s.ok()) return s;
        if (absl::Status s = evaluate(); !s.ok()) return s;
      }
      if (absl::Status s = workers.Meet(Wish::kGoOn).status(); !s.ok()) return s;
    }
    if (workers.is_chief()) {
      if (absl::Status s = workers.AnnounceEvaluation(); !s.ok()) return s;
      if (absl::Status s = evaluate(); !s.ok()) return s;
    }
    const absl::Status end = workers.MeetAtEnd();
    EXPECT_EQ(evaluations, 2);
    EXPECT_FALSE(workers.evaluating_with_chief());
    return end;
  }));
}

TEST(WorkerGroup, RefusesAnEvaluationThatAWorkerKnowsNothingOf) {
  const std::vector<absl::Status> statuses = AsWorkers(2, [](WorkerGroup& workers) {
    if (!workers.is_chief()) return workers.Meet(WorkerGroup::Wish::kGoOn).status();
    absl::Status announced = workers.AnnounceEvaluation();
    return announced.ok() ? workers.Meet(WorkerGroup::Wish::kGoOn).status() : announced;
  });
  EXPECT_THAT(std::string(statuses[1].message()), HasSubstr("call TrainAndEvaluate"));
  EXPECT_EQ(statuses[0], statuses[1]);
}

TEST(WorkerGroup, RefusesLoopsOfDifferentLengths) {
  for (int longer : {0, 1}) {
    const std::vector<absl::Status> statuses = AsWorkers(2, [&](WorkerGroup& workers) {
      return workers.rank() == longer ? workers.Meet(WorkerGroup::Wish::kGoOn).status() : workers.MeetAtEnd();
    });
    EXPECT_FALSE(statuses[1].ok());
    EXPECT_THAT(std::string(statuses[1].message()),
                HasSubstr(longer == 1 ? "and rank 1 has not" : "the chief has not"));
  }
}

TEST(ShareCheckpoint, RefusesTensorsThatThereAreNot) {
  for (const auto& [dtype, shape] : std::vector<std::pair<int, std::string>>{
           {8, "[2]"}, {0, "[2]"}, {99, "[2]"}, {257, "[2]"}, {1, "[2,-3]"}, {1, "[4611686018427387904,4]"}}) {
    const std::vector<absl::Status> statuses = AsWorkers(2, [&](WorkerGroup& workers) -> absl::Status {
      if (!workers.is_chief()) return ShareCheckpoint(workers, std::nullopt).status();
      const std::string header =
          absl::StrCat(R"({"global_step": 1, "seed": 2, "extra": {}, "slots": [], "variables": [{"name": "w", )",
                       R"("dtype": )", dtype, R"(, "shape": )", shape, "}]}");
      return workers.FromChief(header, "the checkpoint's header").status();
    });
    EXPECT_TRUE(absl::IsDataLoss(statuses[1])) << statuses[1];
    EXPECT_EQ(statuses[1].message(), absl::StrCat("the chief's checkpoint has \"w\" of type ", dtype, " and shape ",
                                                  shape, ", and there are no such tensors"));
  }
}

// As of a shuffle buffer of many examples: longer than any other text that workers send.
TEST(ShareCheckpoint, GivesALongPosition) {
  const size_t bytes = kMaxTextBytes + 5;
  ExpectAllOk(AsWorkers(2, [&](WorkerGroup& workers) -> absl::Status {
    std::optional<CheckpointData> data;
    if (workers.is_chief()) {
      data.emplace().iterator_state.assign(bytes, 'x');
      data->iterator_state.replace(bytes - 3, 3, "end");
    }
    const auto shared = ShareCheckpoint(workers, std::move(data));
    if (!shared.ok()) return shared.status();
    const std::string& position = (*shared)->iterator_state;
    EXPECT_EQ(position.size(), bytes);
    EXPECT_EQ(position.find_first_not_of('x'), bytes - 3);
    EXPECT_EQ(position.substr(bytes - 3), "end");
    return absl::OkStatus();
  }));
}

TEST(ShareCheckpoint, RefusesALengthThatCannotBe) {
  for (const char* length : {"-1", "1.5", "\"8\"", "18446744073709551615", "4611686018427387904"}) {
    const std::vector<absl::Status> statuses = AsWorkers(2, [&](WorkerGroup& workers) -> absl::Status {
      if (!workers.is_chief()) return ShareCheckpoint(workers, std::nullopt).status();
      const std::string header =
          absl::StrCat(R"({"global_step": 1, "seed": 2, "extra": {}, "slots": [], "attachments": [], )",
                       R"("variables": [], "position_bytes": )", length, "}");
      return workers.FromChief(header, "the checkpoint's header").status();
    });
    EXPECT_TRUE(absl::IsDataLoss(statuses[1])) << statuses[1];
    EXPECT_THAT(std::string(statuses[1].message()), HasSubstr(length));
  }
}

TEST(ShareCheckpoint, GivesAllWorkersTheChiefsBits) {
  ExpectAllOk(AsWorkers(3, [](WorkerGroup& workers) -> absl::Status {
    std::optional<CheckpointData> data;
    if (workers.is_chief()) {
      data.emplace();
      data->global_step = 17;
      data->seed = ~uint64_t{0};
      data->iterator_state = std::string("\0\xff position", 11);
      data->extra = {{"best", "{\"loss\": 1}"}};
      data->variables["dense/kernel"] = HostTensor::FromVector<float>({2, 2}, {1, -0.0f, 3e-42f, 4});
      data->variables["empty"] = HostTensor::Zeros(DType::kFloat32, {0, 3});
      data->slots["dense/kernel/Adam"] = HostTensor::FromVector<double>({1}, {0.1});
    }
    auto shared = ShareCheckpoint(workers, std::move(data));
    if (!shared.ok()) return shared.status();
    EXPECT_TRUE(shared->has_value());
    const CheckpointData& got = **shared;
    EXPECT_EQ(got.global_step, 17);
    EXPECT_EQ(got.seed, ~uint64_t{0});
    EXPECT_EQ(got.iterator_state, std::string("\0\xff position", 11));
    EXPECT_EQ(got.extra.at("best"), "{\"loss\": 1}");
    EXPECT_EQ(got.variables.size(), 2);
    EXPECT_TRUE(
        got.variables.at("dense/kernel").BitEqual(HostTensor::FromVector<float>({2, 2}, {1, -0.0f, 3e-42f, 4})));
    EXPECT_EQ(got.variables.at("empty").shape(), (Shape{0, 3}));
    EXPECT_TRUE(got.slots.at("dense/kernel/Adam").BitEqual(HostTensor::FromVector<double>({1}, {0.1})));
    // And none.
    shared = ShareCheckpoint(workers, std::nullopt);
    EXPECT_FALSE(shared->has_value());
    return shared.status();
  }));
}

}  // namespace
}  // namespace tandem

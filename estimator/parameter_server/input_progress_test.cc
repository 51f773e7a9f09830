#include "estimator/parameter_server/input_progress.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

using google::protobuf::RepeatedPtrField;
using parameters::Progress;

parameters::Hello HelloOf(int64_t rank, uint64_t process, int64_t training = 1, int64_t updates = 0) {
  parameters::Hello hello;
  hello.set_rank(rank);
  hello.set_process(process);
  hello.set_training(training);
  hello.set_updates(updates);
  return hello;
}

parameters::Exchange UpdateOf(int64_t number, const std::string& position = "", bool next_too = false) {
  parameters::Exchange exchange;
  exchange.set_update(number);
  exchange.set_position(position);
  exchange.set_next_too(next_too);
  return exchange;
}

Progress ProgressOf(int64_t rank, uint64_t process, int64_t updates) {
  Progress progress;
  progress.set_rank(rank);
  progress.set_process(process);
  progress.set_updates(updates);
  return progress;
}

TEST(InputProgress, CountsTheUpdatesBehindAPosition) {
  InputProgress inputs(3);
  inputs.Greet(HelloOf(1, 7));
  EXPECT_FALSE(inputs.Exact(1));
  inputs.Update(1, UpdateOf(1, "a", /*next_too=*/true));
  EXPECT_TRUE(inputs.Exact(1));
  inputs.Update(1, UpdateOf(2, "b"));
  EXPECT_FALSE(inputs.Exact(1));  // what comes before the next answer may be without
  EXPECT_EQ(inputs.All(true)[0].behind(), 0);
  inputs.Update(1, UpdateOf(3));
  inputs.Update(1, UpdateOf(4));
  EXPECT_EQ(inputs.All(true)[0].position(), "b");
  EXPECT_EQ(inputs.All(true)[0].behind(), 2);
  EXPECT_EQ(inputs.All(true)[0].updates(), 4);
  EXPECT_EQ(inputs.All(false)[0].position(), "");
  parameters::Leave leave;
  leave.set_position("c");
  inputs.Leave(1, leave);
  EXPECT_EQ(inputs.All(true)[0].position(), "c");
  EXPECT_EQ(inputs.All(true)[0].behind(), 0);
}

TEST(InputProgress, UpdatesUpToANumber) {
  InputProgress inputs(3);
  inputs.Greet(HelloOf(1, 7));
  inputs.Update(1, UpdateOf(5));
  EXPECT_TRUE(inputs.Reached(ProgressOf(1, 7, 5)));
  EXPECT_FALSE(inputs.Reached(ProgressOf(1, 7, 6)));
  EXPECT_TRUE(inputs.Reached(ProgressOf(1, 8, 6)));  // of another process, which is gone
  EXPECT_TRUE(inputs.Reached(ProgressOf(2, 7, 6)));  // of one that is not known
  RepeatedPtrField<Progress> until;
  *until.Add() = ProgressOf(1, 7, 6);
  EXPECT_TRUE(InputProgress::Asked(until, 1, 6));
  EXPECT_FALSE(InputProgress::Asked(until, 1, 7));
  EXPECT_FALSE(InputProgress::Asked(until, 2, 1));
}

const auto kNobody = [](int64_t) { return false; };
const auto kAll = [](int64_t) { return true; };

TEST(InputProgress, AllStartAgainWhereNothingIsLeftOfAny) {
  InputProgress inputs(3);
  for (int64_t rank : {0, 1, 2}) inputs.Greet(HelloOf(rank, 7));
  EXPECT_EQ(inputs.AtEnd(0, kAll), std::nullopt);
  EXPECT_EQ(inputs.AtEnd(1, kAll), std::nullopt);
  EXPECT_EQ(inputs.AtEnd(2, kAll), true);
  inputs.Update(2, UpdateOf(1));  // before the others ask again
  EXPECT_EQ(inputs.AtEnd(0, kAll), true);
  EXPECT_EQ(inputs.AtEnd(1, kAll), true);
  EXPECT_EQ(inputs.AtEnd(1, kAll), true);  // its connection was lost; that another has made a step changes nothing
  inputs.Update(1, UpdateOf(1));
  EXPECT_EQ(inputs.AtEnd(1, kAll), false);
}

TEST(InputProgress, NobodyStartsAgainWhereTheEndIsKept) {
  InputProgress inputs(2);
  for (int64_t rank : {0, 1}) inputs.Greet(HelloOf(rank, 7));
  EXPECT_EQ(inputs.AtEnd(1, kAll), std::nullopt);
  inputs.set_keep_ends(true);
  EXPECT_EQ(inputs.AtEnd(0, kAll), false);
  EXPECT_EQ(inputs.AtEnd(1, kAll), false);
}

TEST(InputProgress, NobodyStartsAgainWhereSomethingIsLeft) {
  InputProgress inputs(3);
  for (int64_t rank : {0, 1, 2}) inputs.Greet(HelloOf(rank, 7));
  EXPECT_EQ(inputs.AtEnd(0, kAll), std::nullopt);
  inputs.Update(1, UpdateOf(1));
  EXPECT_EQ(inputs.AtEnd(0, kAll), false);
  EXPECT_EQ(inputs.AtEnd(2, kNobody), false);
}

TEST(InputProgress, WhoIsNotThereIsNotWaitedForWithoutEnd) {
  InputProgress inputs(3);
  inputs.Greet(HelloOf(0, 7));
  inputs.Greet(HelloOf(1, 8));
  inputs.Update(1, UpdateOf(1));
  inputs.Greet(HelloOf(1, 8, /*training=*/2, /*updates=*/1));  // what it did in its first training is another matter
  EXPECT_EQ(inputs.AtEnd(0, kAll), std::nullopt);
  EXPECT_EQ(inputs.AtEnd(0, kNobody), true);
}

}  // namespace
}  // namespace tandem

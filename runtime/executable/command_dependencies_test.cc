#include "runtime/executable/command_dependencies.h"

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/commands/command.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CommandDependenciesTest, ReadersFollowWritersAndWritersFollowReaders) {
  ExecutableBuilder b(1, 1, 4, 4);
  const int a = b.Step("a", {4}), c = b.Step("c", {4}), d = b.Step("d", {4}), s = b.Scalar("s");
  b.Global();
  b.Copy(s, a);  // 0
  b.Copy(a, c);  // 1
  b.Copy(a, d);  // 2: beside 1
  b.Copy(s, a);  // 3: behind both readers
  b.Copy(a, c);  // 4
  EXPECT_THAT(CommandDependencies(b.index().programs[0]),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), ElementsAre(0, 1, 2), ElementsAre(1, 3)));
}

TEST(CommandDependenciesTest, ValuesThatShareAPlaceDependOnEachOther) {
  ExecutableBuilder b(1, 1, 4, 4);
  const int a = b.Step("a", {64}), inside = b.Step("inside", {4}), s = b.Scalar("s");
  b.index().programs[0].buffers[inside].offset = 128;
  b.Global();
  b.Copy(s, a);
  b.Copy(s, inside);
  b.Copy(a, s);
  EXPECT_THAT(CommandDependencies(b.index().programs[0]), ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0, 1)));
}

TEST(CommandDependenciesTest, ArenasAndVariablesAreApart) {
  ExecutableBuilder b(1, 1, 4, 4);
  const int v = b.Variable("v", {4}), w = b.Variable("w", {4}), step = b.Step("t", {4}),
            microbatch = b.Microbatch("u", {4});
  const int s = b.Scalar("s");
  b.Global();
  for (int to : {v, w, step, microbatch}) b.Copy(s, to);
  EXPECT_THAT(CommandDependencies(b.index().programs[0]), ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), IsEmpty()));
}

TEST(CommandDependenciesTest, CollectivesKeepTheirOrderAndUpdatesFollowTheCheck) {
  ExecutableBuilder b(2, 2, 4, 4);
  const int a = b.Step("a", {4}), c = b.Step("c", {4}), loss = b.Step("loss", {}), v = b.Variable("v", {});
  const int s = b.Scalar("s");
  b.Global();
  b.AllReduce(format::ReduceKind::kSum, {a});  // 0
  b.AllReduce(format::ReduceKind::kSum, {c});  // 1
  b.CheckFinite({a});                          // 2
  b.Copy(s, loss);                             // 3: changes no variable
  b.Copy(s, v);                                // 4
  EXPECT_THAT(CommandDependencies(b.index().programs[0]),
              ElementsAre(IsEmpty(), ElementsAre(0), ElementsAre(0), IsEmpty(), ElementsAre(2)));
}

// All that an order of the commands has to respect, command by command against all others.
std::vector<std::set<uint32_t>> AllPairs(const format::Program& program) {
  const std::vector<std::unique_ptr<Command>> commands = CommandsInOrder(program);
  auto overlap = [&](uint32_t x, uint32_t y) {
    const format::Buffer &a = program.buffers[x], &b = program.buffers[y];
    return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
  };
  auto any = [&](const std::vector<uint32_t>& xs, const std::vector<uint32_t>& ys) {
    for (uint32_t x : xs) {
      for (uint32_t y : ys) {
        if (overlap(x, y)) return true;
      }
    }
    return false;
  };
  std::vector<std::set<uint32_t>> result(commands.size());
  for (uint32_t j = 0; j < commands.size(); ++j) {
    for (uint32_t i = 0; i < j; ++i) {
      if (any(commands[i]->table().outputs, commands[j]->table().inputs) ||
          any(commands[i]->table().outputs, commands[j]->table().outputs) ||
          any(commands[i]->table().inputs, commands[j]->table().outputs)) {
        result[j].insert(i);
      }
    }
  }
  return result;
}

TEST(CommandDependenciesTest, RandomProgramsAgreeWithAllPairs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    ExecutableBuilder b(1, 1, 4, 4);
    format::Program& program = b.index().programs[0];
    for (int i = 0; i < 12; ++i) {
      const int buffer = b.Step("t", {static_cast<int64_t>(random() % 40 + 1)});
      program.buffers[buffer].offset = random() % 64 * 4;
    }
    b.Global();
    for (int i = 0; i < 25; ++i) b.Copy(random() % 12, random() % 12);
    const auto direct = CommandDependencies(program);
    std::vector<std::set<uint32_t>> reached(direct.size());
    for (uint32_t j = 0; j < direct.size(); ++j) {
      for (uint32_t i : direct[j]) {
        reached[j].insert(i);
        reached[j].insert(reached[i].begin(), reached[i].end());
      }
    }
    const auto wanted = AllPairs(program);
    for (uint32_t j = 0; j < direct.size(); ++j) {
      for (uint32_t i : wanted[j]) EXPECT_EQ(reached[j].count(i), 1u) << "round " << round << ": " << i << " " << j;
      for (uint32_t i : direct[j]) EXPECT_EQ(wanted[j].count(i), 1u) << "round " << round << ": " << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace tandem

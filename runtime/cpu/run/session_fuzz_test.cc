// Damaged indices behind correct checksums: what the loader lets through must run, or fail with a status.
#include <random>

#include "gtest/gtest.h"
#include "runtime/testing/executable_builder.h"
#include "runtime/testing/small_programs.h"

namespace tandem {
namespace {

void ChangeBytes(const std::string& good, int runs) {
  auto pool = std::make_shared<ThreadPool>(2);
  auto original = Executable::Parse(good);
  ASSERT_TRUE(original.ok()) << original.status();
  ASSERT_TRUE(TryToRun(*original, pool));
  std::mt19937 rng(1);
  int accepted = 0, ran = 0;
  for (int i = 0; i < runs; ++i) {
    std::string bytes = good;
    for (int k = 1 + rng() % 2; k > 0; --k) {
      size_t at = 32 + rng() % IndexBytes(good);
      switch (rng() % 3) {
        case 0:
          bytes[at] ^= 1 << rng() % 8;
          break;
        case 1:
          bytes[at] = static_cast<char>(rng() % 24);
          break;
        default:
          bytes[at] = static_cast<char>(rng());
      }
    }
    Reseal(bytes);
    auto e = Executable::Parse(bytes);
    if (!e.ok()) continue;
    ++accepted;
    ran += TryToRun(*e, pool);
  }
  EXPECT_GT(accepted, runs / 100);
  EXPECT_LT(accepted, runs);
  EXPECT_GT(ran, 0);
}

TEST(SessionFuzzTest, WhatTheLoaderAcceptsRuns) { ChangeBytes(ProgramOfLibraryCalls(), 6000); }

TEST(SessionFuzzTest, WhatTheLoaderAcceptsRunsWithKernels) { ChangeBytes(ProgramWithKernels(), 4000); }

// As whoever knows the format would: any launch gets another kernel, other operands and other counts.
TEST(SessionFuzzTest, OtherLaunchesRunOrAreRefused) {
  auto pool = std::make_shared<ThreadPool>(2);
  const auto original = Executable::Parse(ProgramWithKernels());
  ASSERT_TRUE(original.ok()) << original.status();
  const std::vector<SegmentData> segments = {{format::SegmentKind::kElfObject, "code", SmallKernels()}};
  std::mt19937 rng(2);
  int accepted = 0;
  constexpr int kRuns = 4000;
  for (int i = 0; i < kRuns; ++i) {
    format::Index index = (*original)->index();
    format::Program& program = index.programs[0];
    const uint32_t buffers = static_cast<uint32_t>(program.buffers.size());
    format::Section& section = program.sections[rng() % 2];
    format::Command& command = section.commands[rng() % section.commands.size()];
    const auto change = [&](std::vector<uint32_t>& list) {
      switch (rng() % 3) {
        case 0:
          if (!list.empty()) list.pop_back();
          break;
        case 1:
          if (!list.empty()) list[rng() % list.size()] = rng() % buffers;
          break;
        default:
          list.push_back(rng() % buffers);
      }
    };
    switch (rng() % 4) {
      case 0:
        change(command.inputs);
        break;
      case 1:
        change(command.outputs);
        break;
      case 2:
        if (auto* launch = command.body.As<format::KernelLaunch>())
          launch->kernel = rng() % 2, launch->count = rng() % 20;
        if (auto* group = command.body.As<format::GroupedLaunch>())
          group->kernel = rng() % 2, group->counts[rng() % 2] = rng() % 20;
        break;
      default:
        if (auto* group = command.body.As<format::GroupedLaunch>()) change(group->args);
        if (rng() % 2) std::swap(index.kernels[0].symbol, index.kernels[1].symbol);
    }
    auto e = Executable::Parse(BuildExecutable(std::move(index), segments));
    if (!e.ok()) continue;
    ++accepted;
    TryToRun(*e, pool);
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, kRuns);
}

}  // namespace
}  // namespace tandem

// The record of a run's steps, and its description.
#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "base/fault_injecting_env.h"
#include "base/logging.h"
#include "estimator/record/run_description.h"
#include "estimator/record/steps_file.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string EmptyDir(const std::string& name) {
  const std::string dir = ::testing::TempDir() + "/record_" + name;
  Env::Default()->DeleteRecursively(dir).IgnoreError();
  EXPECT_TRUE(Env::Default()->CreateDirs(dir).ok());
  return dir;
}

StepBits Bits(int64_t step) {
  return {.loss = 1.0f / static_cast<float>(step + 1), .input = static_cast<uint16_t>(step), .variables = 7};
}

RecordedSteps Read(const std::string& dir) {
  const auto read = ReadRecordedSteps(Env::Default(), dir);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? (*read).value_or(RecordedSteps()) : RecordedSteps();
}

TEST(StepBits, AWordHasAllOfIt) {
  const StepBits bits{.loss = -0.5f, .input = 0xabcd, .variables = 0x1234};
  EXPECT_EQ(bits.Word(), 0x1234abcdbf000000u);
  EXPECT_EQ(StepBits::OfWord(bits.Word()), bits);
  StepBits other = bits;
  EXPECT_EQ(bits.Differences(other), "");
  other.loss = -0.25f;
  other.variables = 0;
  EXPECT_EQ(bits.Differences(other), "the loss (-0.5 against -0.25) and the variables behind it");
}

TEST(StepSampler, SeesAnotherExampleAndAnotherOrder) {
  const StepSampler sampler{VariableStore(1), {}};
  HostTensor rows = HostTensor::Zeros(DType::kFloat32, {4, 100});
  for (int64_t i = 0; i < 400; ++i) rows.data<float>()[i] = static_cast<float>(i);
  const auto hash = [&](const HostTensor& batch, int64_t step) {
    return sampler.OfInput({.replicas = {{batch}}, .rows = {4}, .examples = 4}, step);
  };
  HostTensor swapped = rows.Clone(), changed = rows.Clone();
  for (int64_t i = 0; i < 100; ++i) {
    std::swap(swapped.data<float>()[i], swapped.data<float>()[100 + i]);
    changed.data<float>()[300 + i] += 1;
  }
  EXPECT_EQ(hash(rows, 3), hash(rows.Clone(), 3));
  EXPECT_NE(hash(rows, 3), hash(swapped, 3));
  EXPECT_NE(hash(rows, 3), hash(changed, 3));
  EXPECT_NE(hash(rows, 3), hash(rows, 4)) << "other places in each step";
}

TEST(StepsWriter, ARunThatGoesOnCutsWhatIsBehindItsCheckpoint) {
  const std::string dir = EmptyDir("cut");
  {
    StepsWriter writer(Env::Default(), dir);
    for (int64_t step = 0; step < 9; ++step) writer.Add(step, Bits(step));
  }
  EXPECT_EQ(Read(dir).end(), 9);
  {
    StepsWriter writer(Env::Default(), dir);
    writer.Add(5, Bits(50));
    EXPECT_EQ(Read(dir).end(), 5) << "not yet flushed";
    writer.Flush();
    EXPECT_EQ(Read(dir).end(), 6);
  }
  const RecordedSteps steps = Read(dir);
  EXPECT_EQ(steps.At(4), Bits(4));
  EXPECT_EQ(steps.At(5), Bits(50));
  EXPECT_EQ(steps.At(6), std::nullopt);
  EXPECT_EQ(steps.At(-1), std::nullopt);
}

TEST(StepsWriter, StepsThatLackAreNotRecorded) {
  const std::string dir = EmptyDir("gap");
  StepsWriter writer(Env::Default(), dir);
  writer.Add(100, Bits(1));
  writer.Add(103, Bits(2));
  writer.Flush();
  const RecordedSteps steps = Read(dir);
  EXPECT_EQ(steps.first, 100);
  EXPECT_EQ(steps.end(), 104);
  EXPECT_EQ(steps.At(100), Bits(1));
  EXPECT_EQ(steps.At(101), std::nullopt);
  EXPECT_EQ(steps.At(103), Bits(2));
}

TEST(StepsWriter, AStepFarBehindBeginsAnew) {
  const std::string dir = EmptyDir("far");
  StepsWriter writer(Env::Default(), dir);
  writer.Add(1, Bits(1));
  writer.Add(int64_t{1} << 50, Bits(2));
  writer.Flush();
  EXPECT_EQ(Read(dir).first, int64_t{1} << 50);
  EXPECT_EQ(Read(dir).end(), (int64_t{1} << 50) + 1);
}

TEST(StepsWriter, ATornEndIsLeftOutAndCutByTheNextStart) {
  const std::string dir = EmptyDir("torn"), path = JoinPath(dir, kStepsName);
  {
    StepsWriter writer(Env::Default(), dir);
    for (int64_t step = 0; step < 4; ++step) writer.Add(step, Bits(step));
  }
  const std::string whole = *Env::Default()->ReadFile(path);
  for (const std::string& end : {std::string("abc"), std::string(16, '\0'), std::string(5, '\0')}) {
    ASSERT_TRUE(Env::Default()->WriteFileAtomically(path, whole + end).ok());
    EXPECT_EQ(Read(dir).end(), 4);
    StepsWriter writer(Env::Default(), dir);
    writer.Add(4, Bits(4));
    writer.Flush();
    EXPECT_EQ(Read(dir).end(), 5);
    EXPECT_EQ(*Env::Default()->FileSize(path), static_cast<int64_t>(whole.size()) + 8);
  }
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(path, whole.substr(0, 20)).ok());
  EXPECT_EQ(Read(dir).end(), 0) << "not even the beginning";
}

TEST(StepsWriter, AnotherFileIsAnErrorForReadersAndBegunAnewByWriters) {
  const std::string dir = EmptyDir("other"), path = JoinPath(dir, kStepsName);
  ASSERT_TRUE(Env::Default()->WriteFileAtomically(path, std::string(100, 'x')).ok());
  const absl::Status status = ReadRecordedSteps(Env::Default(), dir).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("steps.bits: is no record of steps"));
  LogCapture log;
  StepsWriter writer(Env::Default(), dir);
  writer.Add(3, Bits(3));
  writer.Flush();
  EXPECT_TRUE(log.Contains("The record of steps begins anew"));
  EXPECT_EQ(Read(dir).At(3), Bits(3));
}

TEST(StepsWriter, AFullDiskIsOneWarning) {
  FaultInjectingEnv env(Env::Default());
  const std::string dir = EmptyDir("full");
  LogCapture log;
  StepsWriter writer(&env, dir);
  writer.Add(0, Bits(0));
  env.FailNth(FileOp::kWrite, 1, ENOSPC, /*sticky=*/true);
  writer.Flush();
  for (int64_t step = 1; step < 2000; ++step) writer.Add(step, Bits(step));
  EXPECT_EQ(log.entries().size(), 1u);
  EXPECT_TRUE(log.Contains("No more steps are recorded; training goes on without"));
}

RunStart Start(int64_t step) {
  return {.step = step,
          .seed = 0xffffffffffffffffu,
          .replicas = 2,
          .batch = 64,
          .fetches = {"dense/MatMul", "loss"},
          .program = "p",
          .data = "d",
          .configuration = {{"precision", "float32"}},
          .numbers = {{"learning_rate", "0.01"}},
          .machine = {{"processor", "x \xff"}}};
}

TEST(RunDescription, IsReadAsItWasWritten) {
  const std::string dir = EmptyDir("description");
  EXPECT_FALSE(ReadRunDescription(Env::Default(), dir)->has_value());
  RunDescription description;
  description.Add(Start(0), {{"the op a", "add of b, at m.cc:1"}});
  ASSERT_TRUE(WriteRunDescription(Env::Default(), dir, description).ok());
  const RunDescription read = **ReadRunDescription(Env::Default(), dir);
  ASSERT_EQ(read.starts.size(), 1u);
  RunStart expected = Start(0);
  expected.machine = {{"processor", "x \xef\xbf\xbd"}};  // JSON has no other bytes
  EXPECT_EQ(read.starts[0], expected);
  EXPECT_EQ(read.programs, description.programs);
  EXPECT_EQ(read.At(7), &read.starts[0]);

  const std::string path = JoinPath(dir, kRunName), text = *Env::Default()->ReadFile(path);
  for (const std::string& damaged :
       {text.substr(0, text.size() / 2),
        absl::StrReplaceAll(text, {{"\"replicas\": 2", "\"replicas\": 1000000000000"}}), std::string("[]"),
        std::string("{}"), std::string("{\"format\": \"tandem-run-1\", \"starts\": [3], \"programs\": {}}")}) {
    ASSERT_TRUE(Env::Default()->WriteFileAtomically(path, damaged).ok());
    EXPECT_EQ(ReadRunDescription(Env::Default(), dir).status().code(), absl::StatusCode::kDataLoss) << damaged;
  }
}

TEST(RunDescription, AStartTakesThePlaceOfLaterOnes) {
  RunDescription description;
  description.Add(Start(0), {});
  description.Add(Start(10), {});
  EXPECT_EQ(description.starts.size(), 1u) << "nothing is other";
  RunStart other = Start(20);
  other.numbers[0].second = "0.02";
  other.program = "q";
  description.Add(other, {{"the op c", "c"}});
  EXPECT_EQ(description.starts.size(), 2u);
  EXPECT_EQ(description.At(19)->program, "p");
  EXPECT_EQ(description.At(20)->program, "q");
  description.Add(Start(15), {});
  EXPECT_EQ(description.starts.size(), 1u);
  EXPECT_FALSE(description.programs.contains("q")) << "of no start any more";
}

TEST(RunDescription, PlacesMakeNoOtherProgram) {
  const Facts a = {{"the op a", "add of b: float32 [b,4], at m.cc:1"}},
              b = {{"the op a", "add of b: float32 [b,4], at m.cc:2"}},
              c = {{"the op a", "mul of b: float32 [b,4], at m.cc:1"}};
  EXPECT_EQ(ProgramFingerprint(a), ProgramFingerprint(b));
  EXPECT_NE(ProgramFingerprint(a), ProgramFingerprint(c));
  EXPECT_THAT(FactDifferences(a, b, "A", "B", /*without_places=*/true), ElementsAre());
  EXPECT_THAT(
      FactDifferences(a, c, "A", "B", /*without_places=*/true),
      ElementsAre("the op a is add of b: float32 [b,4], at m.cc:1 in A and mul of b: float32 [b,4], at m.cc:1 in B"));
  EXPECT_THAT(FactDifferences({{"x", "1"}, {"y", "2"}, {"x", "3"}}, {{"x", "1"}, {"z", "4"}}, "A", "B", false, 2),
              ElementsAre("y is in A only: 2", "z is in B only: 4", "and 1 more"));
}

}  // namespace
}  // namespace tandem

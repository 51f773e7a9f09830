#include "runtime/executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/dtype.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

// A small program: y = x * w per shard, the lanes' losses are summed, all replicas combine them.
fb::ExecutableT SmallExecutable() {
  ExecutableBuilder b(/*replicas=*/2, /*lanes=*/4, /*rows_per_lane=*/3, /*shard_rows=*/2);
  int w = b.Variable("w", {3, 5});
  int x = b.Input("x", {kBatch, 3});
  int y = b.Shard("y", {kBatch, 5});
  int g = b.Lane("g", {3, 5}, fb::ReduceKind::Sum);
  int sum = b.Step("sum", {3, 5});
  b.Map();
  b.MatMul("forward", x, w, y);
  b.MatMulWeightGrad("backward", x, y, g);
  b.Global();
  b.LaneReduce(fb::ReduceKind::Sum, {g}, {sum});
  b.AllReduce(fb::ReduceKind::Sum, {sum});
  b.Output("sum", sum);
  return b.Take();
}

std::vector<SegmentData> SmallSegments() {
  return {{fb::SegmentKind::Constants, "constants", std::string(100, 'c')},
          {fb::SegmentKind::IrText, "ir", "module {}"}};
}

TEST(ExecutableTest, RoundTrip) {
  std::string bytes = BuildExecutable(SmallExecutable(), SmallSegments());
  EXPECT_EQ(bytes, BuildExecutable(SmallExecutable(), SmallSegments()));
  auto e = Executable::Parse(bytes);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ((*e)->constants(), std::string(100, 'c'));
  EXPECT_EQ((*e)->segment(1), "module {}");
  EXPECT_EQ(reinterpret_cast<uintptr_t>((*e)->constants().data()) % 64, 0u);
  EXPECT_EQ((*e)->num_replicas(), 2);
  EXPECT_EQ((*e)->lanes_per_replica(), 2);
  EXPECT_EQ((*e)->rows_per_replica(), 6);
  EXPECT_EQ((*e)->index().programs[0]->sections[0]->steps[0]->name, "forward");
}

TEST(ExecutableTest, LoadsFilesAndNamesThem) {
  std::string path = ::testing::TempDir() + "/a.tdx";
  std::ofstream(path, std::ios::binary) << BuildExecutable(SmallExecutable(), SmallSegments());
  EXPECT_TRUE(Executable::Load(path).ok());
  std::ofstream(path, std::ios::binary | std::ios::app) << "x";
  absl::Status status = Executable::Load(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ExitCodeFor(status), kExitBadData);
  EXPECT_NE(status.message().find(path + ": offset 16"), absl::string_view::npos) << status;
  EXPECT_EQ(Executable::Load(path + ".absent").status().code(), absl::StatusCode::kNotFound);
}

TEST(ExecutableTest, CodeThatOthersCanWriteIsLookedAtButNotRun) {
  const std::string path = ::testing::TempDir() + "/shared.tdx";
  std::ofstream(path, std::ios::binary) << BuildExecutable(SmallExecutable(), SmallSegments());
  for (mode_t mode : {0664, 0666}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const absl::Status status = Executable::Load(path).status();
    EXPECT_EQ(ExitCodeFor(status), kExitIo) << status;
    EXPECT_NE(status.message().find(path + ": holds code"), absl::string_view::npos) << status;
    EXPECT_TRUE(Executable::LoadToLook(path).ok());
  }
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(Executable::Load(path).ok());
}

TEST(ExecutableTest, TheSizeOfAFileIsNotBelieved) {
  const std::string path = ::testing::TempDir() + "/huge.tdx", bytes = BuildExecutable(SmallExecutable(), {});
  for (const std::string& content : {std::string(), bytes}) {
    std::ofstream(path, std::ios::binary) << content;
    ASSERT_EQ(truncate(path.c_str(), off_t{8} << 40), 0);
    const absl::Status status = Executable::Load(path).status();
    EXPECT_EQ(ExitCodeFor(status), kExitBadData) << status;
    EXPECT_NE(status.message().find(path), absl::string_view::npos) << status;
  }
}

TEST(ExecutableTest, EveryFlippedByteIsFound) {
  std::string bytes = BuildExecutable(SmallExecutable(), SmallSegments());
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (char mask : {'\x01', '\x80'}) {
      bytes[i] ^= mask;
      ASSERT_EQ(Executable::Parse(bytes).status().code(), absl::StatusCode::kDataLoss) << "offset " << i;
      bytes[i] ^= mask;
    }
  }
}

TEST(ExecutableTest, EveryTruncationIsFound) {
  std::string bytes = BuildExecutable(SmallExecutable(), SmallSegments());
  for (size_t n = 0; n < bytes.size(); ++n) {
    ASSERT_EQ(Executable::Parse(absl::string_view(bytes.data(), n)).status().code(), absl::StatusCode::kDataLoss) << n;
  }
}

// A damaged index behind correct checksums, as a hostile writer would make it: error or success, never a crash.
TEST(ExecutableTest, ResealedIndexNeverCrashes) {
  const std::string good = BuildExecutable(SmallExecutable(), SmallSegments());
  int rejected = 0;
  for (size_t i = 32; i < 32 + IndexBytes(good); ++i) {
    for (int value : {0, 1, 0x7f, 0xff}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(value);
      Reseal(bytes);
      rejected += !Executable::Parse(bytes).ok();
    }
  }
  EXPECT_GT(rejected, 1000);
}

// Each case breaks one rule; the message must name the field.
TEST(ExecutableTest, SemanticErrorsNameTheField) {
  struct Case {
    const char* field;
    void (*damage)(fb::ExecutableT&);
  };
  const Case cases[] = {
      {"version", [](fb::ExecutableT& e) { e.version = 2; }},
      {"mode", [](fb::ExecutableT& e) { e.mode = "fly"; }},
      {"lanes", [](fb::ExecutableT& e) { e.lanes = 6; }},
      {"shard_rows", [](fb::ExecutableT& e) { e.shard_rows = 0; }},
      {"replicas[1].program", [](fb::ExecutableT& e) { e.replicas[1]->program = 1; }},
      {"variables[0]",
       [](fb::ExecutableT& e) {
         e.variables[0]->shape = {int64_t{1} << 50, 2};
       }},
      {"variables[0]", [](fb::ExecutableT& e) { e.variables[0]->dtype = static_cast<fb::DType>(77); }},
      {"inputs[0]", [](fb::ExecutableT& e) { e.inputs[0]->shape = {3}; }},
      {"outputs[0]", [](fb::ExecutableT& e) { e.outputs[0]->buffer = 99; }},
      {"programs[0].buffers[2]", [](fb::ExecutableT& e) { e.programs[0]->shard_bytes = 8; }},
      {"programs[0].buffers[2]", [](fb::ExecutableT& e) { e.programs[0]->buffers[2]->offset = ~uint64_t{0}; }},
      {"programs[0].buffers[2]", [](fb::ExecutableT& e) { e.programs[0]->buffers[2]->bytes = 39; }},
      {"programs[0].buffers[2]", [](fb::ExecutableT& e) { e.programs[0]->buffers[2]->row_bytes = 0; }},
      {"programs[0].buffers[0]", [](fb::ExecutableT& e) { e.programs[0]->buffers[0]->index = 1; }},
      {"programs[0].lane_bytes", [](fb::ExecutableT& e) { e.programs[0]->lane_bytes = uint64_t{1} << 43; }},
      {"programs[0].lane_slots[0]",
       [](fb::ExecutableT& e) { e.programs[0]->lane_slots[0]->kind = fb::ReduceKind::Moments; }},
      {"sections[0].steps[0].inputs[1]",
       [](fb::ExecutableT& e) { e.programs[0]->sections[0]->steps[0]->inputs[1] = 55; }},
      {"sections[0].steps[0].inputs[0]",
       [](fb::ExecutableT& e) { e.programs[0]->sections[0]->steps[0]->inputs[0] = 3; }},
      {"sections[0].steps[0]",
       [](fb::ExecutableT& e) {
         e.programs[0]->sections[0]->steps[0]->body.AsLibraryCall()->kernel_shape = {4, 5};
       }},
      {"sections[0].steps[0]", [](fb::ExecutableT& e) { e.programs[0]->sections[0]->steps[0]->body.Reset(); }},
      // A residual is an input and lies where the result goes.
      {"sections[0].steps[0]",
       [](fb::ExecutableT& e) { e.programs[0]->sections[0]->steps[0]->body.AsLibraryCall()->adds = true; }},
      {"sections[0].steps[0]",
       [](fb::ExecutableT& e) {
         fb::StepT& step = *e.programs[0]->sections[0]->steps[0];
         step.body.AsLibraryCall()->adds = true;
         step.inputs.push_back(step.inputs[0]);
       }},
      {"sections[0].steps[1]",
       [](fb::ExecutableT& e) { e.programs[0]->sections[0]->steps[1]->body.AsLibraryCall()->adds = true; }},
      {"sections[0].steps[1].outputs[0]",
       [](fb::ExecutableT& e) { e.programs[0]->sections[0]->steps[1]->outputs[0] = 0; }},
      {"sections[0].steps[1].outputs[0]", [](fb::ExecutableT& e) { e.programs[0]->lane_slots.clear(); }},
      {"sections[0]", [](fb::ExecutableT& e) { e.programs[0]->sections[0]->kind = static_cast<fb::SectionKind>(5); }},
      {"sections[1].steps[0]",
       [](fb::ExecutableT& e) {
         e.programs[0]->sections[1]->steps[0]->body.AsLaneReduce()->kind = fb::ReduceKind::Max;
       }},
      // A sum by index needs updates and indices, and no lane slots; a map section has none.
      {"sections[1].steps[0]",
       [](fb::ExecutableT& e) { e.programs[0]->sections[1]->steps[0]->body.Set(fb::ScatterAddT()); }},
      {"sections[0].steps[0]",
       [](fb::ExecutableT& e) { e.programs[0]->sections[0]->steps[0]->body.Set(fb::ScatterAddT()); }},
      {"sections[1].steps[1].collective",
       [](fb::ExecutableT& e) { e.programs[0]->sections[1]->steps[1]->body.AsAllReduce()->collective = 9; }},
      {"sections[1].steps[1].location", [](fb::ExecutableT& e) { e.programs[0]->sections[1]->steps[1]->location = 9; }},
  };
  for (const Case& c : cases) {
    fb::ExecutableT e = SmallExecutable();
    c.damage(e);
    absl::Status status = Executable::Parse(BuildExecutable(std::move(e), SmallSegments()), "f.tdx").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.field;
    EXPECT_NE(status.message().find(c.field), absl::string_view::npos) << c.field << " in: " << status;
    EXPECT_EQ(status.message().substr(0, 7), "f.tdx: ");
  }
}

}  // namespace
}  // namespace tandem

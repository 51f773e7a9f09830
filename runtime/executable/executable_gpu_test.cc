// The semantic check of executables for GPUs.
#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/executable/executable.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

format::GpuSegment Segment(format::Stream stream, std::vector<uint32_t> commands, std::vector<uint32_t> waits) {
  format::GpuSegment segment;
  segment.stream = stream;
  segment.commands = std::move(commands);
  segment.waits = std::move(waits);
  segment.captured = stream == format::Stream::kCompute && segment.commands.size() > 1;
  return segment;
}

// Two replicas, one layer; the first gradient is combined while the second is computed.
format::Index GpuExecutable() {
  ExecutableBuilder b(/*replicas=*/2, /*lanes=*/2, /*rows_per_lane=*/4, /*microbatch_rows=*/4);
  const int w = b.Variable("w", {3, 5}), v = b.Variable("v", {3, 5}), x = b.Input("x", {kBatch, 3});
  const int y = b.Microbatch("y", {kBatch, 5}), z = b.Microbatch("z", {kBatch, 5});
  const int g = b.Step("g", {3, 5}), h = b.Step("h", {3, 5});
  b.Step("small", {2});  // 7
  const int relu = b.Kernel("relu", 0, format::Domain::kRows), sgd = b.Kernel("sgd", 0, format::Domain::kElements);
  for (int k : {relu, sgd}) {
    b.index().kernels[k].gpu = format::GpuLaunch();
    b.index().kernels[k].gpu->block = 128;
    b.index().kernels[k].gpu->items_per_block = 2;
  }
  b.index().kernels[relu].gpu->scratch_bytes = 512;
  b.Map();
  b.MatMul("forward", x, w, y);             // 0
  b.Launch("relu", relu, {y}, {z});         // 1
  b.MatMulWeightGrad("gradient", x, z, g);  // 2
  b.MatMulWeightGrad("gradient", x, y, h);  // 3
  b.Global();
  b.AllReduce(format::ReduceKind::kSum, {g});  // 4
  b.AllReduce(format::ReduceKind::kSum, {h});  // 5
  b.CheckFinite({g, h});                       // 6
  b.Launch("sgd", sgd, {w, g}, {w}, 15);       // 7
  b.Grouped("sgd", sgd, 3, {v, h, v}, {15});   // 8
  format::Index& e = b.index();
  e.target = "cuda sm_90";
  format::Program& p = e.programs[0];
  p.device_class = "gpu";
  p.sections[1].commands.back().inputs = {static_cast<uint32_t>(v), static_cast<uint32_t>(h)};
  p.sections[1].commands.back().outputs = {static_cast<uint32_t>(v)};
  p.sections[0].commands[0].body.As<format::LibraryCall>()->plan = 4;
  p.sections[0].commands[0].body.As<format::LibraryCall>()->workspace_bytes = 1024;
  p.gpu = format::GpuProgram();
  p.gpu->workspace_bytes = 1024;
  using format::Stream;
  p.gpu->segments.push_back(Segment(Stream::kCompute, {0, 1, 2}, {}));
  p.gpu->segments.push_back(Segment(Stream::kCommunication, {4}, {0}));
  p.gpu->segments.push_back(Segment(Stream::kCompute, {3}, {}));
  p.gpu->segments.push_back(Segment(Stream::kCommunication, {5}, {2}));
  p.gpu->segments.push_back(Segment(Stream::kCompute, {6, 7, 8}, {3}));
  for (uint32_t arch : {75, 90}) {
    e.images.push_back(format::GpuImage());
    e.images.back().arch = arch;
    e.images.back().segment = arch == 75 ? 0 : 1;
  }
  return b.Take();
}

std::vector<SegmentData> GpuSegments() {
  return {{format::SegmentKind::kPtx, "sm_75", "ptx"},
          {format::SegmentKind::kPtx, "sm_90", "ptx"},
          {format::SegmentKind::kElfObject, "walk", "elf"},
          {format::SegmentKind::kCudnnPlan, "plan", "{}"}};
}

TEST(GpuExecutableTest, AGoodOneIsTaken) {
  auto parsed = Executable::Parse(BuildExecutable(GpuExecutable(), GpuSegments()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ((*parsed)->index().programs[0].gpu->segments.size(), 5u);
}

// Each case breaks one rule; the message must name the field.
TEST(GpuExecutableTest, SemanticErrorsNameTheField) {
  struct Case {
    const char* message;
    void (*damage)(format::Index&);
  };
  const Case cases[] = {
      {"programs[0].device_class", [](format::Index& e) { e.programs[0].device_class = "tpu"; }},
      {"images", [](format::Index& e) { e.images.clear(); }},
      {"images[1].arch: not ascending", [](format::Index& e) { e.images[1].arch = 75; }},
      {"images[1].segment", [](format::Index& e) { e.images[1].segment = 2; }},
      {"images[1].segment", [](format::Index& e) { e.images[1].segment = 4; }},
      {"lanes", [](format::Index& e) { e.lanes = 4; }},
      {"kernels[0].segment: not that of the first image", [](format::Index& e) { e.kernels[0].segment = 1; }},
      {"kernels[0].segment: not an ELF object", [](format::Index& e) { e.kernels[0].gpu.reset(); }},
      {"kernels[0].gpu.block", [](format::Index& e) { e.kernels[0].gpu->block = 0; }},
      {"kernels[0].gpu.block", [](format::Index& e) { e.kernels[0].gpu->block = 1025; }},
      {"kernels[0].gpu.items_per_block", [](format::Index& e) { e.kernels[0].gpu->items_per_block = 0; }},
      {"kernels[0].gpu.split", [](format::Index& e) { e.kernels[0].gpu->split = 0; }},
      {"kernels[0].gpu.shared_bytes", [](format::Index& e) { e.kernels[0].gpu->shared_bytes = 1 << 20; }},
      {"too many blocks", [](format::Index& e) { e.kernels[0].gpu->split = 1u << 31; }},
      {"workspace", [](format::Index& e) { e.programs[0].gpu->workspace_bytes = 1000; }},
      {"workspace", [](format::Index& e) { e.kernels[0].gpu->scratch_bytes = 2000; }},
      {"programs[0].gpu: a program for GPUs needs a schedule", [](format::Index& e) { e.programs[0].gpu.reset(); }},
      {"command 0.plan",
       [](format::Index& e) { e.programs[0].sections[0].commands[0].body.As<format::LibraryCall>()->plan = 3; }},
      {"command 0: packed weights need 60 bytes",
       [](format::Index& e) {
         e.programs[0].sections[0].commands[0].body.As<format::LibraryCall>()->operation.As<format::MatMul>()->packed =
             true;
         e.programs[0].sections[0].commands[0].inputs[1] = 7;
       }},
      {"segments[3].waits: segment 3 is not issued before",
       [](format::Index& e) { e.programs[0].gpu->segments[3].waits = {3}; }},
      {"segments[3].waits: segment 1 is of the same stream",
       [](format::Index& e) { e.programs[0].gpu->segments[3].waits = {1}; }},
      {"segments[1]: collectives are not captured",
       [](format::Index& e) { e.programs[0].gpu->segments[1].captured = true; }},
      {"segments[2].stream",
       [](format::Index& e) { e.programs[0].gpu->segments[2].stream = static_cast<format::Stream>(7); }},
      {"segments[2].commands: command 2 is in a segment already",
       [](format::Index& e) { e.programs[0].gpu->segments[2].commands = {2}; }},
      {"segments[2].commands: command 9 does not exist",
       [](format::Index& e) { e.programs[0].gpu->segments[2].commands = {9}; }},
      {"segments[2].commands: command 5 is a collective",
       [](format::Index& e) { e.programs[0].gpu->segments[2].commands = {5}; }},
      {"command 3 is in no segment", [](format::Index& e) { e.programs[0].gpu->segments[2].commands = {}; }},
      // Each of these leaves out one edge.
      {"command 1 (relu) does not wait for command 0 (forward)",
       [](format::Index& e) {
         std::swap(e.programs[0].gpu->segments[0].commands[0], e.programs[0].gpu->segments[0].commands[1]);
       }},
      {"does not wait for command 2 (gradient)", [](format::Index& e) { e.programs[0].gpu->segments[1].waits = {}; }},
      {"does not wait for command 3 (gradient)", [](format::Index& e) { e.programs[0].gpu->segments[3].waits = {0}; }},
      {"command 6 (check_finite) does not wait for command 5 (all_reduce)",
       [](format::Index& e) { e.programs[0].gpu->segments[4].waits = {1}; }},
  };
  for (const Case& c : cases) {
    format::Index e = GpuExecutable();
    c.damage(e);
    absl::Status status = Executable::Parse(BuildExecutable(std::move(e), GpuSegments()), "f.tdx").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.message;
    EXPECT_NE(status.message().find(c.message), absl::string_view::npos) << c.message << " in: " << status;
  }
}

TEST(GpuExecutableTest, AProgramForCpusHasNothingOfIt) {
  format::Index e = GpuExecutable();
  e.programs[0].device_class = "cpu";
  EXPECT_FALSE(Executable::Parse(BuildExecutable(std::move(e), GpuSegments())).ok());
}

// A damaged index behind correct checksums: error or success, never a crash; and what is taken has a sound schedule.
TEST(GpuExecutableTest, ResealedIndexNeverCrashes) {
  const std::string good = BuildExecutable(GpuExecutable(), GpuSegments());
  int rejected = 0, taken = 0;
  for (size_t i = 32; i < 32 + IndexBytes(good); ++i) {
    for (int value : {0, 0x7f}) {
      std::string bytes = good;
      bytes[i] = static_cast<char>(value);
      Reseal(bytes);
      (Executable::Parse(bytes).ok() ? taken : rejected)++;
    }
  }
  EXPECT_GT(rejected, 500);
  EXPECT_GT(taken, 100);
}

TEST(GpuExecutableTest, RandomDamageNeverCrashes) {
  const std::string good = BuildExecutable(GpuExecutable(), GpuSegments());
  std::mt19937 random(11);
  int rejected = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    const int changes = 1 + random() % 4;
    for (int c = 0; c < changes; ++c) bytes[32 + random() % IndexBytes(good)] = static_cast<char>(random());
    Reseal(bytes);
    rejected += !Executable::Parse(bytes).ok();
  }
  EXPECT_GT(rejected, 1000);
}

}  // namespace
}  // namespace tandem

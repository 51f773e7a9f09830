#include "runtime/executable/executable.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/exit_code.h"
#include "gtest/gtest.h"
#include "runtime/testing/executable_builder.h"

namespace tandem {
namespace {

// A small program: y = x * w per microbatch, the lanes' losses are summed, all replicas combine them.
format::Index SmallExecutable() {
  ExecutableBuilder b(/*replicas=*/2, /*lanes=*/4, /*rows_per_lane=*/3, /*microbatch_rows=*/2);
  int w = b.Variable("w", {3, 5});
  int x = b.Input("x", {kBatch, 3});
  int y = b.Microbatch("y", {kBatch, 5});
  int g = b.Lane("g", {3, 5}, format::ReduceKind::kSum);
  int sum = b.Step("sum", {3, 5});
  b.Map();
  b.MatMul("forward", x, w, y);
  b.MatMulWeightGrad("backward", x, y, g);
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {g}, {sum});
  b.AllReduce(format::ReduceKind::kSum, {sum});
  b.Output("sum", sum);
  return b.Take();
}

std::vector<SegmentData> SmallSegments() {
  return {{format::SegmentKind::kConstants, "constants", std::string(100, 'c')},
          {format::SegmentKind::kIrText, "ir", "module {}"}};
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
  EXPECT_EQ((*e)->index().programs[0].sections[0].commands[0].name, "forward");
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

// Two kernels: y = f(x, w) over rows, and an update of two variables.
format::Index WithKernels() {
  ExecutableBuilder b(/*replicas=*/1, /*lanes=*/2, /*rows_per_lane=*/3, /*microbatch_rows=*/2);
  const int rows = b.Kernel("rows", 0, format::Domain::kRows),
            update = b.Kernel("update", 1, format::Domain::kElements);
  const int w = b.Variable("w", {5}), v = b.Variable("v", {9}), x = b.Input("x", {kBatch, 3});
  const int rate = b.Scalar("rate");
  const int y = b.Microbatch("y", {kBatch, 5}), g = b.Lane("g", {5}, format::ReduceKind::kSum),
            sum = b.Step("sum", {5});
  const int other = b.Step("other", {9});
  b.Map();
  b.Launch("rows", rows, {x, w}, {y, g});
  b.Global();
  b.LaneReduce(format::ReduceKind::kSum, {g}, {sum});
  b.Launch("update", update, {sum, rate}, {w}, 5);
  b.Grouped("update", update, 3, {sum, rate, w, other, rate, v}, {5, 9});
  b.Output("sum", sum);
  return b.Take();
}

std::vector<SegmentData> KernelSegments() {
  return {{format::SegmentKind::kElfObject, "rows", "one"}, {format::SegmentKind::kElfObject, "update", "another"}};
}

// A launch gives a kernel what its description says; whoever changes one of them must be found out.
TEST(ExecutableTest, LaunchesFitTheirKernels) {
  ASSERT_TRUE(Executable::Parse(BuildExecutable(WithKernels(), KernelSegments())).ok());
  const auto launch = [](format::Index& e) -> format::Command& { return e.programs[0].sections[0].commands[0]; };
  const auto group = [](format::Index& e) -> format::GroupedLaunch& {
    return *e.programs[0].sections[1].commands[2].body.As<format::GroupedLaunch>();
  };
  const std::vector<std::pair<const char*, std::function<void(format::Index&)>>> cases = {
      {"1 inputs and 2 outputs; kernel rows takes 2 and has 2", [&](auto& e) { launch(e).inputs.pop_back(); }},
      {"0 inputs and 0 outputs", [&](auto& e) { launch(e).inputs.clear(), launch(e).outputs.clear(); }},
      {"3 inputs", [&](auto& e) { launch(e).inputs.push_back(0); }},
      {"takes 5 elements of float32", [&](auto& e) { launch(e).inputs[1] = 1; }},         // v, which is larger
      {"takes 3 elements a row of float32", [&](auto& e) { launch(e).inputs[0] = 4; }},   // y
      {"takes 5 elements a row of float32", [&](auto& e) { launch(e).outputs[0] = 5; }},  // g
      {"a kernel over rows needs a map section",
       [&](format::Index& e) { e.programs[0].sections[1].commands[1].body.As<format::KernelLaunch>()->kernel = 0; }},
      {"2 inputs and 2 outputs; kernel update takes 2 and has 1",
       [&](format::Index& e) { launch(e).body.As<format::KernelLaunch>()->kernel = 1; }},
      {"needs a kernel over elements", [&](auto& e) { group(e).kernel = 0; }},
      {"2 arguments for each member; kernel update has 3",
       [&](auto& e) { group(e).num_args = 2, group(e).counts.push_back(1); }},
      {"takes at least 6 elements", [&](auto& e) { group(e).counts[0] = 6; }},
      {"takes at least 9 elements", [&](auto& e) { group(e).args[3] = group(e).args[0]; }},
      {"takes 1 elements", [&](auto& e) { group(e).args[1] = group(e).args[0]; }},
      {"writes to an input, a scalar or a constant", [&](auto& e) { group(e).args[2] = group(e).args[1]; }},
  };
  for (const auto& [message, damage] : cases) {
    format::Index e = WithKernels();
    damage(e);
    const absl::Status status = Executable::Parse(BuildExecutable(std::move(e), KernelSegments())).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << message;
    EXPECT_NE(status.message().find(message), absl::string_view::npos) << message << " in: " << status;
  }
}

// The description of a kernel belongs to its code.
TEST(ExecutableTest, KernelsAreBoundToTheirDescriptions) {
  auto sealed = Executable::Parse(BuildExecutable(WithKernels(), KernelSegments()));
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  const std::vector<std::function<void(format::Index&)>> cases = {
      [](auto& e) { e.kernels[0].symbol = "update"; },
      [](auto& e) { e.kernels[0].segment = 1; },
      [](auto& e) { e.kernels[0].inputs.pop_back(); },
      [](auto& e) { e.kernels[0].inputs[1].elements = 6; },
      [](auto& e) { e.kernels[0].inputs[1].extent = format::Extent::kRow; },
      [](auto& e) { e.kernels[0].outputs[0].dtype = DType::kFloat64; },
      [](auto& e) { e.kernels[1].count = 9; },
      [](auto& e) { e.kernels[1].entry_crc32c ^= 1; },
      [](auto& e) { std::swap(e.kernels[0], e.kernels[1]), e.kernels[0].segment = 0, e.kernels[1].segment = 1; },
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    format::Index e = (*sealed)->index();
    cases[i](e);
    const absl::Status status = Executable::Parse(BuildExecutable(std::move(e), KernelSegments())).status();
    EXPECT_NE(status.message().find("].entry_crc32c: the code of kernel "), absl::string_view::npos) << i << status;
  }
  // The objects changed places: each is whole.
  auto segments = KernelSegments();
  std::swap(segments[0], segments[1]);
  EXPECT_FALSE(Executable::Parse(BuildExecutable((*sealed)->index(), segments)).ok());
  EXPECT_TRUE(Executable::Parse(BuildExecutable((*sealed)->index(), KernelSegments())).ok());
}

// Of command `command` of the first section.
format::MatMul& Product(format::Index& e, int command) {
  return *e.programs[0].sections[0].commands[command].body.As<format::LibraryCall>()->operation.As<format::MatMul>();
}

// Each case breaks one rule; the message must name the field.
TEST(ExecutableTest, SemanticErrorsNameTheField) {
  struct Case {
    const char* field;
    void (*damage)(format::Index&);
  };
  const Case cases[] = {
      {"version", [](format::Index& e) { e.version = 2; }},
      {"mode", [](format::Index& e) { e.mode = "fly"; }},
      {"lanes", [](format::Index& e) { e.lanes = 6; }},
      {"microbatch_rows", [](format::Index& e) { e.microbatch_rows = 0; }},
      {"replicas[1].program", [](format::Index& e) { e.replicas[1].program = 1; }},
      {"variables[0]",
       [](format::Index& e) {
         e.variables[0].shape = {int64_t{1} << 50, 2};
       }},
      {"variables[0]", [](format::Index& e) { e.variables[0].dtype = static_cast<DType>(77); }},
      {"inputs[0]", [](format::Index& e) { e.inputs[0].shape = {3}; }},
      {"outputs[0]", [](format::Index& e) { e.outputs[0].buffer = 99; }},
      {"programs[0].buffers[2]", [](format::Index& e) { e.programs[0].microbatch_bytes = 8; }},
      {"programs[0].buffers[2]", [](format::Index& e) { e.programs[0].buffers[2].offset = ~uint64_t{0}; }},
      {"programs[0].buffers[2]", [](format::Index& e) { e.programs[0].buffers[2].bytes = 39; }},
      {"programs[0].buffers[2]", [](format::Index& e) { e.programs[0].buffers[2].row_bytes = 0; }},
      {"programs[0].buffers[0]", [](format::Index& e) { e.programs[0].buffers[0].index = 1; }},
      {"programs[0].lane_bytes", [](format::Index& e) { e.programs[0].lane_bytes = uint64_t{1} << 43; }},
      {"programs[0].lane_slots[0]",
       [](format::Index& e) { e.programs[0].lane_slots[0].kind = format::ReduceKind::kMean; }},
      {"sections[0].commands[0].inputs[1]",
       [](format::Index& e) { e.programs[0].sections[0].commands[0].inputs[1] = 55; }},
      {"sections[0].commands[0].inputs[0]",
       [](format::Index& e) { e.programs[0].sections[0].commands[0].inputs[0] = 3; }},
      {"sections[0].commands[0]",
       [](format::Index& e) {
         Product(e, 0).b_shape = {4, 5};
       }},
      {"sections[0].commands[0]",
       [](format::Index& e) { e.programs[0].sections[0].commands[0].body = format::CommandBody(); }},
      // A product is no convolution's gradient.
      {"the algorithm 2 (DirectFilterGrad) does not compute a MatMul",
       [](format::Index& e) {
         e.programs[0].sections[0].commands[0].body.As<format::LibraryCall>()->algorithm =
             format::Algorithm::kDirectFilterGrad;
       }},
      // A residual is an input and lies where the result goes.
      {"sections[0].commands[0]", [](format::Index& e) { Product(e, 0).epilogue.residual = true; }},
      {"sections[0].commands[0]",
       [](format::Index& e) {
         format::Command& command = e.programs[0].sections[0].commands[0];
         Product(e, 0).epilogue.residual = true;
         command.inputs.push_back(command.inputs[0]);
       }},
      {"sections[0].commands[1]", [](format::Index& e) { Product(e, 1).epilogue.residual = true; }},
      {"sections[0].commands[1].outputs[0]",
       [](format::Index& e) { e.programs[0].sections[0].commands[1].outputs[0] = 0; }},
      {"sections[0].commands[1].outputs[0]", [](format::Index& e) { e.programs[0].lane_slots.clear(); }},
      {"sections[0]", [](format::Index& e) { e.programs[0].sections[0].kind = static_cast<format::SectionKind>(5); }},
      {"sections[1].commands[0]",
       [](format::Index& e) {
         e.programs[0].sections[1].commands[0].body.As<format::LaneReduce>()->kind = format::ReduceKind::kMax;
       }},
      // A sum by index needs updates and indices, and no lane slots; a map section has none.
      {"sections[1].commands[0]",
       [](format::Index& e) { e.programs[0].sections[1].commands[0].body = format::ScatterAdd(); }},
      {"sections[0].commands[0]",
       [](format::Index& e) { e.programs[0].sections[0].commands[0].body = format::ScatterAdd(); }},
      {"sections[1].commands[1].collective",
       [](format::Index& e) { e.programs[0].sections[1].commands[1].body.As<format::AllReduce>()->collective = 9; }},
      // Nothing but an all-reduce goes on beside others, and no longer than the section.
      {"sections[1].commands[0]", [](format::Index& e) { e.programs[0].sections[1].commands[0].overlap = 1; }},
      {"sections[1].commands[1]", [](format::Index& e) { e.programs[0].sections[1].commands[1].overlap = 99; }},
      {"sections[1].commands[1]",
       [](format::Index& e) { e.programs[0].sections[1].commands[1].overlap = 0xffffffffu; }},
      {"sections[1].commands[1].location",
       [](format::Index& e) { e.programs[0].sections[1].commands[1].location = 9; }},
  };
  for (const Case& c : cases) {
    format::Index e = SmallExecutable();
    c.damage(e);
    absl::Status status = Executable::Parse(BuildExecutable(std::move(e), SmallSegments()), "f.tdx").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.field;
    EXPECT_NE(status.message().find(c.field), absl::string_view::npos) << c.field << " in: " << status;
    EXPECT_EQ(status.message().substr(0, 7), "f.tdx: ");
  }
}

}  // namespace
}  // namespace tandem

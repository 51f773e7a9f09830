// Lets allocations fail in command-line tools, as a user starts them. What they print or write is whole, or they say
// that it is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "tests/allocation/trained_model.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;

using test::Armed;

class ToolAllocationTest : public test::TrainedModel {
 protected:
  ToolAllocationTest() {
    TryFewer();
    fs::create_directories(Out());
  }

  // Where tools write to, each to a folder that is empty.
  fs::path Out() const { return root() / "written"; }

  // The bytes of all files under names that are no temporary ones.
  std::map<std::string, std::string> Written() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(Out())) {
      const std::string path = fs::relative(entry.path(), Out()).string();
      if (!entry.is_regular_file() || path.starts_with(".") || path.find("/.") != std::string::npos) continue;
      files[path] = Env::Default()->ReadFile(entry.path().string()).value_or("cannot be read");
    }
    return files;
  }

  // Runs tools/`tool`. What it writes is what it writes with all memory, or not there.
  void Try(const std::string& tool, std::vector<std::string> arguments) {
    std::optional<std::map<std::string, std::string>> expected;
    arguments.insert(arguments.begin(), "tools/" + tool);
    TryProgram(arguments, [&] {
      const std::map<std::string, std::string> written = Written();
      if (!expected.has_value()) expected = written;
      for (const auto& [path, bytes] : written) {
        ASSERT_TRUE(expected->contains(path)) << path;
        EXPECT_TRUE(bytes == expected->at(path)) << path;
      }
      fs::remove_all(Out());
      fs::create_directories(Out());
    });
  }

  std::string Checkpoint(int step) const { return (Trained() / ("model.ckpt-" + std::to_string(step))).string(); }
};

TEST_F(ToolAllocationTest, Dump) {
  Try("tandem-dump", {Trained().string()});
  Try("tandem-dump", {Trained().string(), "--format=html"});
}

TEST_F(ToolAllocationTest, Checkpoint) {
  Try("tandem-checkpoint", {"list", Trained().string()});
  Try("tandem-checkpoint", {"compare", Checkpoint(2), Trained().string()});
  Try("tandem-checkpoint", {"rename", Checkpoint(1), (Out() / "renamed").string(), "--map=dense/=other/"});
  Try("tandem-checkpoint", {"average", Checkpoint(1), Checkpoint(2), "--output=" + (Out() / "mean").string()});
  Try("tandem-checkpoint", {"to_npz", Checkpoint(2), (Out() / "arrays.npz").string()});
}

TEST_F(ToolAllocationTest, CheckpointOfArrays) {
  const std::string arrays = (root() / "arrays.npz").string();
  const auto made = InChild(0, false, [&](const Armed&) -> absl::Status {
    return std::system(("tools/tandem-checkpoint to_npz " + Checkpoint(2) + " " + arrays + " >/dev/null").c_str()) == 0
               ? absl::OkStatus()
               : absl::InternalError("no arrays");
  });
  ASSERT_EQ(made.exit_code, 0);
  Try("tandem-checkpoint", {"from_npz", arrays, (Out() / "back").string()});
}

TEST_F(ToolAllocationTest, Run) {
  Try("tandem-run", {Trained().string(), "--steps=2", "--threads=2", "--outputs=" + (Out() / "outputs.npz").string()});
  Try("tandem-run", {Trained().string(), "--check", "--threads=1"});
  const std::string exports = (root() / "exports").string();
  const auto exported = InChild(0, false, [&](const Armed&) -> absl::Status {
    Estimator estimator(test::LineModel, ConfigIn(Trained()));
    return estimator.ExportModel(exports, {.features = {{"x", DType::kFloat32, {kBatch, 2}}}}).status();
  });
  ASSERT_EQ(exported.exit_code, 0) << exported.message;
  const std::string inputs = (root() / "x.npy").string();
  std::string npy("\x93NUMPY\x01\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", 10 + 58);
  npy.resize(127, ' ');
  npy += '\n';
  npy += std::string(8, '\0');
  ASSERT_TRUE(Env::Default()->WriteFile(inputs, {npy}).ok());
  Try("tandem-run", {exports, "--inputs=" + inputs, "--threads=2"});
  Try("tandem-onnx", {exports, "--output=" + (Out() / "model.onnx").string()});
  Try("tandem-stablehlo", {exports, "--output=" + (Out() / "model.mlir").string()});
}

TEST_F(ToolAllocationTest, Plot) { Try("tandem-plot", {Trained().string(), "-o", (Out() / "page.html").string()}); }

TEST_F(ToolAllocationTest, Records) {
  const std::string images = (root() / "images").string(), labels = (root() / "labels").string();
  std::string pixels("\0\0\x08\3\0\0\0\6\0\0\0\2\0\0\0\2", 16), numbers("\0\0\x08\1\0\0\0\6", 8);
  for (char i = 0; i < 6; ++i) pixels += std::string(4, i), numbers += i;
  ASSERT_TRUE(Env::Default()->WriteFile(images, {pixels}).ok());
  ASSERT_TRUE(Env::Default()->WriteFile(labels, {numbers}).ok());
  const std::string records = (root() / "records").string();
  ASSERT_EQ(std::system(("tools/tandem-records write " + records + " --images=" + images + " --labels=" + labels +
                         " --compression=gzip >/dev/null")
                            .c_str()),
            0);
  Try("tandem-records", {"list", records, "--compression=gzip"});
  Try("tandem-records", {"verify", records, "--compression=gzip"});
}

}  // namespace
}  // namespace tandem

// Checksums of all variables and slots after twenty steps of every model of the benchmarks: what a change of the
// compiler or the runtime that only moves code must not move.
//
// checksums.txt has a line for every program: the processor that it was recorded on, for oneDNN's choices depend on it,
// the target, model, precision, devices, threads, and the checksum. What has no line is skipped. `record` writes them.
//
// A run takes a part of the product; TANDEM_GOLDEN_BITS=all takes all of it, TANDEM_GOLDEN_BITS=record prints lines
// instead of comparing.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/fingerprint.h"
#include "base/status_macros.h"
#include "benchmarks/bench_program.h"
#include "benchmarks/models/model.h"
#include "gtest/gtest.h"
#include "passes/compile/compile.h"
#include "tests/compiled/harness.h"

ABSL_FLAG(std::string, target, "cpu:native", "cpu:x86-64-v3, cpu:x86-64-v4, cpu:cooperlake or cpu:sapphirerapids");

namespace tandem {
namespace {

constexpr int kSteps = 20;

struct GoldenModel {
  std::string name;
  int batch = 0;  // global; 0: the model's own
  bool large = false;
};

const std::vector<GoldenModel>& Models() {
  static const auto* models = new std::vector<GoldenModel>{{"s0"},
                                                           {"s2", 32, true},
                                                           {"s4"},
                                                           {"linear"},
                                                           {"mlp"},
                                                           {"transformer", 8},
                                                           {"vgg16", 2, true},
                                                           {"resnet50", 4, true}};
  return *models;
}

// "GenuineIntel-6-143".
std::string Processor() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> fields;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    const std::string name = line.substr(0, colon);
    fields[name.substr(0, name.find_last_not_of(" \t") + 1)] = line.substr(colon + 2);
  }
  return absl::StrCat(fields["vendor_id"], "-", fields["cpu family"], "-", fields["model"]);
}

// Checksums by the words before them.
const std::map<std::string, std::string>& Recorded() {
  static const auto* recorded = [] {
    auto* lines = new std::map<std::string, std::string>;
    std::ifstream file("tests/golden_bits/checksums.txt");
    for (std::string line; std::getline(file, line);) {
      const size_t blank = line.rfind(' ');
      if (!line.empty() && line[0] != '#' && blank != std::string::npos) {
        (*lines)[line.substr(0, blank)] = line.substr(blank + 1);
      }
    }
    return lines;
  }();
  return *recorded;
}

std::string Mode() {
  const char* mode = std::getenv("TANDEM_GOLDEN_BITS");
  return mode == nullptr ? "" : mode;
}

absl::StatusOr<std::string> Checksum(const GoldenModel& golden, Precision precision, int devices, int threads) {
  TD_ASSIGN_OR_RETURN(const benchmarks::BenchModel model, benchmarks::MakeModel(golden.name, {}));
  CompileOptions options;
  options.devices.clear();
  for (int d = 0; d < devices; ++d) options.devices.push_back(absl::StrCat("cpu:", d));
  options.batch_per_replica = (golden.batch > 0 ? golden.batch : model.default_batch) / devices;
  options.threads = threads;
  options.precision = precision;
  options.target = absl::GetFlag(FLAGS_target);
  options.kernel_cache_dir = testing::TempDir();
  if (precision == Precision::kMixedBfloat16) options.machine_model = compiled::MachineForBFloat16(options.target);
  TD_ASSIGN_OR_RETURN(benchmarks::BenchProgram program, benchmarks::PrepareProgram(model, options, false));
  for (int i = 0; i < kSteps; ++i) TD_RETURN_IF_ERROR(program.Step().status());
  uint64_t checksum = 0;
  for (const VariableInfo& variable : program.variables->List()) {
    TD_ASSIGN_OR_RETURN(const HostTensor value, program.variables->Read(variable.name));
    const absl::string_view bytes(static_cast<const char*>(value.raw()), value.byte_size());
    checksum = Fingerprint64(bytes, Fingerprint64(variable.name, checksum));
  }
  return absl::StrFormat("%016x", checksum);
}

class GoldenBits : public testing::TestWithParam<std::pair<GoldenModel, Precision>> {};

TEST_P(GoldenBits, AreUnchanged) {
  const auto& [model, precision] = GetParam();
  const std::string target = absl::GetFlag(FLAGS_target);
  const bool bfloat16 = precision == Precision::kMixedBfloat16;
  if (target == "cpu:x86-64-v3" && bfloat16) GTEST_SKIP() << "mixed_bfloat16 needs AVX-512";
  const bool can_run = target == "cpu:x86-64-v3"    ? __builtin_cpu_supports("avx2")
                       : target == "cpu:x86-64-v4"  ? __builtin_cpu_supports("avx512f")
                       : target == "cpu:cooperlake" ? __builtin_cpu_supports("avx512bf16")
                                                    : __builtin_cpu_supports("amx-bf16");
  if (!can_run) GTEST_SKIP() << "this machine cannot run programs for " << target;
  const std::string mode = Mode();
  int compared = 0, missing = 0;
  for (int devices : {1, 2}) {
    for (int threads : {1, 3}) {
      const bool sampled = devices == 2 ? threads == 3 : threads == 1 && !model.large;
      if (mode.empty() && !sampled) continue;
      const std::string key =
          absl::StrCat(Processor(), " ", target, " ", model.name, " ", Name(precision), " ", devices, " ", threads);
      const auto recorded = Recorded().find(key);
      if (mode != "record" && recorded == Recorded().end()) {
        ++missing;
        continue;
      }
      const absl::StatusOr<std::string> checksum = Checksum(model, precision, devices, threads);
      ASSERT_TRUE(checksum.ok()) << key << ": " << checksum.status();
      ++compared;
      if (mode == "record") {
        std::printf("%s %s\n", key.c_str(), checksum->c_str());
      } else {
        EXPECT_EQ(*checksum, recorded->second) << key;
      }
    }
  }
  if (compared == 0) GTEST_SKIP() << missing << " programs have no checksum for " << Processor();
}

std::vector<std::pair<GoldenModel, Precision>> Cases() {
  std::vector<std::pair<GoldenModel, Precision>> cases;
  for (const GoldenModel& model : Models()) {
    for (Precision p : {Precision::kFloat32, Precision::kStrictFloat32, Precision::kMixedBfloat16}) {
      cases.push_back({model, p});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Programs, GoldenBits, testing::ValuesIn(Cases()), [](const auto& info) {
  return absl::StrCat(info.param.first.name, "_", std::string(Name(info.param.second)));
});

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  return RUN_ALL_TESTS();
}

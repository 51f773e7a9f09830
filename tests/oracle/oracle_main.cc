// bazel run //tests/oracle -- FLAGS: holds compiled training steps against double precision. README.md has the flags.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "tests/oracle/cases.h"
#include "tests/oracle/coverage.h"
#include "tests/oracle/runner.h"

ABSL_FLAG(std::string, run, "", "One case: MODEL/OPTIMIZER/CLIPPING/PLACE/PRECISION, as a failure prints it.");
ABSL_FLAG(bool, full, false, "Every case instead of a sample.");
ABSL_FLAG(std::string, only, "", "Only cases whose name contains this text.");
ABSL_FLAG(int, per_model, tandem::oracle::kSamplePerModel, "Cases of the sample for every model.");
ABSL_FLAG(uint64_t, seed, tandem::oracle::kSampleSeed, "Of the sample.");
ABSL_FLAG(int, part, 0, "With --parts: which part of the cases, from 0.");
ABSL_FLAG(int, parts, 1, "Several processes share the cases.");
ABSL_FLAG(
    std::string, kernel_cache, "",
    "A directory for compiled kernels: those that several cases have are compiled once, which makes --full several "
    "times faster.");
ABSL_FLAG(std::string, target, "cpu:native",
          "\"cuda:sm_90\" and so on: on this machine's GPUs, of which --devices says how many.");
ABSL_FLAG(int, devices, 4, "Only cases of at most so many devices.");
ABSL_FLAG(bool, list, false, "Print the cases' names and run none.");
ABSL_FLAG(bool, table, false, "Print the table of what is covered (coverage.md) and run none.");

namespace tandem::oracle {
namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "oracle: %s\n", std::string(status.message()).c_str());
  return ExitCodeFor(status);
}

int PrintTable() {
  absl::StatusOr<std::vector<Header>> headers = ReadHeaders();
  if (!headers.ok()) return Fail(headers.status());
  absl::StatusOr<Coverage> coverage = ComputeCoverage(*headers);
  if (!coverage.ok()) return Fail(coverage.status());
  std::fputs(coverage->table.c_str(), stdout);
  for (const std::string& missing : coverage->missing) std::fprintf(stderr, "oracle: %s\n", missing.c_str());
  return coverage->missing.empty() ? 0 : 1;
}

// Neighbours, which share an executable, stay in one part.
std::vector<Case> Part(const std::vector<Case>& cases, int part, int parts) {
  std::vector<Case> mine;
  int program = -1;
  std::string last;
  for (const Case& c : cases) {
    if (c.ProgramId() != last) ++program;
    last = c.ProgramId();
    if (program % parts == part) mine.push_back(c);
  }
  return mine;
}

int RunCases(const std::vector<Case>& cases) {
  Runner runner(absl::GetFlag(FLAGS_kernel_cache), absl::GetFlag(FLAGS_target));
  int64_t failures = 0, done = 0;
  for (const Case& c : cases) {
    absl::StatusOr<std::vector<std::string>> differences = runner.Run(c);
    if (!differences.ok()) differences = std::vector<std::string>{differences.status().ToString()};
    if (!differences->empty()) ++failures;
    if (!differences->empty()) std::printf("FAILED --run=%s\n", c.Id().c_str());
    for (const std::string& difference : *differences) std::printf("  %s\n", difference.c_str());
    std::fflush(stdout);
    if (++done % 1000 == 0) {
      std::fprintf(stderr, "%ld of %zu cases, %ld failures\n", static_cast<long>(done), cases.size(),
                   static_cast<long>(failures));
    }
  }
  std::printf("%zu cases, %d executables, %ld failures\n", cases.size(), runner.programs(),
              static_cast<long>(failures));
  return failures == 0 ? 0 : 1;
}

int Main(int argc, char** argv) {
  const std::optional<int> code = ParseFlags(argc, argv, "Holds compiled training steps against double precision.");
  if (code.has_value()) return *code;
  if (absl::GetFlag(FLAGS_table)) return PrintTable();
  std::vector<Case> cases;
  if (const std::string id = absl::GetFlag(FLAGS_run); !id.empty()) {
    absl::StatusOr<Case> c = CaseFromId(id);
    if (!c.ok()) return Fail(c.status());
    cases.push_back(*c);
  } else {
    const std::string only = absl::GetFlag(FLAGS_only);
    for (const Case& c : absl::GetFlag(FLAGS_full)
                             ? AllCases()
                             : SampledCases(absl::GetFlag(FLAGS_seed), absl::GetFlag(FLAGS_per_model))) {
      if (absl::StrContains(c.Id(), only) && c.place->devices <= absl::GetFlag(FLAGS_devices)) cases.push_back(c);
    }
    const int part = absl::GetFlag(FLAGS_part), parts = absl::GetFlag(FLAGS_parts);
    if (parts < 1 || part < 0 || part >= parts) {
      return Fail(absl::InvalidArgumentError("--part must be at least 0 and below --parts"));
    }
    cases = Part(cases, part, parts);
  }
  if (!absl::GetFlag(FLAGS_list)) return RunCases(cases);
  for (const Case& c : cases) std::printf("%s\n", c.Id().c_str());
  return 0;
}

}  // namespace
}  // namespace tandem::oracle

int main(int argc, char** argv) { return tandem::oracle::Main(argc, argv); }

// benchmarks/all_reduce: measures all-reduces between processes of this host, by size and transport.
//
//   bazel run //benchmarks:all_reduce -- --processes=2,4 --transport=shared,tcp
//
// Sums float32 vectors. Prints rank 0's median time, and the bytes of the vector per second. Before it is measured,
// each size is checked once, element by element, against the sum in the order of the reduction tree (only roughly for
// the ring, which adds in another order). --csv=FILE also writes the times for tandem-scale --measured=FILE.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/median.h"
#include "base/program.h"
#include "base/status_macros.h"
#include "base/timing.h"
#include "runtime/collectives/connect.h"
#include "runtime/collectives/testing/folder_store.h"
#include "runtime/collectives/testing/processes.h"
#include "runtime/collectives/testing/values.h"
#include "runtime/format/index.h"

ABSL_FLAG(std::vector<std::string>, processes, (std::vector<std::string>{"2", "4"}), "numbers of processes");
ABSL_FLAG(std::vector<std::string>, transport, (std::vector<std::string>{"shared", "tcp", "ring"}),
          "of shared, tcp and ring");
ABSL_FLAG(std::vector<std::string>, bytes,
          (std::vector<std::string>{"4096", "16384", "65536", "262144", "1048576", "4194304", "16777216", "67108864",
                                    "268435456"}),
          "sizes of the vector");
ABSL_FLAG(double, seconds, 1, "about so long for each size");
ABSL_FLAG(bool, verify, true, "check each size once");
ABSL_FLAG(std::string, csv, "", "a file to write the times to, as tandem-scale --measured reads them");

namespace tandem {
namespace {

struct Run {
  Communication communication;
  int processes;
  std::vector<int64_t> bytes;
};

// Writes `text` to the file of --csv, which it opens with fopen's mode `how`. Only one process at a time writes rows,
// so each of them opens the file and appends.
absl::Status WriteCsv(const char* how, const std::string& text) {
  const std::string path = absl::GetFlag(FLAGS_csv);
  if (path.empty()) return absl::OkStatus();
  std::FILE* file = std::fopen(path.c_str(), how);
  const bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  if (file != nullptr && std::fclose(file) == 0 && written) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("--csv: cannot write ", path));
}

class Rank {
 public:
  explicit Rank(ProcessGroup* group) : group_(group), present_(new bool[group->size()]) {
    std::fill(present_.get(), present_.get() + group->size(), true);
  }

  absl::Status AllReduce(std::vector<float>& x) {
    return group_->AllReduce(format::ReduceKind::kSum, {{DType::kFloat32, x.data(), static_cast<int64_t>(x.size())}},
                             present(), "all-reduce");
  }

  absl::Status Verify(std::vector<float>& x, bool exact) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = TestValue<float>(1, group_->rank(), i, false);
    TD_RETURN_IF_ERROR(AllReduce(x));
    std::vector<float> values(group_->size());
    std::vector<const void*> leaves;
    for (float& v : values) leaves.push_back(&v);
    for (size_t i = 0; i < x.size(); ++i) {
      for (int r = 0; r < group_->size(); ++r) values[r] = TestValue<float>(1, r, i, false);
      float want;
      TreeReduce(format::ReduceKind::kSum, DType::kFloat32, leaves, &want, 1);
      if (exact ? std::memcmp(&want, &x[i], sizeof(want)) == 0 : std::abs(want - x[i]) < 1e13) continue;
      return absl::InternalError(absl::StrCat("element ", i, " of ", x.size(), " is ", x[i], " instead of ", want));
    }
    return absl::OkStatus();
  }

  // Returns the median time of an all-reduce in seconds. Rank 0 decides how often it is measured, because all ranks
  // must agree.
  absl::StatusOr<double> Measure(std::vector<float>& x) {
    std::fill(x.begin(), x.end(), 0);
    auto time = [&]() -> absl::StatusOr<double> {
      const auto begin = std::chrono::steady_clock::now();
      TD_RETURN_IF_ERROR(AllReduce(x));
      return SecondsSince(begin);
    };
    TD_RETURN_IF_ERROR(time().status());
    TD_ASSIGN_OR_RETURN(const double one, time());
    int64_t times = std::clamp(absl::GetFlag(FLAGS_seconds) / one, 5.0, 20000.0);
    TD_RETURN_IF_ERROR(group_->Broadcast({reinterpret_cast<std::byte*>(&times), sizeof(times)}, 0, "broadcast"));
    std::vector<double> seconds;
    for (int64_t i = 0; i < times; ++i) {
      TD_ASSIGN_OR_RETURN(double s, time());
      seconds.push_back(s);
    }
    return Median(seconds);
  }

  absl::Status MeasureAll(const Run& run) {
    for (int64_t bytes : run.bytes) {
      std::vector<float> x(bytes / 4);
      if (absl::GetFlag(FLAGS_verify)) {
        TD_RETURN_IF_ERROR(Verify(x, run.communication != Communication::kRing));
      }
      TD_ASSIGN_OR_RETURN(const double seconds, Measure(x));
      if (group_->rank() != 0) continue;
      std::printf("| %9d | %-16s | %9lld | %10.1f | %8.3f |\n", run.processes, group_->transport().c_str(),
                  static_cast<long long>(bytes), 1e6 * seconds, 1e-9 * bytes / seconds);
      std::fflush(stdout);
      TD_RETURN_IF_ERROR(
          WriteCsv("a", absl::StrFormat("%d,%d,%s,%.9g\n", bytes, run.processes, Name(run.communication), seconds)));
    }
    return absl::OkStatus();
  }

 private:
  absl::Span<const bool> present() const { return absl::MakeConstSpan(present_.get(), group_->size()); }

  ProcessGroup* const group_;
  const std::unique_ptr<bool[]> present_;
};

absl::Status RunProcesses(const Run& run) {
  TestFolder folder;
  auto body = [&](int rank) -> absl::Status {
    FolderStore store(folder.path());
    TD_ASSIGN_OR_RETURN(auto group, ConnectProcessGroup({rank, run.processes, &store, "start", run.communication,
                                                         "127.0.0.1", "", absl::Seconds(60)}));
    return Rank(group.get()).MeasureAll(run);
  };
  Processes processes(
      run.processes,
      [&](int rank) {
        const absl::Status status = body(rank);
        if (!status.ok()) std::fprintf(stderr, "rank %d: %s\n", rank, std::string(status.message()).c_str());
        return status.ok() ? 0 : 1;
      },
      /*most_seconds=*/600);
  return processes.WaitAll() == 0 ? absl::OkStatus() : absl::InternalError("a process failed");
}

absl::StatusOr<Communication> Parse(const std::string& transport) {
  if (transport == "shared") return Communication::kSharedMemory;
  if (transport == "tcp") return Communication::kTcp;
  if (transport == "ring") return Communication::kRing;
  return absl::InvalidArgumentError(absl::StrCat("--transport: \"", transport, "\" is none of shared, tcp, ring"));
}

absl::Status Main() {
  std::vector<Run> runs;
  for (const std::string& count : absl::GetFlag(FLAGS_processes)) {
    Run run;
    if (!absl::SimpleAtoi(count, &run.processes) || run.processes < 1 || run.processes > 64) {
      return absl::InvalidArgumentError(absl::StrCat("--processes: \"", count, "\" is not from 1 to 64"));
    }
    for (const std::string& text : absl::GetFlag(FLAGS_bytes)) {
      int64_t bytes;
      if (!absl::SimpleAtoi(text, &bytes) || bytes < 4 || bytes % 4 != 0) {
        return absl::InvalidArgumentError(absl::StrCat("--bytes: \"", text, "\" is no multiple of 4"));
      }
      run.bytes.push_back(bytes);
    }
    for (const std::string& transport : absl::GetFlag(FLAGS_transport)) {
      TD_ASSIGN_OR_RETURN(run.communication, Parse(transport));
      runs.push_back(run);
    }
  }
  TD_RETURN_IF_ERROR(WriteCsv("w", "bytes,processes,communication,seconds\n"));
  std::printf("| processes | transport        | bytes     | median us  | GB/s     |\n");
  std::printf("| --------- | ---------------- | --------- | ---------- | -------- |\n");
  for (const Run& run : runs) TD_RETURN_IF_ERROR(RunProcesses(run));
  return absl::OkStatus();
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  return tandem::RunProgram(argc, argv, "Times of all-reduces between processes of this host.", tandem::Main);
}

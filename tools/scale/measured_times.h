// Measured times of all-reduces between processes, as benchmarks/all_reduce --csv=FILE writes them:
//
//   # comments and empty lines do not count
//   bytes,processes,communication,seconds
//   4096,2,tcp,0.0000612
#ifndef TANDEM_TOOLS_SCALE_MEASURED_TIMES_H_
#define TANDEM_TOOLS_SCALE_MEASURED_TIMES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/communication.h"

namespace tandem {

struct MeasuredTime {
  double bytes = 0;
  int processes = 0;
  double seconds = 0;
};

// The measured times of all-reduces by one kind of communication, such as TCP.
class MeasuredTimes {
 public:
  // Parses a table. `communication` selects rows: "shared_memory", "tcp" or "ring"; it may be empty if the table has
  // only one kind. Several rows with the same bytes and processes are replaced by their median. DataLoss (exit code
  // 65), with `name`, line and value, if `text` is no such table; InvalidArgument if the table has no rows of that
  // communication.
  static absl::StatusOr<MeasuredTimes> Parse(absl::string_view text, absl::string_view name,
                                             absl::string_view communication);
  // Parses a file. Also returns the errors of Env.
  static absl::StatusOr<MeasuredTimes> Read(const std::string& path, absl::string_view communication);

  Communication communication() const { return communication_; }
  // Sorted by processes, then bytes.
  const std::vector<MeasuredTime>& rows() const { return rows_; }
  bool Has(int processes) const { return curves_.contains(processes); }
  std::vector<int> processes() const;
  // Returns the seconds for any size. Between two measured sizes, it interpolates linearly in the logarithms. Above the
  // largest size it uses that size's rate, and below the smallest size its time. Call it only if Has(processes).
  double Seconds(double bytes, int processes) const;

 private:
  Communication communication_ = Communication::kTcp;
  std::vector<MeasuredTime> rows_;
  std::map<int, std::map<double, double>> curves_;  // for each number of processes, the seconds by number of bytes
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_SCALE_MEASURED_TIMES_H_

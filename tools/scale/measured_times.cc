#include "tools/scale/measured_times.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <set>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/env.h"
#include "base/median.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "base/text_file.h"

namespace tandem {
namespace {

constexpr absl::string_view kHeader = "bytes,processes,communication,seconds";
constexpr int64_t kMostBytes = int64_t{1} << 40;
constexpr int kMostProcesses = 1 << 20;
constexpr absl::string_view kRemedy = "write such a table with benchmarks/all_reduce --csv=FILE";

absl::Status Malformed(absl::string_view name, int line, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(PrintableLine(name), ":", line, ": ", what, "; ", kRemedy));
}

// Returns the field's text in quotes, as messages show it.
std::string Quoted(absl::string_view field) { return absl::StrCat("\"", PrintableLine(field.substr(0, 80)), "\""); }

}  // namespace

absl::StatusOr<MeasuredTimes> MeasuredTimes::Parse(absl::string_view text, absl::string_view name,
                                                   absl::string_view communication) {
  std::map<std::tuple<std::string, int, double>, std::vector<double>> seconds;
  std::set<std::string> communications;
  bool header = false;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    if (!header) {
      if (line != kHeader) {
        return Malformed(name, number,
                         absl::StrCat("the first line is ", Quoted(line), " in place of \"", kHeader, "\""));
      }
      header = true;
      continue;
    }
    std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
    if (fields.size() != 4) {
      return Malformed(name, number, absl::StrCat(fields.size(), " fields in place of 4 in ", Quoted(line)));
    }
    for (absl::string_view& f : fields) f = absl::StripAsciiWhitespace(f);
    int64_t bytes = 0;
    int processes = 0;
    double time = 0;
    if (!absl::SimpleAtoi(fields[0], &bytes) || bytes < 1 || bytes > kMostBytes) {
      return Malformed(name, number,
                       absl::StrCat("bytes is ", Quoted(fields[0]), ", and must be from 1 to ", kMostBytes));
    }
    if (!absl::SimpleAtoi(fields[1], &processes) || processes < 2 || processes > kMostProcesses) {
      return Malformed(name, number,
                       absl::StrCat("processes is ", Quoted(fields[1]), ", and must be from 2 to ", kMostProcesses));
    }
    const absl::StatusOr<Communication> c = CommunicationFromName(fields[2]);
    if (!c.ok() || *c == Communication::kAuto) {
      return Malformed(
          name, number,
          absl::StrCat("communication is ", Quoted(fields[2]), ", and must be shared_memory, tcp or ring"));
    }
    if (!absl::SimpleAtod(fields[3], &time) || !std::isfinite(time) || time <= 0) {
      return Malformed(name, number, absl::StrCat("seconds is ", Quoted(fields[3]), ", and must be greater than 0"));
    }
    communications.emplace(fields[2]);
    seconds[{std::string(fields[2]), processes, static_cast<double>(bytes)}].push_back(time);
  }
  if (communications.empty()) return Malformed(name, number, "there are no times");
  const std::string there = absl::StrJoin(communications, ", ");
  if (communication.empty() && communications.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(PrintableLine(name), " has times of ", there, ": choose one with --communication"));
  }
  const std::string chosen(communication.empty() ? *communications.begin() : communication);
  if (!communications.contains(chosen)) {
    return absl::InvalidArgumentError(absl::StrCat("--communication=", PrintableLine(chosen), ": ", PrintableLine(name),
                                                   " has no such times; it has those of ", there));
  }
  MeasuredTimes times;
  TD_ASSIGN_OR_RETURN(times.communication_, CommunicationFromName(chosen));
  for (auto& [key, all] : seconds) {
    const auto& [of, processes, bytes] = key;
    if (of != chosen) continue;
    const double median = Median(all);
    times.rows_.push_back({bytes, processes, median});
    times.curves_[processes][bytes] = median;
  }
  return times;
}

absl::StatusOr<MeasuredTimes> MeasuredTimes::Read(const std::string& path, absl::string_view communication) {
  TD_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(Env::Default(), path));
  return Parse(text, path, communication);
}

std::vector<int> MeasuredTimes::processes() const {
  std::vector<int> counts;
  for (const auto& [processes, curve] : curves_) counts.push_back(processes);
  return counts;
}

double MeasuredTimes::Seconds(double bytes, int processes) const {
  const std::map<double, double>& curve = curves_.at(processes);
  const auto above = curve.lower_bound(bytes);
  if (above == curve.begin()) return above->second;
  const auto below = std::prev(above);
  if (above == curve.end()) return below->second * bytes / below->first;
  const double part = std::log(bytes / below->first) / std::log(above->first / below->first);
  return below->second * std::pow(above->second / below->second, part);
}

}  // namespace tandem

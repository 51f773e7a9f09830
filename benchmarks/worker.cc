#include "benchmarks/worker.h"

#include <sys/resource.h>

#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace tandem::benchmarks {

double PeakRssBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * usage.ru_maxrss;
}

void Answer(const nlohmann::json& line) { std::cout << line.dump() << std::endl; }

void AnswerRan(int64_t steps, nlohmann::json more) {
  more["event"] = "ran";
  more["steps"] = steps;
  more["peak_rss_bytes"] = PeakRssBytes();
  Answer(more);
}

absl::StatusOr<std::optional<int64_t>> NextRun() {
  std::string line;
  if (!std::getline(std::cin, line) || line == "quit") return std::nullopt;
  absl::string_view argument = line;
  int64_t steps = 0;
  if (!absl::ConsumePrefix(&argument, "run ") || !absl::SimpleAtoi(argument, &steps) || steps < 1) {
    return absl::InvalidArgumentError(absl::StrCat("\"", line, "\" is neither \"run N\" nor \"quit\""));
  }
  return steps;
}

absl::Status ObeyCommands(absl::FunctionRef<absl::StatusOr<nlohmann::json>(int64_t steps)> run) {
  while (true) {
    TD_ASSIGN_OR_RETURN(const std::optional<int64_t> steps, NextRun());
    if (!steps.has_value()) return absl::OkStatus();
    TD_ASSIGN_OR_RETURN(nlohmann::json answer, run(*steps));
    AnswerRan(*steps, std::move(answer));
  }
}

}  // namespace tandem::benchmarks

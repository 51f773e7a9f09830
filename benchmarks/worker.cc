#include "benchmarks/worker.h"

#include <sys/resource.h>

#include <iostream>
#include <string>

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

absl::Status ObeyCommands(absl::FunctionRef<absl::StatusOr<nlohmann::json>(int64_t steps)> run) {
  std::string line;
  while (std::getline(std::cin, line) && line != "quit") {
    absl::string_view argument = line;
    int64_t steps = 0;
    if (!absl::ConsumePrefix(&argument, "run ") || !absl::SimpleAtoi(argument, &steps) || steps < 1) {
      return absl::InvalidArgumentError(absl::StrCat("\"", line, "\" is neither \"run N\" nor \"quit\""));
    }
    TD_ASSIGN_OR_RETURN(nlohmann::json answer, run(steps));
    answer["event"] = "ran";
    answer["steps"] = steps;
    answer["peak_rss_bytes"] = PeakRssBytes();
    Answer(answer);
  }
  return absl::OkStatus();
}

}  // namespace tandem::benchmarks

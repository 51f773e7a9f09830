#include "passes/tandem_flags.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tandem {

absl::Status ApplyTandemFlags(absl::string_view text, CompileOptions* options) {
  for (absl::string_view flag : absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(flag, absl::MaxSplits('=', 1));
    if (parts.first == "--machine-model") {
      if (parts.second.empty()) {
        return absl::InvalidArgumentError(
            "TANDEM_FLAGS: --machine-model needs a file: --machine-model=FILE (tandem-calibrate writes one)");
      }
      options->machine_model = std::string(parts.second);
      continue;
    }
    std::vector<std::string>* list = parts.first == "--disable-pass"      ? &options->disabled_passes
                                     : parts.first == "--print-ir-before" ? &options->print_before
                                     : parts.first == "--print-ir-after"  ? &options->print_after
                                                                          : nullptr;
    if (list == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "TANDEM_FLAGS: unknown option \"", flag,
          "\"; options are --disable-pass=NAME, --print-ir-before=PASS, --print-ir-after=PASS and "
          "--machine-model=FILE, separated by spaces (tandem-opt stops after a phase or starts from one)"));
    }
    if (parts.second.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("TANDEM_FLAGS: ", parts.first, " needs the name of a pass: ", parts.first, "=td-schedule"));
    }
    list->emplace_back(parts.second);
  }
  return absl::OkStatus();
}

}  // namespace tandem

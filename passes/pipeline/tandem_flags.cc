#include "passes/pipeline/tandem_flags.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tandem {

namespace {

struct Option {
  absl::string_view name;
  absl::string_view example;  // an example of the option's value; empty for a switch
  void (*apply)(CompileOptions& options, absl::string_view value);
};

constexpr Option kOptions[] = {
    {"--disable-pass", "td-schedule",
     [](CompileOptions& o, absl::string_view v) { o.disabled_passes.emplace_back(v); }},
    {"--print-ir-before", "td-schedule",
     [](CompileOptions& o, absl::string_view v) { o.print_before.emplace_back(v); }},
    {"--print-ir-after", "td-schedule", [](CompileOptions& o, absl::string_view v) { o.print_after.emplace_back(v); }},
    {"--kernel-cache", "/tmp/kernels",
     [](CompileOptions& o, absl::string_view v) { o.kernel_cache_dir = std::string(v); }},
    {"--machine-model", "machine.txt",
     [](CompileOptions& o, absl::string_view v) { o.machine_model = std::string(v); }},
    {"--bfloat16-allow", "softmax",
     [](CompileOptions& o, absl::string_view v) { o.precision_lists.allow.emplace_back(v); }},
    {"--bfloat16-infer", "softmax",
     [](CompileOptions& o, absl::string_view v) { o.precision_lists.infer.emplace_back(v); }},
    {"--bfloat16-clear", "softmax",
     [](CompileOptions& o, absl::string_view v) { o.precision_lists.clear.emplace_back(v); }},
    {"--bfloat16-deny", "matmul",
     [](CompileOptions& o, absl::string_view v) { o.precision_lists.deny.emplace_back(v); }},
    {"--choose", "conv2d_1:winograd_f4",
     [](CompileOptions& o, absl::string_view v) { o.contractions.emplace_back(v); }},
    {"--guard-buffers", "", [](CompileOptions& o, absl::string_view) { o.guard_buffers = true; }},
    {"--sanitize", "address", [](CompileOptions& o, absl::string_view v) { o.sanitize = std::string(v); }},
    {"--timing", "", [](CompileOptions& o, absl::string_view) { o.print_times = true; }},
    {"--crash-reproducer", "crash.mlir",
     [](CompileOptions& o, absl::string_view v) { o.crash_reproducer = std::string(v); }},
};

std::string Form(const Option& option) {
  return option.example.empty() ? std::string(option.name) : absl::StrCat(option.name, "=", option.example);
}

std::string Forms() {
  return absl::StrJoin(kOptions, ", ", [](std::string* out, const Option& o) { absl::StrAppend(out, Form(o)); });
}

}  // namespace

absl::Status ApplyTandemFlags(absl::string_view text, CompileOptions* options) {
  for (absl::string_view flag : absl::StrSplit(text, absl::ByAnyChar(" \t\n"), absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(flag, absl::MaxSplits('=', 1));
    const Option* option =
        std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& o) { return o.name == parts.first; });
    if (option == std::end(kOptions)) {
      return absl::InvalidArgumentError(
          absl::StrCat("TANDEM_FLAGS: unknown option \"", flag, "\"; options have the forms ", Forms(),
                       " and are separated by spaces (tandem-opt stops after a phase or starts from one)"));
    }
    if (parts.second.empty() != option->example.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("TANDEM_FLAGS: \"", flag, "\" must have the form ", Form(*option)));
    }
    option->apply(*options, parts.second);
  }
  return absl::OkStatus();
}

}  // namespace tandem

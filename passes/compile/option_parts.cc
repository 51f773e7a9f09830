// Names the options that an executable depends on in words, for messages.
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/compile/compile.h"
#include "passes/pipeline/tandem_flags.h"

namespace tandem {
namespace {

std::string ListText(const std::vector<std::string>& list) { return list.empty() ? "none" : absl::StrJoin(list, ", "); }

std::string NumberText(int64_t number, absl::string_view of_zero) {
  return number == 0 ? std::string(of_zero) : absl::StrCat(number);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OptionParts(const CompileOptions& given) {
  CompileOptions options = given;
  // Mistakes in the flags are ignored here: CompileGraph reports them.
  if (const char* flags = std::getenv("TANDEM_FLAGS")) ApplyTandemFlags(flags, &options).IgnoreError();
  const PrecisionLists& lists = options.precision_lists;
  return {{"the number of devices", absl::StrCat(options.devices.size())},
          {"the devices", ListText(options.devices)},
          {"the batch size of a device", absl::StrCat(options.batch_per_replica)},
          {"cross_device_ops", options.cross_device_ops.empty() ? "the reduction tree" : options.cross_device_ops},
          {"communication_dtype", std::string(Name(options.communication_dtype))},
          {"precision", std::string(Name(options.precision))},
          {"mixed_precision_lists.allow", ListText(lists.allow)},
          {"mixed_precision_lists.infer", ListText(lists.infer)},
          {"mixed_precision_lists.clear", ListText(lists.clear)},
          {"mixed_precision_lists.deny", ListText(lists.deny)},
          {"tf32", options.tf32 ? "true" : "false"},
          {"lanes", NumberText(options.lanes, "chosen")},
          {"microbatch_rows", NumberText(options.microbatch_rows, "chosen")},
          {"memory_limit", NumberText(options.memory_limit, "none")},
          {"--choose of TANDEM_FLAGS", ListText(options.contractions)},
          {"--disable-pass of TANDEM_FLAGS", ListText(options.disabled_passes)},
          {"--guard-buffers of TANDEM_FLAGS", options.guard_buffers ? "true" : "false"},
          {"--sanitize of TANDEM_FLAGS", options.sanitize.empty() ? "none" : options.sanitize}};
}

}  // namespace tandem

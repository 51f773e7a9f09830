#include "estimator/checkpoint/pointer_file.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/crc32c.h"

namespace tandem {
namespace {

constexpr absl::string_view kChecksum = "# crc32c: ";

std::string ChecksumLine(absl::string_view text) { return absl::StrFormat("%s%08x\n", kChecksum, Crc32c(text)); }

}  // namespace

std::string CheckpointName(int64_t global_step) { return absl::StrCat(kCheckpointPrefix, global_step); }

std::optional<int64_t> CheckpointStep(absl::string_view name) {
  int64_t step;
  if (!absl::ConsumePrefix(&name, kCheckpointPrefix) || !absl::SimpleAtoi(name, &step) || step < 0) return std::nullopt;
  if (absl::StrCat(step) != name) return std::nullopt;  // refuses "007", "+7" and " 7"
  return step;
}

std::string PointerFile::Text() const {
  std::string text = absl::StrCat("model_checkpoint_path: \"", latest, "\"\n");
  for (const std::string& name : all) absl::StrAppend(&text, "all_model_checkpoint_paths: \"", name, "\"\n");
  return absl::StrCat(text, ChecksumLine(text));
}

absl::StatusOr<PointerFile> ParsePointerFile(absl::string_view text, const std::string& path) {
  PointerFile pointer;
  int line_number = 0;
  size_t offset = 0;
  auto error = [&](absl::string_view what) {
    return absl::DataLossError(absl::StrCat(path, ":", line_number, ": ", what));
  };
  if (text.empty()) return error("the file is empty");
  if (!absl::EndsWith(text, "\n")) return error("the last line does not end: the file is truncated");
  while (offset < text.size()) {
    ++line_number;
    absl::string_view line = text.substr(offset, text.find('\n', offset) - offset);
    if (absl::StartsWith(line, "#")) {
      if (text.substr(offset) != ChecksumLine(text.substr(0, offset))) {
        return error("the checksum does not match (if you edited the file, delete this line)");
      }
      // The comparison above covers the rest of the text, so nothing follows the line with the checksum.
      break;
    }
    offset += line.size() + 1;
    std::pair<absl::string_view, absl::string_view> field = absl::StrSplit(line, absl::MaxSplits(": ", 1));
    absl::string_view value = field.second;
    if (!absl::ConsumePrefix(&value, "\"") || !absl::ConsumeSuffix(&value, "\"") || !CheckpointStep(value)) {
      return error("expected a name such as \"model.ckpt-100\", a directory beside this file");
    }
    if (field.first == "model_checkpoint_path" && pointer.latest.empty()) {
      pointer.latest = std::string(value);
    } else if (field.first == "all_model_checkpoint_paths") {
      pointer.all.push_back(std::string(value));
    } else {
      return error("expected one model_checkpoint_path, or all_model_checkpoint_paths");
    }
  }
  if (pointer.latest.empty()) return error("no model_checkpoint_path");
  return pointer;
}

}  // namespace tandem

#include "base/text_file.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace tandem {
namespace {

constexpr absl::string_view kUtf8 = "\xef\xbb\xbf";

struct OtherMark {
  absl::string_view bytes, shown, encoding, converts;
};
// Marks are compared in this order: those of UTF-32 come first, because that of UTF-32LE begins like that of UTF-16LE.
constexpr OtherMark kOthers[] = {
    {{"\xff\xfe\0\0", 4}, "ff fe 00 00", "UTF-32LE", "UTF-32"},
    {{"\0\0\xfe\xff", 4}, "00 00 fe ff", "UTF-32BE", "UTF-32"},
    {"\xff\xfe", "ff fe", "UTF-16LE", "UTF-16"},
    {"\xfe\xff", "fe ff", "UTF-16BE", "UTF-16"},
};

}  // namespace

absl::StatusOr<int64_t> ByteOrderMarkSize(absl::string_view start, absl::string_view name) {
  if (absl::StartsWith(start, kUtf8)) return static_cast<int64_t>(kUtf8.size());
  for (const OtherMark& mark : kOthers) {
    if (!absl::StartsWith(start, mark.bytes)) continue;
    return absl::DataLossError(absl::StrCat(name, ": at byte 0: the byte order mark of ", mark.encoding, " (",
                                            mark.shown, "), and text must be UTF-8; convert it: iconv -f ",
                                            mark.converts, " -t UTF-8 FILE > NEW_FILE"));
  }
  return 0;
}

absl::StatusOr<std::string> ReadTextFile(Env* env, const std::string& path, int64_t max_bytes) {
  TD_ASSIGN_OR_RETURN(std::string text, env->ReadFile(path, max_bytes));
  TD_ASSIGN_OR_RETURN(const int64_t mark, ByteOrderMarkSize(text, path));
  text.erase(0, mark);
  return text;
}

}  // namespace tandem

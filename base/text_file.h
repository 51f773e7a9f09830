// Text from files: UTF-8, with or without a byte order mark at the start.
#ifndef TANDEM_BASE_TEXT_FILE_H_
#define TANDEM_BASE_TEXT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tandem/base/api.h"
#include "tandem/base/env.h"

namespace TANDEM_API tandem {

// The length of the longest mark.
inline constexpr int64_t kMaxByteOrderMark = 4;

// Returns the number of bytes of the mark at the start of a text; `start` has its first kMaxByteOrderMark bytes, or
// all. 3 for the UTF-8 mark, 0 if there is none. DataLoss, with the encoding and how to convert, for the mark of UTF-16
// or UTF-32. Errors begin with `name`, the name of the text.
absl::StatusOr<int64_t> ByteOrderMarkSize(absl::string_view start, absl::string_view name);

// Reads a file like Env::ReadFile, without the mark. Also returns the errors of ByteOrderMarkSize.
absl::StatusOr<std::string> ReadTextFile(Env* env, const std::string& path, int64_t max_bytes = kMaxReadFile);

}  // namespace tandem

#endif  // TANDEM_BASE_TEXT_FILE_H_

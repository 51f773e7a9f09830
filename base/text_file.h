// Text from files: UTF-8, with a byte order mark at its start or without.
#ifndef TANDEM_BASE_TEXT_FILE_H_
#define TANDEM_BASE_TEXT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"

namespace tandem {

// No mark is longer.
inline constexpr int64_t kMaxByteOrderMark = 4;

// How many bytes the mark takes at the start of a text, of which `start` are the first kMaxByteOrderMark bytes, or all:
// 3 for that of UTF-8, 0 without one. DataLoss, with the encoding and how to convert, for that of UTF-16 or UTF-32.
// Errors begin with `name`, what the text is called.
absl::StatusOr<int64_t> ByteOrderMarkSize(absl::string_view start, absl::string_view name);

// Env::ReadFile without the mark. Errors are also those of ByteOrderMarkSize.
absl::StatusOr<std::string> ReadTextFile(Env* env, const std::string& path, int64_t max_bytes = kMaxReadFile);

}  // namespace tandem

#endif  // TANDEM_BASE_TEXT_FILE_H_

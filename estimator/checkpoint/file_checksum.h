// Computes and verifies sizes and checksums of files, as lists such as a checkpoint's manifest store them.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_FILE_CHECKSUM_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_FILE_CHECKSUM_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/env.h"
#include "estimator/checkpoint/manifest.h"

namespace tandem {

// Returns the checksum as eight hexadecimal digits.
std::string HexCrc32c(uint32_t crc);

// Returns size and checksum of a file with these pieces, one after another.
Manifest::File ChecksumOf(absl::Span<const absl::string_view> pieces);

// Like Env::OpenForRead, but DataLoss for a directory or a FIFO in place of a file.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenListedFile(Env* env, const std::string& path);

// Reads a file in pieces and compares its size and checksum with `expected`. Returns DataLoss if they differ, or the
// error of opening or reading the file. Messages call the list that `expected` is from `list`: "the manifest".
absl::Status VerifyFile(Env* env, const std::string& path, const Manifest::File& expected, absl::string_view list);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_FILE_CHECKSUM_H_

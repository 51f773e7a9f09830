// Sizes and checksums of the files that a list, such as a checkpoint's manifest, vouches for.
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

// Eight hexadecimal digits.
std::string HexCrc32c(uint32_t crc);

// Of a file with these pieces one after another.
Manifest::File ChecksumOf(absl::Span<const absl::string_view> pieces);

// OpenForRead, where a directory or a FIFO in the place of a file is damage (DataLoss).
absl::StatusOr<std::unique_ptr<RandomAccessFile>> OpenListedFile(Env* env, const std::string& path);

// Compares a file with what `list` ("the manifest") says about it, reading it in pieces. DataLoss where it is another;
// otherwise errors of reading.
absl::Status VerifyFile(Env* env, const std::string& path, const Manifest::File& expected, absl::string_view list);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_FILE_CHECKSUM_H_

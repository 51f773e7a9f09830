// Checks the files of a source, and describes them for the signatures and fingerprints of pipelines.
#ifndef TANDEM_DATA_FILE_LIST_H_
#define TANDEM_DATA_FILE_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tandem::data_internal {

// Checks the files and stores their sizes, in bytes, in `sizes`. InvalidArgument when there is no file or one is not a
// regular file; NotFound and other errors of Stat.
absl::Status CheckFiles(const std::vector<std::string>& files, std::vector<int64_t>* sizes);

// Returns the number of files and a hash of their names without directories, so that data may be moved: "3 files
// 1a2b3c4d5e6f7081".
std::string FileListSignature(const std::vector<std::string>& files);

// Returns a checksum of the files' sizes, and of the first and the last bytes of the first files; "" when a file cannot
// be read.
std::string FileListFingerprint(const std::vector<std::string>& files);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_FILE_LIST_H_

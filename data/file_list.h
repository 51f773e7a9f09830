// The files of a source, as pipelines' signatures and fingerprints name them.
#ifndef TANDEM_DATA_FILE_LIST_H_
#define TANDEM_DATA_FILE_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace tandem::data_internal {

// InvalidArgument when there is no file, NotFound and other errors of Stat when one cannot be seen, InvalidArgument
// when one is not a regular file. `sizes` gets their sizes in bytes.
absl::Status CheckFiles(const std::vector<std::string>& files, std::vector<int64_t>* sizes);

// "3 files 1a2b3c4d5e6f7081": the number and the names without their directories, so that data may be moved.
std::string FileListSignature(const std::vector<std::string>& files);

// Sizes, and a checksum of the first and the last bytes of the first files. Empty when a file cannot be read.
std::string FileListFingerprint(const std::vector<std::string>& files);

}  // namespace tandem::data_internal

#endif  // TANDEM_DATA_FILE_LIST_H_

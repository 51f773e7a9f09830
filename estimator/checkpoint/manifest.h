// manifest.json: the size and CRC-32C of every other file of a checkpoint, and of itself.
//
//   {
//     "format": "tandem-checkpoint-1",
//     "global_step": 200,
//     "files": {
//       "state.json": {"size": 61, "crc32c": "0f9a3c77"},
//       ...
//     },
//     "manifest_crc32c": "5d1c0a2e"        <- of all bytes before this line
//   }
//
// There is one text for a given content, and only that is accepted, so a change of any byte is found.
#ifndef TANDEM_ESTIMATOR_CHECKPOINT_MANIFEST_H_
#define TANDEM_ESTIMATOR_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"

namespace tandem {

inline constexpr char kManifestName[] = "manifest.json";

struct Manifest {
  struct File {
    int64_t size = 0;  // bytes
    uint32_t crc32c = 0;
  };
  int64_t global_step = 0;
  std::map<std::string, File> files;  // by the files' names; the manifest itself is not listed

  std::string Text() const;
};

// Parses what Text() writes. `path` is for messages. DataLoss for anything that Text() would not write.
absl::StatusOr<Manifest> ParseManifest(const std::string& text, const std::string& path);

// Reads the manifest of the checkpoint directory `dir` and compares every file with it, byte by byte. DataLoss, naming
// the file, if one has changed, is missing or does not belong there; NotFound if the directory does not exist (or is
// deleted meanwhile); other errors are those of reading.
absl::StatusOr<Manifest> VerifyManifest(Env* env, const std::string& dir);

}  // namespace tandem

#endif  // TANDEM_ESTIMATOR_CHECKPOINT_MANIFEST_H_

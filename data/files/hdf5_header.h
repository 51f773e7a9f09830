// Object headers of HDF5: the messages that describe a group or a data set.
#ifndef TANDEM_DATA_FILES_HDF5_HEADER_H_
#define TANDEM_DATA_FILES_HDF5_HEADER_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/files/hdf5_format.h"
#include "data/files/hdf5_input.h"

namespace tandem::hdf5 {

struct Message {
  uint16_t kind;  // a MessageKind, or another one
  Bytes body;
};

struct Header {
  std::deque<std::string> blocks;  // owns the bytes of the messages
  std::vector<Message> messages;   // in the file's order, without empty ones and continuations
};

// Reads the header of the object at `address`, version 1 or 2, with its continuations. Checksums of version 2 are not
// compared. The errors of Input; Unimplemented for shared messages, which are stored elsewhere.
absl::StatusOr<Header> ReadHeader(Input& input, uint64_t address);

// Returns the only message of this kind; null if there is none. DataLoss when there are several.
absl::StatusOr<const Message*> FindMessage(const Input& input, const Header& header, uint16_t kind);

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_HEADER_H_

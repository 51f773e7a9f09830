// Reads the object headers of HDF5: the messages that describe a group or a data set.
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
  uint16_t kind;  // a MessageKind, or a kind that is not listed there
  Bytes body;
};

struct Header {
  std::deque<std::string> blocks;  // owns the bytes of the messages
  // The messages in the file's order, without the kinds "nil" (unused space) and "continuation".
  std::vector<Message> messages;
};

// Reads the object header, of version 1 or 2, at `address`, with its continuations. The checksums of version 2 are not
// compared. Returns the errors of Input, and Unimplemented for shared messages, which are stored elsewhere in the file.
absl::StatusOr<Header> ReadHeader(Input& input, uint64_t address);

// Returns the only message of this kind; null if there is none. DataLoss when there are several.
absl::StatusOr<const Message*> FindMessage(const Input& input, const Header& header, uint16_t kind);

}  // namespace tandem::hdf5

#endif  // TANDEM_DATA_FILES_HDF5_HEADER_H_

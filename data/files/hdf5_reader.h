// Reads the part of HDF5 that Keras' files use, without the HDF5 library (docs/developers/decisions, number 71).
//
// Read are: superblocks 0 to 3, object headers 1 and 2, groups as symbol tables or with their links in their headers,
// attributes of numbers and strings, and contiguous and compact data sets of integers and floats in either byte order.
// Everything else is refused with what it is, its path and offset in the file, and what to do: Unimplemented for links
// to other places and files, data in chunks, compressed, virtual or in other files, types of other kinds, and what
// HDF5's "latest" format keeps in indexes of its own; DataLoss for damage, groups within themselves, names that are no
// names, and values that are not there. All of it but the data is read at once, and what it takes is a few times the
// file's size at most.
#ifndef TANDEM_DATA_FILES_HDF5_READER_H_
#define TANDEM_DATA_FILES_HDF5_READER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "data/files/hdf5_tree.h"

namespace tandem {

// The tree of the file at `path`, which stays open as long as one of its data sets; nothing may write it until they are
// read. Errors are also those of Env::OpenForRead.
absl::StatusOr<Hdf5Group> ReadHdf5(Env* env, const std::string& path);

// The same of `bytes`. `name` says in messages where they come from: "model.keras, model.weights.h5".
absl::StatusOr<Hdf5Group> ParseHdf5(std::string bytes, const std::string& name);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_READER_H_

// Reads the part of HDF5 that Keras' files use, without the HDF5 library (docs/developers/decisions, number 71).
//
// Supported are: superblocks 0 to 3, object headers 1 and 2, groups as symbol tables or with their links in their
// headers, attributes of numbers and strings, and contiguous and compact data sets of integers and floats in either
// byte order. Everything else is an error that says what it is, its path and offset in the file, and what to do.
// Unimplemented: links to other places and files; data in chunks, compressed, virtual or in other files; other types;
// and the separate indexes of HDF5's "latest" format. DataLoss: damage, groups that contain themselves, invalid names,
// and values that are missing. All structure is read at once, without the data of data sets; it takes at most a few
// times the file's size.
#ifndef TANDEM_DATA_FILES_HDF5_READER_H_
#define TANDEM_DATA_FILES_HDF5_READER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/env.h"
#include "data/files/hdf5_tree.h"

namespace tandem {

// Reads the tree of the file at `path`. The file stays open as long as one of its data sets exists; nothing may write
// it until they are read. Also the errors of Env::OpenForRead.
absl::StatusOr<Hdf5Group> ReadHdf5(Env* env, const std::string& path);

// Reads the tree from `bytes`. `name` says in messages where they come from: "model.keras, model.weights.h5".
absl::StatusOr<Hdf5Group> ParseHdf5(std::string bytes, const std::string& name);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_READER_H_

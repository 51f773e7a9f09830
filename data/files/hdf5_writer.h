// Writes HDF5 files that h5py, h5dump and TensorFlow can read, in the oldest form of the format (superblock 0, groups
// as symbol tables, contiguous data), h5py's default.
#ifndef TANDEM_DATA_FILES_HDF5_WRITER_H_
#define TANDEM_DATA_FILES_HDF5_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "data/files/hdf5_tree.h"

namespace tandem {

// Replaces the file at `path` atomically: a reader, also after a crash, sees either the old or the new content. Tensors
// are written without a copy, data sets of another file are copied unchanged. Single strings may have any length; lists
// of strings have a fixed length, and every other attribute must fit into 65,528 bytes with its name (for longer lists
// of names see SetStringList in hdf5_attributes.h). Equal trees give equal bytes.
//
// InvalidArgument, with the path in the tree, for what a file cannot hold: names that are empty, ".", not UTF-8, longer
// than 4,096 bytes, or contain a slash or a NUL; a name for both a group and a data set; strings that contain a NUL or
// are not UTF-8; empty tensors; tensors of bools and strings; attributes that are too long, or whose number of elements
// does not fit their shape; more than 64 nested groups; more than 32 dimensions. Also the errors of Env.
absl::Status WriteHdf5(Env* env, const std::string& path, const Hdf5Group& root);

// Returns the bytes that WriteHdf5 would write.
absl::StatusOr<std::string> SerializeHdf5(const Hdf5Group& root);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_WRITER_H_

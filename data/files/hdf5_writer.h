// Writes HDF5 files that h5py, h5dump and TensorFlow read, in the oldest form of the format (superblock 0, groups as
// symbol tables, contiguous data), as h5py does by default.
#ifndef TANDEM_DATA_FILES_HDF5_WRITER_H_
#define TANDEM_DATA_FILES_HDF5_WRITER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/env.h"
#include "data/files/hdf5_tree.h"

namespace tandem {

// Replaces the file at `path`: a reader, or a start after a crash, sees the old or the new content and nothing else.
// Tensors are written from where they are, data sets of another file are copied as they are. Single strings may have
// any length; lists of them are of fixed length, and every other attribute fits into 65,528 bytes with its name (for
// longer lists of names see SetStringList in hdf5_attributes.h). Equal trees give equal bytes.
//
// InvalidArgument, with the path in the tree, for what no file holds: names that are empty, ".", not UTF-8, longer than
// 4,096 bytes or have a slash or a zero, a name of two things, texts with a zero or not UTF-8, empty tensors, those of
// bools and strings, attributes that are too long or have another number of elements than their shape, more than 64
// groups in each other, more than 32 dimensions. The errors of Env.
absl::Status WriteHdf5(Env* env, const std::string& path, const Hdf5Group& root);

// The bytes of such a file.
absl::StatusOr<std::string> SerializeHdf5(const Hdf5Group& root);

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_WRITER_H_

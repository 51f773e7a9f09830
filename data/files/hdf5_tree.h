// The contents of an HDF5 file: nested groups, data sets of numbers, and attributes of both.
//
//   TD_ASSIGN_OR_RETURN(Hdf5Group root, ReadHdf5(Env::Default(), "weights.h5"));
//   TD_ASSIGN_OR_RETURN(const Hdf5Dataset* kernel, root.Dataset("dense/dense/kernel:0"));
//   TD_ASSIGN_OR_RETURN(HostTensor values, kernel->ReadFloat32());
//
// WriteHdf5 (hdf5_writer.h) takes the same tree:
//
//   Hdf5Group root;
//   root.MakeGroup("dense").attributes["weight_names"] = Hdf5Value::Strings({"dense/kernel:0"});
//   root.MakeDataset("dense/dense/kernel:0", kernel);
#ifndef TANDEM_DATA_FILES_HDF5_TREE_H_
#define TANDEM_DATA_FILES_HDF5_TREE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/env.h"
#include "base/host_tensor.h"
#include "data/files/number_type.h"

namespace tandem {

// An attribute's value. A single value has the shape [], a list [n]. An empty list may be of any type: Keras' empty
// lists of names are of float64.
struct Hdf5Value {
  std::variant<std::vector<std::string>, std::vector<int64_t>, std::vector<double>> elements;  // row-major
  Shape shape;

  static Hdf5Value String(std::string text);
  static Hdf5Value Strings(std::vector<std::string> texts);
  static Hdf5Value Integer(int64_t number);
  static Hdf5Value Float(double number);

  friend bool operator==(const Hdf5Value& a, const Hdf5Value& b) {
    return a.elements == b.elements && a.shape == b.shape;
  }
};

// The common part of groups and data sets.
struct Hdf5Object {
  // File and path for messages, such as "weights.h5: /dense/kernel:0"; empty if it was not read from a file.
  std::string where;
  std::map<std::string, Hdf5Value, std::less<>> attributes;
};

// An array of numbers: either in a file, from which it is read on demand, or in a tensor.
struct Hdf5Dataset : Hdf5Object {
  NumberType type;
  Shape shape;
  // The place of the values: a file, from its byte `offset` on, or, if `file` is null, `tensor`.
  std::shared_ptr<const RandomAccessFile> file;
  int64_t offset = 0;
  HostTensor tensor;

  // Returns the values as TensorType(type), in this machine's byte order. Unimplemented for uint64, which no tensor
  // holds; the errors of RandomAccessFile; ResourceExhausted if they do not fit into memory.
  absl::StatusOr<HostTensor> Read() const;
  // Returns the values as float32; float64 is rounded. InvalidArgument for integers, and for a finite number outside
  // float32's range; NaNs and infinities stay. The errors of Read.
  absl::StatusOr<HostTensor> ReadFloat32() const;
  // Returns the values as bytes of type `type`, in the file's byte order.
  absl::StatusOr<std::string> ReadBytes() const;
};

struct Hdf5Group : Hdf5Object {
  // Members by name, in the order of the names' bytes, as in files. A name must be in only one of `groups` and
  // `datasets`.
  std::map<std::string, std::unique_ptr<Hdf5Group>, std::less<>> groups;
  std::map<std::string, Hdf5Dataset, std::less<>> datasets;

  // Return the group (the data set) at a relative path with slashes between names; the empty path is this group.
  // NotFound, with similar names, if a name of the path is missing; InvalidArgument if the path leads to a data set (a
  // group).
  absl::StatusOr<const Hdf5Group*> Group(absl::string_view path) const;
  absl::StatusOr<const Hdf5Dataset*> Dataset(absl::string_view path) const;
  // As above, but return null if there is no such member.
  const Hdf5Group* FindGroup(absl::string_view path) const;
  const Hdf5Dataset* FindDataset(absl::string_view path) const;

  // Returns the group at `path`. Creates this group and the groups above it if they do not exist.
  Hdf5Group& MakeGroup(absl::string_view path);
  // Sets the data set at `path`; creates the groups above it as needed. Replaces an existing data set.
  Hdf5Dataset& MakeDataset(absl::string_view path, HostTensor values);
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_TREE_H_

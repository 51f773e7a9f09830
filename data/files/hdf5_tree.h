// What an HDF5 file has: groups within groups, data sets of numbers, and attributes of both.
//
//   TD_ASSIGN_OR_RETURN(Hdf5Group root, ReadHdf5(Env::Default(), "weights.h5"));
//   TD_ASSIGN_OR_RETURN(const Hdf5Dataset* kernel, root.Dataset("dense/dense/kernel:0"));
//   TD_ASSIGN_OR_RETURN(HostTensor values, kernel->ReadFloat32());
//
// The same tree is what WriteHdf5 (hdf5_writer.h) takes:
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

// An attribute's value. A single one has the shape [], a list [n]; an empty list may be of any type, as Keras' lists of
// no names are of float64.
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

// What groups and data sets have in common.
struct Hdf5Object {
  // "weights.h5: /dense/kernel:0", for messages; empty for what was not read from a file.
  std::string where;
  std::map<std::string, Hdf5Value, std::less<>> attributes;
};

// Numbers in a file, read when they are asked for, or a tensor.
struct Hdf5Dataset : Hdf5Object {
  NumberType type;
  Shape shape;
  // What has the values: a file, from its byte `offset` on, or `tensor`. `file` is null where it is the tensor.
  std::shared_ptr<const RandomAccessFile> file;
  int64_t offset = 0;
  HostTensor tensor;

  // The values as TensorType(type) in this machine's order. Unimplemented for uint64, which no tensor holds; the errors
  // of RandomAccessFile; ResourceExhausted where they do not fit into memory.
  absl::StatusOr<HostTensor> Read() const;
  // As float32. Those of float64 are rounded. InvalidArgument for integers, and for a finite number that is beyond
  // float32; NaNs and infinities stay. The errors of Read.
  absl::StatusOr<HostTensor> ReadFloat32() const;
  // The bytes as the file has them, in its order, of numbers of type `type`.
  absl::StatusOr<std::string> ReadBytes() const;
};

struct Hdf5Group : Hdf5Object {
  // By name, in the order of the names' bytes, as files have them. A name is in one of the two.
  std::map<std::string, std::unique_ptr<Hdf5Group>, std::less<>> groups;
  std::map<std::string, Hdf5Dataset, std::less<>> datasets;

  // Paths are relative, with slashes between names; the empty one is this group. NotFound, with what there is nearby,
  // where a name on the way is missing, InvalidArgument where it is one of the other kind.
  absl::StatusOr<const Hdf5Group*> Group(absl::string_view path) const;
  absl::StatusOr<const Hdf5Dataset*> Dataset(absl::string_view path) const;
  // Null where there is none.
  const Hdf5Group* FindGroup(absl::string_view path) const;
  const Hdf5Dataset* FindDataset(absl::string_view path) const;

  // The group at `path`, made where it is not there, with those above it.
  Hdf5Group& MakeGroup(absl::string_view path);
  // A data set of `values`, in groups that are made where they are not there. One that is there is replaced.
  Hdf5Dataset& MakeDataset(absl::string_view path, HostTensor values);
};

}  // namespace tandem

#endif  // TANDEM_DATA_FILES_HDF5_TREE_H_

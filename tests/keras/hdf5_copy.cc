// hdf5_copy FROM TO: reads an HDF5 file and writes what it has to another one.
#include <cstdio>

#include "base/env.h"
#include "data/files/hdf5_reader.h"
#include "data/files/hdf5_writer.h"

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: hdf5_copy FROM TO\n"), 2;
  tandem::Env* const env = tandem::Env::Default();
  const absl::StatusOr<tandem::Hdf5Group> root = tandem::ReadHdf5(env, argv[1]);
  const absl::Status status = root.ok() ? tandem::WriteHdf5(env, argv[2], *root) : root.status();
  if (status.ok()) return 0;
  std::fprintf(stderr, "hdf5_copy: %s\n", status.ToString().c_str());
  return 1;
}

// Writes small executables by hand, for tests.
#ifndef TANDEM_RUNTIME_TESTING_EXECUTABLE_BUILDER_H_
#define TANDEM_RUNTIME_TESTING_EXECUTABLE_BUILDER_H_

#include <memory>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "runtime/format/index.h"

namespace tandem {

// Every buffer gets its own 64-byte aligned place. Values are float32 unless a dtype is given. Buffer functions return
// the index of the buffer; batched shapes begin with kBatch.
class ExecutableBuilder {
 public:
  ExecutableBuilder(int replicas, int lanes, int rows_per_lane, int microbatch_rows);

  int Variable(const std::string& name, Shape shape, DType dtype = DType::kFloat32);
  int Input(const std::string& name, Shape shape, DType dtype = DType::kFloat32);
  int Scalar(const std::string& name, DType dtype = DType::kFloat32);
  int Microbatch(const std::string& name, Shape shape, DType dtype = DType::kFloat32);
  int Step(const std::string& name, Shape shape, DType dtype = DType::kFloat32);
  int Batch(const std::string& name, Shape shape, DType dtype = DType::kFloat32);
  int Lane(const std::string& name, Shape shape, format::ReduceKind kind, DType dtype = DType::kFloat32);
  int Constant(const std::string& name, uint64_t offset, Shape shape);
  // Adds a kernel in ELF segment `segment`; returns its index. The buffers of its first launch become its description.
  int Kernel(const std::string& symbol, int segment, format::Domain domain);

  // Commands go to the section begun last.
  void Map();
  void Global();
  // Adds y[rows, n] = x[rows, k] * w[k, n], sizes from the buffers. `bias` >= 0: a bias buffer.
  void MatMul(const std::string& name, int x, int w, int y, format::Epilogue epilogue = {}, int bias = -1,
              bool packed = false);
  // Adds dx = dy * w^T.
  void MatMulInputGrad(const std::string& name, int dy, int w, int dx);
  // Adds dw = x^T * dy, summed over the rows.
  void MatMulWeightGrad(const std::string& name, int x, int dy, int dw);
  void PackMatMul(const std::string& name, int w, int packed, Shape w_shape, int n_rows);
  void Library(const std::string& name, format::LibraryCall call, std::vector<int> in, std::vector<int> out);
  void Launch(const std::string& name, int kernel, std::vector<int> in, std::vector<int> out, uint64_t count = 0);
  void Grouped(const std::string& name, int kernel, int num_args, std::vector<int> args, std::vector<uint64_t> counts);
  void LaneReduce(format::ReduceKind kind, std::vector<int> in, std::vector<int> out);
  void AllReduce(format::ReduceKind kind, std::vector<int> buffers);
  void CheckFinite(std::vector<int> buffers);
  void Copy(int from, int to);
  void ScatterAdd(int updates, int indices, int table);

  void Output(const std::string& name, int buffer);
  format::Index Take() { return std::move(x_); }
  format::Index& index() { return x_; }

 private:
  int Add(format::Space space, const std::string& name, const Shape& shape, DType dtype, uint32_t index,
          uint64_t* arena);
  format::Buffer& B(int i) { return x_.programs[0].buffers[i]; }
  template <typename Body>
  void AddCommand(const std::string& name, Body body, const std::vector<int>& in, const std::vector<int>& out);
  std::vector<int64_t> MicrobatchShape(int buffer);
  void Describe(int kernel, const std::vector<int>& in, const std::vector<int>& out, uint64_t count);

  format::Index x_;
};

// Returns the length of the index of an executable file.
size_t IndexBytes(const std::string& file);
// Makes the checksums of a changed prefix or index right again.
void Reseal(std::string& file);

}  // namespace tandem

#endif  // TANDEM_RUNTIME_TESTING_EXECUTABLE_BUILDER_H_

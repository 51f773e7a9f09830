#include "runtime/testing/executable_builder.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/align.h"
#include "base/crc32c.h"
#include "runtime/library_calls/pack_weights.h"
#include "runtime/testing/library_calls.h"

namespace tandem {

ExecutableBuilder::ExecutableBuilder(int replicas, int lanes, int rows_per_lane, int microbatch_rows) {
  x_.version = 3;
  x_.producer = "test";
  x_.mode = "train";
  x_.target = "x86-64";
  x_.lanes = lanes;
  x_.rows_per_lane = rows_per_lane;
  x_.microbatch_rows = microbatch_rows;
  x_.programs.push_back(format::Program());
  x_.programs[0].device_class = "cpu";
  for (int i = 0; i < replicas; ++i) {
    x_.replicas.push_back(format::Replica());
    x_.replicas[i].name = absl::StrCat("replica_", i);
    x_.replicas[i].device = absl::StrCat("cpu:", i);
  }
  x_.debug = format::Debug();
  x_.debug.locations.push_back(format::Location());
  x_.debug.locations[0].file = "model.cc";
  x_.debug.locations[0].line = 7;
}

int ExecutableBuilder::Add(format::Space space, const std::string& name, const Shape& shape, DType dtype,
                           uint32_t index, uint64_t* arena) {
  format::Buffer b;
  b.name = name;
  b.space = space;
  b.index = index;
  b.dtype = dtype;
  b.shape = shape;
  uint64_t rows = 1;
  if (!shape.empty() && shape[0] == kBatch) {
    b.row_bytes = NumElements(absl::MakeConstSpan(shape).subspan(1)) * SizeOf(dtype);
    rows = space == format::Space::kMicrobatch ? x_.microbatch_rows : x_.lanes / x_.replicas.size() * x_.rows_per_lane;
  }
  b.bytes = b.row_bytes > 0 ? rows * b.row_bytes : NumElements(shape) * SizeOf(dtype);
  if (arena != nullptr) {
    b.offset = *arena;
    *arena += AlignUp(b.bytes, 64);
  }
  x_.programs[0].buffers.push_back(std::move(b));
  return static_cast<int>(x_.programs[0].buffers.size()) - 1;
}

int ExecutableBuilder::Variable(const std::string& name, Shape shape, DType dtype) {
  format::Variable v;
  v.name = name;
  v.dtype = dtype;
  v.shape = shape;
  v.updated = true;
  x_.variables.push_back(std::move(v));
  return Add(format::Space::kVariable, name, shape, dtype, x_.variables.size() - 1, nullptr);
}

int ExecutableBuilder::Input(const std::string& name, Shape shape, DType dtype) {
  format::Input in;
  in.name = name;
  in.dtype = dtype;
  in.shape = shape;
  x_.inputs.push_back(std::move(in));
  return Add(format::Space::kInput, name, shape, dtype, x_.inputs.size() - 1, nullptr);
}

int ExecutableBuilder::Scalar(const std::string& name, DType dtype) {
  format::Scalar s;
  s.name = name;
  s.dtype = dtype;
  x_.scalars.push_back(std::move(s));
  return Add(format::Space::kScalar, name, {}, dtype, x_.scalars.size() - 1, nullptr);
}

int ExecutableBuilder::Microbatch(const std::string& name, Shape shape, DType dtype) {
  return Add(format::Space::kMicrobatch, name, shape, dtype, 0, &x_.programs[0].microbatch_bytes);
}
int ExecutableBuilder::Step(const std::string& name, Shape shape, DType dtype) {
  return Add(format::Space::kStep, name, shape, dtype, 0, &x_.programs[0].step_bytes);
}
int ExecutableBuilder::Batch(const std::string& name, Shape shape, DType dtype) {
  return Add(format::Space::kBatch, name, shape, dtype, 0, &x_.programs[0].batch_bytes);
}

int ExecutableBuilder::Lane(const std::string& name, Shape shape, format::ReduceKind kind, DType dtype) {
  int b = Add(format::Space::kLane, name, shape, dtype, 0, &x_.programs[0].lane_bytes);
  format::LaneSlot slot;
  slot.buffer = b;
  slot.kind = kind;
  x_.programs[0].lane_slots.push_back(std::move(slot));
  return b;
}

int ExecutableBuilder::Constant(const std::string& name, uint64_t offset, Shape shape) {
  int b = Add(format::Space::kConstant, name, shape, DType::kFloat32, 0, nullptr);
  B(b).offset = offset;
  return b;
}

int ExecutableBuilder::Kernel(const std::string& symbol, int segment, format::Domain domain) {
  format::Kernel k;
  k.name = k.symbol = symbol;
  k.segment = segment;
  k.domain = domain;
  k.skeleton = domain == format::Domain::kRows ? "loop" : domain == format::Domain::kElements ? "flat" : "once";
  x_.kernels.push_back(std::move(k));
  return static_cast<int>(x_.kernels.size()) - 1;
}

// A kernel is described as taking the buffers of its first launch.
void ExecutableBuilder::Describe(int kernel, const std::vector<int>& in, const std::vector<int>& out, uint64_t count) {
  format::Kernel& k = x_.kernels[kernel];
  if (!k.inputs.empty() || !k.outputs.empty()) return;
  const auto add = [&](int buffer, std::vector<format::KernelArgument>& arguments) {
    const format::Buffer& b = B(buffer);
    const bool batched = b.row_bytes > 0;
    format::KernelArgument a;
    a.dtype = b.dtype;
    a.elements = NumElements({b.shape.data() + batched, b.shape.size() - batched});
    a.extent = batched ? format::Extent::kRow : format::Extent::kWhole;
    if (k.domain == format::Domain::kElements && !b.shape.empty()) {
      a.extent = format::Extent::kRange;
      a.elements = 0;
    }
    arguments.push_back(std::move(a));
  };
  for (int b : in) add(b, k.inputs);
  for (int b : out) add(b, k.outputs);
  if (k.domain == format::Domain::kBlocks) k.count = count;
}

void ExecutableBuilder::Map() { x_.programs[0].sections.push_back(format::Section()); }

void ExecutableBuilder::Global() {
  Map();
  x_.programs[0].sections.back().kind = format::SectionKind::kGlobal;
}

template <typename Body>
void ExecutableBuilder::AddCommand(const std::string& name, Body body, const std::vector<int>& in,
                                   const std::vector<int>& out) {
  format::Command command;
  command.name = name;
  command.body = std::move(body);
  command.inputs.assign(in.begin(), in.end());
  command.outputs.assign(out.begin(), out.end());
  x_.programs[0].sections.back().commands.push_back(std::move(command));
}

std::vector<int64_t> ExecutableBuilder::MicrobatchShape(int buffer) {
  std::vector<int64_t> shape = B(buffer).shape;
  if (!shape.empty() && shape[0] == kBatch) shape[0] = x_.microbatch_rows;
  return shape;
}

void ExecutableBuilder::MatMul(const std::string& name, int x, int w, int y, format::Epilogue epilogue, int bias,
                               bool packed) {
  const std::vector<int64_t> a = MicrobatchShape(x), result = MicrobatchShape(y);
  format::MatMul product = MatMulOf(a[0], a[1], result[1]);
  product.epilogue = epilogue;
  product.packed = packed;
  std::vector<int> in = {x, w};
  if (bias >= 0) in.push_back(bias);
  Library(name, CallOf(std::move(product)), in, {y});
}

void ExecutableBuilder::MatMulInputGrad(const std::string& name, int dy, int w, int dx) {
  format::MatMul product;
  product.a_shape = MicrobatchShape(dy);
  product.b_shape = MicrobatchShape(w);
  product.y_shape = MicrobatchShape(dx);
  product.transpose_b = true;
  Library(name, CallOf(std::move(product)), {dy, w}, {dx});
}

void ExecutableBuilder::MatMulWeightGrad(const std::string& name, int x, int dy, int dw) {
  format::MatMul product;
  product.a_shape = MicrobatchShape(x);
  product.b_shape = MicrobatchShape(dy);
  product.y_shape = MicrobatchShape(dw);
  product.transpose_a = true;
  product.reduces_batch = true;
  Library(name, CallOf(std::move(product)), {x, dy}, {dw});
}

void ExecutableBuilder::PackMatMul(const std::string& name, int w, int packed, Shape w_shape, int n_rows) {
  Library(name, PackingFor(CallOf(MatMulOf(n_rows, w_shape[0], w_shape[1]))), {w}, {packed});
}

void ExecutableBuilder::Library(const std::string& name, format::LibraryCall call, std::vector<int> in,
                                std::vector<int> out) {
  AddCommand(name, std::move(call), in, out);
}

void ExecutableBuilder::Launch(const std::string& name, int kernel, std::vector<int> in, std::vector<int> out,
                               uint64_t count) {
  Describe(kernel, in, out, count);
  format::KernelLaunch body;
  body.kernel = kernel;
  body.count = count;
  AddCommand(name, std::move(body), in, out);
}

void ExecutableBuilder::Grouped(const std::string& name, int kernel, int num_args, std::vector<int> args,
                                std::vector<uint64_t> counts) {
  // All buffers are described as inputs here, whether the kernel writes them or not.
  Describe(kernel, {args.begin(), args.begin() + num_args}, {}, counts[0]);
  format::GroupedLaunch body;
  body.kernel = kernel;
  body.num_args = num_args;
  body.args.assign(args.begin(), args.end());
  body.counts = std::move(counts);
  AddCommand(name, std::move(body), {}, {});
}

void ExecutableBuilder::LaneReduce(format::ReduceKind kind, std::vector<int> in, std::vector<int> out) {
  format::LaneReduce body;
  body.kind = kind;
  AddCommand("lane_reduce", std::move(body), in, out);
}

void ExecutableBuilder::AllReduce(format::ReduceKind kind, std::vector<int> buffers) {
  format::Collective c;
  c.seq = x_.collectives.size();
  c.dtype = B(buffers[0]).dtype;
  for (size_t r = 0; r < x_.replicas.size(); ++r) c.group.push_back(r);
  x_.collectives.push_back(std::move(c));
  format::AllReduce body;
  body.kind = kind;
  body.collective = x_.collectives.size() - 1;
  AddCommand("all_reduce", std::move(body), buffers, buffers);
}

void ExecutableBuilder::CheckFinite(std::vector<int> buffers) {
  AddCommand("check_finite", format::CheckFinite(), buffers, {});
}

void ExecutableBuilder::Copy(int from, int to) { AddCommand("copy", format::Copy(), {from}, {to}); }

void ExecutableBuilder::ScatterAdd(int updates, int indices, int table) {
  AddCommand("scatter_add", format::ScatterAdd(), {updates, indices}, {table});
}

void ExecutableBuilder::Output(const std::string& name, int buffer) {
  x_.outputs.push_back(format::Output());
  x_.outputs.back().name = name;
  x_.outputs.back().buffer = buffer;
}

size_t IndexBytes(const std::string& file) {
  uint64_t n;
  std::memcpy(&n, file.data() + 8, 8);
  return n;
}

void Reseal(std::string& file) {
  uint32_t crc = Crc32c(absl::string_view(file).substr(32, IndexBytes(file)));
  std::memcpy(file.data() + 24, &crc, 4);
  crc = Crc32c(absl::string_view(file).substr(0, 28));
  std::memcpy(file.data() + 28, &crc, 4);
}

}  // namespace tandem

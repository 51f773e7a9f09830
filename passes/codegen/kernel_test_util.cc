#include "passes/codegen/kernel_test_util.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/bfloat16.h"
#include "base/status_macros.h"
#include "graph/ir/dialect.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "mlir/Parser/Parser.h"
#include "passes/codegen/guarded_buffer.h"
#include "passes/codegen/kernel_ir.h"
#include "passes/codegen/lower_math.h"
#include "passes/exec/dialect.h"
#include "runtime/commands/block_kernel.h"
#include "runtime/commands/gpu_launch.h"

namespace tandem {
namespace {

int64_t Count(const Shape& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

template <typename T>
void Write(const std::vector<double>& values, Bytes& bytes) {
  bytes.resize(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T v = static_cast<T>(values[i]);
    std::memcpy(&bytes[i * sizeof(T)], &v, sizeof(T));
  }
}

template <typename T>
std::vector<double> Read(const Bytes& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T v;
    std::memcpy(&v, &bytes[i * sizeof(T)], sizeof(T));
    values[i] = static_cast<double>(v);
  }
  return values;
}

void WriteBFloat16(const std::vector<double>& values, Bytes& bytes) {
  bytes.resize(values.size() * sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t v = ToBFloat16Bits(static_cast<float>(values[i]));
    std::memcpy(&bytes[i * sizeof v], &v, sizeof v);
  }
}

std::vector<double> ReadBFloat16(const Bytes& bytes) {
  std::vector<double> values(bytes.size() / sizeof(uint16_t));
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t v;
    std::memcpy(&v, &bytes[i * sizeof v], sizeof v);
    values[i] = FromBFloat16Bits(v);
  }
  return values;
}

Bytes ToBytes(const td::RefTensor& t) {
  Bytes bytes;
  switch (t.dtype) {
    case DType::kFloat32:
      Write<float>(t.values, bytes);
      break;
    case DType::kFloat64:
      Write<double>(t.values, bytes);
      break;
    case DType::kInt32:
      Write<int32_t>(t.values, bytes);
      break;
    case DType::kInt64:
      Write<int64_t>(t.values, bytes);
      break;
    case DType::kBFloat16:
      WriteBFloat16(t.values, bytes);
      break;
    default:
      Write<uint8_t>(t.values, bytes);
      break;
  }
  return bytes;
}

std::vector<double> FromBytes(const Bytes& bytes, DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return Read<float>(bytes);
    case DType::kFloat64:
      return Read<double>(bytes);
    case DType::kInt32:
      return Read<int32_t>(bytes);
    case DType::kInt64:
      return Read<int64_t>(bytes);
    case DType::kBFloat16:
      return ReadBFloat16(bytes);
    default:
      return Read<uint8_t>(bytes);
  }
}

DType ElementDType(mlir::Type type) { return td::ToDType(mlir::cast<mlir::RankedTensorType>(type).getElementType()); }

absl::Status FromLlvm(llvm::Error error) {
  if (!error) return absl::OkStatus();
  return absl::InternalError(llvm::toString(std::move(error)));
}

}  // namespace

Shape RunShape(mlir::Type type, int64_t batch) {
  Shape shape = td::ToShape(type);
  for (int64_t& d : shape) d = d == kBatch ? batch : d;
  return shape;
}

absl::StatusOr<std::unique_ptr<TestKernel>> TestKernel::Create(const std::string& text,
                                                               const std::string& target_name) {
  auto kernel = std::make_unique<TestKernel>();
  kernel->context_.loadDialect<td::TdDialect, exec::ExecDialect, mlir::func::FuncDialect>();
  kernel->module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &kernel->context_);
  if (!kernel->module_) return absl::InvalidArgumentError("the kernel's text is not valid");
  TD_RETURN_IF_ERROR(kernel->Load(*kernel->module_->getOps<mlir::func::FuncOp>().begin(), target_name));
  return kernel;
}

absl::StatusOr<std::unique_ptr<TestKernel>> TestKernel::Create(mlir::func::FuncOp function, const std::string& target) {
  auto kernel = std::make_unique<TestKernel>();
  TD_RETURN_IF_ERROR(kernel->Load(function, target));
  return kernel;
}

absl::Status TestKernel::Load(mlir::func::FuncOp function, const std::string& target_name) {
  function_ = function;
  if (target_name == "gpu") return LoadForGpu();
  const bool bf16 = target_name == "native-bf16";
  TD_ASSIGN_OR_RETURN(CpuTarget target, CpuTargetByName(bf16 ? "native" : target_name));
  if (bf16) UseBFloat16(&target);
  TD_ASSIGN_OR_RETURN(compiled_, CompileKernel(function_, target));
  TD_ASSIGN_OR_RETURN(llvm_ir_, LlvmIrText(compiled_.bitcode));
  if (target_name != "native" && !bf16) return absl::OkStatus();

  llvm::InitializeNativeTarget();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) return FromLlvm(jit.takeError());
  jit_ = std::move(*jit);
  llvm::orc::SymbolNameSet allowed;
  for (const std::string& name : LibmSymbols()) allowed.insert(jit_->mangleAndIntern(name));
  auto libm = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit_->getDataLayout().getGlobalPrefix(),
      [allowed](const llvm::orc::SymbolStringPtr& s) { return allowed.contains(s); });
  if (!libm) return FromLlvm(libm.takeError());
  jit_->getMainJITDylib().addGenerator(std::move(*libm));
  TD_RETURN_IF_ERROR(
      FromLlvm(jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(compiled_.elf_object, compiled_.symbol))));
  auto address = jit_->lookup(compiled_.symbol);
  if (!address) return FromLlvm(address.takeError());
  entry_ = address->toPtr<Entry>();
  return absl::OkStatus();
}

absl::Status TestKernel::LoadForGpu() {
  GpuCompileOptions options;
  options.archs = GpuArchsFor(function_, 90);
  options.rows = kGpuRows;
  options.walk = true;
  TD_ASSIGN_OR_RETURN(options.walk_target, HostCpuTarget());
  TD_ASSIGN_OR_RETURN(gpu_, CompileGpuKernel(function_, options));
  TD_ASSIGN_OR_RETURN(walked_, WalkedKernels::Load({gpu_.walk_object}, {gpu_.symbol}));
  return absl::OkStatus();
}

std::vector<Bytes> TestKernel::RunOnGpu(const std::vector<Bytes>& operands, const std::vector<Bytes>& results,
                                        const std::vector<int64_t>& splits) {
  std::vector<Bytes> forwards = WalkOnGpu(operands, results, splits, /*backwards=*/false);
  // Blocks that share a sum, and warps that share memory, may run in any order, so try the opposite one.
  if (WalkOnGpu(operands, results, splits, /*backwards=*/true) != forwards) {
    gpu_status_.Update(absl::InternalError("the result depends on the order of blocks or threads"));
  }
  return forwards;
}

std::vector<Bytes> TestKernel::WalkOnGpu(const std::vector<Bytes>& operands, std::vector<Bytes> results,
                                         const std::vector<int64_t>& splits, bool backwards) {
  std::vector<GuardedBuffer> buffers;
  for (const Bytes& b : operands) buffers.emplace_back(b);
  for (const Bytes& b : results) buffers.emplace_back(b);
  GuardedBuffer scratch(kGpuCounterBytes + gpu_.launch.scratch_bytes, '\x7f');
  std::memset(scratch.data(), 0, kGpuCounterBytes);
  std::vector<char*> pointers;
  for (const GuardedBuffer& b : buffers) pointers.push_back(b.data());
  char* scratch_data = scratch.data();
  for (size_t i = 0; i + 1 < splits.size(); ++i) {
    int64_t begin = splits[i], end = splits[i + 1];
    std::vector<void*> params;
    for (char*& p : pointers) params.push_back(&p);
    for (void* p : {static_cast<void*>(&begin), static_cast<void*>(&end), static_cast<void*>(&row_offset),
                    static_cast<void*>(&scratch_data), static_cast<void*>(&guard)}) {
      params.push_back(p);
    }
    const format::GpuLaunch& l = gpu_.launch;
    gpu_status_.Update(
        walked_->Launch(gpu_.symbol, GpuGrid(l, end - begin), l.block, l.shared_bytes, params.data(), backwards));
    if (std::any_of(scratch.data(), scratch.data() + kGpuCounterBytes, [](char c) { return c != 0; })) {
      gpu_status_.Update(absl::InternalError("a kernel leaves counters behind"));
    }
  }
  for (const GuardedBuffer& b : buffers) {
    if (!b.BordersAreWhole()) gpu_status_.Update(absl::InternalError("a kernel writes beyond a buffer"));
  }
  if (!scratch.BordersAreWhole()) gpu_status_.Update(absl::InternalError("a kernel writes beyond its scratch memory"));
  for (size_t r = 0; r < results.size(); ++r) results[r] = buffers[operands.size() + r].bytes();
  return results;
}

std::vector<td::RefTensor> TestKernel::RandomOperands(int64_t batch, std::mt19937& random) {
  return RandomTensors(function_.getArgumentTypes(), batch, random);
}

std::vector<td::RefTensor> RandomTensors(llvm::ArrayRef<mlir::Type> types, int64_t batch, std::mt19937& random) {
  std::vector<td::RefTensor> operands;
  for (mlir::Type type : types) {
    td::RefTensor t;
    t.dtype = ElementDType(type);
    t.shape = RunShape(type, batch);
    std::normal_distribution<float> normal;
    for (int64_t i = Count(t.shape); i-- > 0;) {
      double v = normal(random);
      if (t.dtype == DType::kBool) v = v > 0;
      if (t.dtype == DType::kBFloat16) v = RoundToBFloat16(v);
      if (t.dtype == DType::kInt32 || t.dtype == DType::kInt64 || t.dtype == DType::kUInt8) v = random() % 7;
      t.values.push_back(v);
    }
    operands.push_back(std::move(t));
  }
  return operands;
}

std::vector<Bytes> TestKernel::Run(const std::vector<td::RefTensor>& operands, int64_t batch,
                                   std::vector<int64_t> splits) {
  std::vector<Bytes> buffers;
  for (const td::RefTensor& t : operands) buffers.push_back(ToBytes(t));
  std::vector<Bytes> results;
  for (mlir::Type type : function_.getResultTypes()) {
    // Results are garbage at first, so that places that are not written are found.
    results.emplace_back(Count(RunShape(type, batch)) * SizeOf(ElementDType(type)), '\x7f');
  }
  if (walked_ != nullptr) return RunOnGpu(buffers, std::move(results), splits);
  std::vector<void*> args;
  for (Bytes& b : buffers) args.push_back(b.data());
  for (Bytes& b : results) args.push_back(b.data());
  args.insert(args.end(), kFetchedMatrices, results[0].data());  // memory to fetch, for kernels over blocks
  for (size_t i = 0; i + 1 < splits.size(); ++i) entry_(args.data(), splits[i], splits[i + 1], row_offset);
  return results;
}

absl::StatusOr<double> TestKernel::Error(const std::vector<td::RefTensor>& operands, int64_t batch) {
  TD_ASSIGN_OR_RETURN(std::vector<td::RefTensor> expected,
                      EvaluateReference(function_, operands, {.batch = batch, .row_offset = row_offset}));
  std::vector<Shape> shapes;
  for (mlir::Type type : function_.getResultTypes()) shapes.push_back(RunShape(type, batch));
  const double error = LargestError(RunOnce(operands, shapes, batch), expected);
  TD_RETURN_IF_ERROR(gpu_status_);
  return error;
}

std::vector<td::RefTensor> TestKernel::RunOnce(const std::vector<td::RefTensor>& operands,
                                               const std::vector<Shape>& shapes, int64_t batch) {
  const exec::KernelKind kind = exec::GetKernelKind(function_).value_or(exec::KernelKind::kLoop);
  int64_t count = kind == exec::KernelKind::kOnce    ? 1
                  : kind == exec::KernelKind::kSplit ? Count(operands[0].shape)
                  : kind == exec::KernelKind::kFlat  ? Count(shapes[0])
                  : kind == exec::KernelKind::kBlock ? Count(shapes[0]) / shapes[0].back()
                                                     : batch;
  std::vector<Bytes> bytes = Run(operands, count, {0, count});
  std::vector<td::RefTensor> results;
  for (size_t r = 0; r < bytes.size(); ++r) {
    DType dtype = ElementDType(function_.getResultTypes()[r]);
    results.push_back({dtype, shapes[r], FromBytes(bytes[r], dtype)});
  }
  return results;
}

double LargestError(const std::vector<td::RefTensor>& actual, const std::vector<td::RefTensor>& expected) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double worst = 0;
  for (size_t r = 0; r < expected.size(); ++r) {
    if (actual[r].shape != expected[r].shape || actual[r].values.size() != expected[r].values.size()) return kInfinity;
    for (size_t i = 0; i < actual[r].values.size(); ++i) {
      double e = expected[r].values[i], a = actual[r].values[i];
      if (std::isnan(e) && std::isnan(a)) continue;
      double error = std::abs(a - e) / (1 + std::abs(e));
      worst = std::max(worst, a == e ? 0 : std::isnan(error) ? kInfinity : error);
    }
  }
  return worst;
}

absl::StatusOr<std::vector<td::RefTensor>> EvaluateReference(mlir::func::FuncOp function,
                                                             const std::vector<td::RefTensor>& operands,
                                                             const td::RefContext& context) {
  llvm::DenseMap<mlir::Value, td::RefTensor> values;
  for (auto [argument, operand] : llvm::zip(function.getArguments(), operands)) values[argument] = operand;
  mlir::Block& block = function.getBody().front();
  for (mlir::Operation& op : block.without_terminator()) {
    auto reference = mlir::dyn_cast<td::ReferenceOp>(op);
    if (!reference) return absl::InternalError("an op has no reference semantics");
    std::vector<const td::RefTensor*> inputs;
    for (mlir::Value v : op.getOperands()) inputs.push_back(&values[v]);
    std::vector<td::RefTensor> results(op.getNumResults());
    TD_RETURN_IF_ERROR(reference.evaluate(inputs, context, results));
    for (unsigned i = 0; i < results.size(); ++i) {
      if (results[i].dtype == DType::kBFloat16) {
        for (double& v : results[i].values) v = RoundToBFloat16(v);
      }
      values[op.getResult(i)] = std::move(results[i]);
    }
  }
  std::vector<td::RefTensor> results;
  for (mlir::Value v : block.getTerminator()->getOperands()) results.push_back(values[v]);
  return results;
}

}  // namespace tandem

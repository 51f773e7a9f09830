#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "passes/exec/dialect.h"

namespace tandem::exec {
namespace {

mlir::FailureOr<Precision> ParsePrecision(mlir::AsmParser& parser) {
  llvm::StringRef word;
  const llvm::SMLoc at = parser.getCurrentLocation();
  if (mlir::failed(parser.parseKeyword(&word))) return mlir::failure();
  absl::StatusOr<Precision> precision = PrecisionFromName(absl::string_view(word.data(), word.size()));
  if (precision.ok()) return *precision;
  return parser.emitError(at) << std::string(precision.status().message());
}

void PrintPrecision(mlir::AsmPrinter& printer, Precision precision) {
  const absl::string_view name = Name(precision);
  printer << llvm::StringRef(name.data(), name.size());
}

}  // namespace
}  // namespace tandem::exec

#include "passes/exec/enums.cc.inc"

#define GET_ATTRDEF_CLASSES
#include "passes/exec/attributes.cc.inc"

namespace tandem::exec {

void ExecDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "passes/exec/attributes.cc.inc"
      >();
}

CompileConfigAttr CompileConfigAttr::of(mlir::ModuleOp module) {
  if (auto config = module->getAttrOfType<CompileConfigAttr>(kConfigAttr)) return config;
  return get(module.getContext(), /*mode=*/{}, /*devices=*/{}, kDefaultBatch, /*lanes=*/0, /*microbatch_rows=*/0,
             Precision::kFloat32, /*precision_lists=*/{}, /*tf32=*/false, /*memory_limit=*/0, /*guard_buffers=*/false,
             kDefaultBucketBytes, kDefaultFirstBucketBytes, /*machine_model=*/{}, /*target=*/{}, /*choices=*/{},
             /*part=*/{}, /*cross_device_ops=*/{}, /*communication_type=*/{});
}

int64_t CompileConfigAttr::getReplicas() const { return getDevices() ? static_cast<int64_t>(getDevices().size()) : 1; }

llvm::StringRef CompileConfigAttr::getMachineModelName() const {
  return getMachineModel() ? getMachineModel().getValue() : "generic-avx512";
}

CompileConfigAttr CompileConfigAttr::withTarget(TargetAttr target) const {
  return get(getContext(), getMode(), getDevices(), getBatch(), getLanes(), getMicrobatchRows(), getPrecision(),
             getPrecisionLists(), getTf32(), getMemoryLimit(), getGuardBuffers(), getBucketBytes(),
             getFirstBucketBytes(), getMachineModel(), target, getChoices(), getPart(), getCrossDeviceOps(),
             getCommunicationType());
}

}  // namespace tandem::exec

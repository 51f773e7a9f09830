#include "passes/codegen/translate.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/codegen/translator.h"

namespace tandem {
namespace {

namespace LLVM = mlir::LLVM;

const Translator::Handlers& AllHandlers() {
  static const auto& all = *[] {
    auto* handlers = new Translator::Handlers();
    AddArithHandlers(*handlers);
    AddMathHandlers(*handlers);
    AddMemoryHandlers(*handlers);
    AddControlHandlers(*handlers);
    return handlers;
  }();
  return all;
}

// Adds an LLVM attribute, by its name, to argument `i`.
void AddArgumentAttribute(llvm::Function* to, unsigned i, mlir::NamedAttribute attribute) {
  llvm::LLVMContext& context = to->getContext();
  if (attribute.getName() == LLVM::LLVMDialect::getNoAliasAttrName()) {
    to->addParamAttr(i, llvm::Attribute::NoAlias);
  } else if (attribute.getName() == LLVM::LLVMDialect::getAlignAttrName()) {
    const auto align = mlir::cast<mlir::IntegerAttr>(attribute.getValue()).getInt();
    to->addParamAttr(i, llvm::Attribute::getWithAlignment(context, llvm::Align(align)));
  }
}

void Declare(Translator& t, LLVM::LLVMFuncOp f) {
  const bool internal = f.getLinkage() == LLVM::Linkage::Internal;
  auto* to = llvm::Function::Create(t.FunctionType(f),
                                    internal ? llvm::Function::InternalLinkage : llvm::Function::ExternalLinkage,
                                    llvm::StringRef(f.getName()), t.module());
  if (auto attributes = f.getPassthroughAttr()) {
    for (mlir::Attribute a : attributes) {
      to->addFnAttr(llvm::Attribute::getAttrKindFromName(mlir::cast<mlir::StringAttr>(a).getValue()));
    }
  }
  for (unsigned i = 0; i < f.getNumArguments(); ++i) {
    for (mlir::NamedAttribute attribute : mlir::function_interface_impl::getArgAttrs(f, i)) {
      AddArgumentAttribute(to, i, attribute);
    }
  }
}

}  // namespace

llvm::Type* Translator::Type(mlir::Type type) {
  llvm::Type*& to = types_[type];
  if (to != nullptr) return to;
  llvm::LLVMContext& context = module_.getContext();
  if (type.isIndex()) return to = b.getIntNTy(index_bits_);
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) return to = b.getIntNTy(integer.getWidth());
  if (type.isF32()) return to = b.getFloatTy();
  if (type.isF64()) return to = b.getDoubleTy();
  if (type.isF16()) return to = b.getHalfTy();
  if (type.isBF16()) return to = b.getBFloatTy();
  if (mlir::isa<LLVM::LLVMVoidType>(type)) return to = b.getVoidTy();
  if (auto pointer = mlir::dyn_cast<LLVM::LLVMPointerType>(type)) {
    return to = llvm::PointerType::get(context, pointer.getAddressSpace());
  }
  auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  if (vector && vector.getRank() == 1 && !vector.isScalable()) {
    // The recursive call may move the entries of types_, so `to` is not used.
    llvm::Type* element = Type(vector.getElementType());
    return types_[type] = llvm::FixedVectorType::get(element, vector.getNumElements());
  }
  std::string text;
  llvm::raw_string_ostream(text) << type;
  status_.Update(absl::InternalError(absl::StrCat("the type ", text, " has no translation to LLVM IR")));
  return to = b.getInt32Ty();
}

llvm::FunctionType* Translator::FunctionType(LLVM::LLVMFuncOp f) {
  llvm::SmallVector<llvm::Type*> arguments;
  for (mlir::Type t : f.getArgumentTypes()) arguments.push_back(Type(t));
  return llvm::FunctionType::get(Type(f.getFunctionType().getReturnType()), arguments, false);
}

llvm::Constant* Translator::Constant(mlir::Attribute attribute, mlir::Type type) {
  llvm::Type* to = Type(type);
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
    return llvm::ConstantInt::get(to, integer.getValue().sextOrTrunc(to->getScalarSizeInBits()));
  }
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(attribute)) return llvm::ConstantFP::get(to, number.getValue());
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(attribute);
  auto vector = mlir::dyn_cast<mlir::VectorType>(type);
  if (!elements || !vector) {
    status_.Update(absl::InternalError("a constant of a kernel has no translation to LLVM IR"));
    return llvm::PoisonValue::get(to);
  }
  if (elements.isSplat()) {
    llvm::Constant* one = Constant(elements.getSplatValue<mlir::Attribute>(), vector.getElementType());
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(vector.getNumElements()), one);
  }
  llvm::SmallVector<llvm::Constant*> each;
  for (mlir::Attribute a : elements.getValues<mlir::Attribute>()) each.push_back(Constant(a, vector.getElementType()));
  return llvm::ConstantVector::get(each);
}

void Translator::Fail(mlir::Operation* op) {
  status_.Update(absl::InternalError(
      absl::StrCat("the op ", op->getName().getStringRef().str(), " has no translation to LLVM IR")));
  for (mlir::Value result : op->getResults()) Set(result, llvm::PoisonValue::get(Type(result.getType())));
}

void Translator::TranslateBlock(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    if (mlir::isa<mlir::scf::YieldOp>(op)) return;
    auto handler = handlers_.find(op.getName().getTypeID());
    if (handler == handlers_.end()) {
      Fail(&op);
    } else {
      handler->second(*this, &op);
    }
    if (!status_.ok()) return;
  }
}

void Translator::TranslateBody(LLVM::LLVMFuncOp f) {
  llvm::Function* to = module_.getFunction(llvm::StringRef(f.getName()));
  if (f.getBody().getBlocks().size() != 1) return Fail(f);  // emitters use structured loops (scf) only
  for (unsigned i = 0; i < f.getNumArguments(); ++i) Set(f.getArgument(i), to->getArg(i));
  b.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "", to));
  TranslateBlock(f.getBody().front());
}

absl::StatusOr<std::unique_ptr<llvm::Module>> TranslateToLlvmIr(mlir::ModuleOp module, llvm::LLVMContext& context,
                                                                int index_bits) {
  auto to = std::make_unique<llvm::Module>("kernel", context);
  Translator translator(*to, AllHandlers(), index_bits);
  for (auto f : module.getOps<LLVM::LLVMFuncOp>()) Declare(translator, f);
  for (auto f : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!f.isExternal()) translator.TranslateBody(f);
    if (!translator.status().ok()) return translator.status();
  }
  return to;
}

}  // namespace tandem

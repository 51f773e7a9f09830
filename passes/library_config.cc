#include "passes/library_config.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/dtype.h"
#include "base/status_macros.h"
#include "mlir/IR/Builders.h"
#include "passes/exec/dialect.h"

namespace tandem {
namespace {

static_assert(static_cast<int>(exec::Algorithm::kPackPanels) == static_cast<int>(fb::Algorithm::PackPanels));

// The call's element types and their keys in the attribute, where float32 is left out. T: fb::LibraryCallT, const or
// not.
template <typename T>
auto Types(T& call) {
  return std::array{std::pair{llvm::StringLiteral("x_dtype"), &call.x_dtype},
                    std::pair{llvm::StringLiteral("kernel_dtype"), &call.kernel_dtype},
                    std::pair{llvm::StringLiteral("y_dtype"), &call.y_dtype},
                    std::pair{llvm::StringLiteral("plain_dtype"), &call.plain_dtype}};
}

constexpr std::pair<fb::Primitive, llvm::StringLiteral> kPrimitives[] = {
    {fb::Primitive::Conv2D, "conv2d"},
    {fb::Primitive::Conv2DInputGrad, "conv2d_input_grad"},
    {fb::Primitive::Conv2DFilterGrad, "conv2d_filter_grad"},
    {fb::Primitive::MatMul, "matmul"},
    {fb::Primitive::BatchMatMul, "batch_matmul"},
    {fb::Primitive::PackWeights, "pack_weights"}};
constexpr std::pair<fb::Epilogue, llvm::StringLiteral> kEpilogues[] = {{fb::Epilogue::None, "none"},
                                                                       {fb::Epilogue::Bias, "bias"},
                                                                       {fb::Epilogue::BiasRelu, "bias_relu"},
                                                                       {fb::Epilogue::Relu, "relu"},
                                                                       {fb::Epilogue::Gelu, "gelu"},
                                                                       {fb::Epilogue::BiasGelu, "bias_gelu"},
                                                                       {fb::Epilogue::ReluMask, "relu_mask"},
                                                                       {fb::Epilogue::BiasReluMask, "bias_relu_mask"},
                                                                       {fb::Epilogue::GeluInput, "gelu_input"},
                                                                       {fb::Epilogue::BiasGeluInput, "bias_gelu_input"},
                                                                       {fb::Epilogue::ReluGrad, "relu_grad"},
                                                                       {fb::Epilogue::ReluBiasGrad, "relu_bias_grad"},
                                                                       {fb::Epilogue::GeluGrad, "gelu_grad"},
                                                                       {fb::Epilogue::GeluBiasGrad, "gelu_bias_grad"},
                                                                       {fb::Epilogue::XSums, "x_sums"},
                                                                       {fb::Epilogue::KernelSums, "kernel_sums"}};

}  // namespace

absl::StatusOr<fb::Primitive> PrimitiveFromName(llvm::StringRef name) {
  for (const auto& [p, n] : kPrimitives) {
    if (n == name) return p;
  }
  return absl::UnimplementedError(absl::StrCat("no library here provides the primitive \"", name.str(), "\""));
}

llvm::StringRef PrimitiveName(fb::Primitive primitive) {
  for (const auto& [p, n] : kPrimitives) {
    if (p == primitive) return n;
  }
  return "";
}

mlir::DictionaryAttr LibraryConfigToAttr(mlir::MLIRContext* context, const fb::LibraryCallT& call) {
  mlir::Builder b(context);
  llvm::SmallVector<mlir::NamedAttribute> attrs;
  auto shape = [&](llvm::StringRef key, const std::vector<int64_t>& values) {
    if (!values.empty()) attrs.push_back(b.getNamedAttr(key, b.getDenseI64ArrayAttr(values)));
  };
  auto flag = [&](llvm::StringRef key, bool value) {
    if (value) attrs.push_back(b.getNamedAttr(key, b.getUnitAttr()));
  };
  shape("x_shape", call.x_shape);
  shape("kernel_shape", call.kernel_shape);
  shape("y_shape", call.y_shape);
  shape("strides", call.strides);
  shape("pad_low", call.pad_low);
  shape("pad_high", call.pad_high);
  for (const auto& [key, type] : Types(call)) {
    if (*type != fb::DType::Invalid && *type != fb::DType::Float32) {
      absl::string_view name = Name(static_cast<DType>(*type));
      attrs.push_back(b.getNamedAttr(key, b.getStringAttr(llvm::StringRef(name.data(), name.size()))));
    }
  }
  flag("transpose_a", call.transpose_a);
  flag("transpose_b", call.transpose_b);
  flag("swap_x", call.swap_x);
  flag("swap_kernel", call.swap_kernel);
  flag("swap_y", call.swap_y);
  flag("packed", call.packed);
  flag("reduces_batch", call.reduces_batch);
  flag("tf32", call.tf32);
  flag("adds", call.adds);
  for (const auto& [e, name] : kEpilogues) {
    if (e == call.epilogue && e != fb::Epilogue::None)
      attrs.push_back(b.getNamedAttr("epilogue", b.getStringAttr(name)));
  }
  if (call.primitive == fb::Primitive::PackWeights) {
    attrs.push_back(b.getNamedAttr("packed_for", b.getStringAttr(PrimitiveName(call.packed_for))));
  }
  if (call.algorithm != fb::Algorithm::Library) {
    attrs.push_back(
        b.getNamedAttr("algorithm", exec::AlgorithmAttr::get(context, static_cast<exec::Algorithm>(call.algorithm))));
  }
  if (!call.implementation.empty()) {
    attrs.push_back(b.getNamedAttr("implementation", b.getStringAttr(call.implementation)));
  }
  return b.getDictionaryAttr(attrs);
}

absl::StatusOr<fb::LibraryCallT> LibraryConfigFromAttr(llvm::StringRef primitive, mlir::DictionaryAttr config) {
  fb::LibraryCallT call;
  TD_ASSIGN_OR_RETURN(call.primitive, PrimitiveFromName(primitive));
  auto shape = [&](llvm::StringRef key) {
    auto a = config.getAs<mlir::DenseI64ArrayAttr>(key);
    return a ? std::vector<int64_t>(a.asArrayRef().begin(), a.asArrayRef().end()) : std::vector<int64_t>();
  };
  auto text = [&](llvm::StringRef key) {
    auto a = config.getAs<mlir::StringAttr>(key);
    return a ? a.getValue() : llvm::StringRef();
  };
  call.x_shape = shape("x_shape");
  call.kernel_shape = shape("kernel_shape");
  call.y_shape = shape("y_shape");
  call.strides = shape("strides");
  call.pad_low = shape("pad_low");
  call.pad_high = shape("pad_high");
  for (const auto& [key, type] : Types(call)) {
    if (!text(key).empty())
      *type = static_cast<fb::DType>(DTypeFromName(absl::string_view(text(key).data(), text(key).size())));
  }
  call.transpose_a = config.contains("transpose_a");
  call.transpose_b = config.contains("transpose_b");
  call.swap_x = config.contains("swap_x");
  call.swap_kernel = config.contains("swap_kernel");
  call.swap_y = config.contains("swap_y");
  call.packed = config.contains("packed");
  call.reduces_batch = config.contains("reduces_batch");
  call.tf32 = config.contains("tf32");
  call.adds = config.contains("adds");
  for (const auto& [e, name] : kEpilogues) {
    if (name == text("epilogue")) call.epilogue = e;
  }
  if (config.contains("packed_for")) {
    TD_ASSIGN_OR_RETURN(call.packed_for, PrimitiveFromName(text("packed_for")));
  }
  if (auto algorithm = config.getAs<exec::AlgorithmAttr>("algorithm")) {
    call.algorithm = static_cast<fb::Algorithm>(algorithm.getValue());
  }
  call.implementation = text("implementation").str();
  return call;
}

}  // namespace tandem

// The kernels of one Winograd convolution as text, and the direct ops that they replace.
#ifndef TANDEM_PASSES_CODEGEN_WINOGRAD_TEST_UTIL_H_
#define TANDEM_PASSES_CODEGEN_WINOGRAD_TEST_UTIL_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "passes/exec/winograd_shape.h"

namespace tandem {

// A convolution of x [height, width, in] to `out` channels, with equal pads in both directions.
struct WinogradCase {
  int64_t height, width, in, out, pad_low, pad_high, block;
};

// Which values are bfloat16: none, images and the kernel, or the factors of products too.
enum class WinogradPrecision { kFloat32, kBFloat16Images, kBFloat16 };

inline std::string ImageText(int64_t h, int64_t w, int64_t c, const std::string& element = "f32") {
  return absl::StrCat("tensor<?x", h, "x", w, "x", c, "x", element, ">");
}

// The functions of one case: Winograd's and the direct one.
class WinogradTexts {
 public:
  WinogradTexts(const WinogradCase& c, int64_t tile, WinogradPrecision precision = WinogradPrecision::kFloat32)
      : case_(c), precision_(precision) {
    shape_ = {c.height,
              c.width,
              c.height + c.pad_low + c.pad_high - 2,
              c.width + c.pad_low + c.pad_high - 2,
              c.in,
              c.out,
              c.pad_low,
              c.pad_low,
              tile,
              c.block};
    shape_.bfloat16_products = precision == WinogradPrecision::kBFloat16;
    element_ = precision == WinogradPrecision::kFloat32 ? "f32" : "bf16";
    x_ = ImageText(c.height, c.width, c.in, element_);
    y_ = ImageText(shape_.out_height, shape_.out_width, c.out, element_);
    k_ = absl::StrCat("tensor<3x3x", c.in, "x", c.out, "x", element_, ">");
    dk_ = absl::StrCat("tensor<3x3x", c.in, "x", c.out, "xf32>");
    window_ =
        absl::StrCat("strides [1, 1] low [", c.pad_low, ", ", c.pad_low, "] high [", c.pad_high, ", ", c.pad_high, "]");
    attributes_ = absl::StrCat("tile = ", tile, ", block = ", c.block, ", pad_low = array<i64: ", c.pad_low, ", ",
                               c.pad_low, ">");
  }

  const WinogradShape& shape() const { return shape_; }

  std::string Transform(bool adjoint) const {
    std::string u = U(adjoint);
    return absl::StrCat(
        "func.func private @k(%k: ", k_, ") -> ", u,
        " attributes {exec.kernel = #exec.kernel_kind<split>} { %0 = ", "exec.winograd_kernel %k {tile = ", shape_.tile,
        adjoint ? ", adjoint = true" : "", "} : ", k_, " -> ", u, " return %0 : ", u, " }");
  }
  // `epilogue`: with bias and relu; `residual`: with a residual behind the bias.
  std::string Forward(bool epilogue, bool residual = false) const {
    const std::string bias = absl::StrCat("tensor<", case_.out, "x", element_, ">");
    std::string in = absl::StrCat(x_, ", ", U(false), epilogue ? ", " + bias : "", residual ? ", " + y_ : "");
    return absl::StrCat("func.func private @k(%x: ", x_, ", %u: ", U(false), epilogue ? ", %b: " + bias : "",
                        residual ? ", %r: " + y_ : "", ") -> (", y_, ", ", Scratch(false),
                        ") attributes {exec.kernel = #exec.kernel_kind<tile>} { %0:2 = exec.winograd_conv2d %x, %u",
                        epilogue ? ", %b" : "", residual ? " adds %r" : "", " {", attributes_, epilogue ? ", relu" : "",
                        "} : (", in, ") -> (", y_, ", ", Scratch(false), ") return %0#0, %0#1 : ", y_, ", ",
                        Scratch(false), " }");
  }
  // `float32_dx`: the result is float32, whatever dy is.
  std::string InputGrad(bool float32_dx = false) const {
    const std::string dx = float32_dx ? ImageText(case_.height, case_.width, case_.in) : x_;
    const std::string scratch = float32_dx ? Scratch(false) : ScratchDx();
    return absl::StrCat(
        "func.func private @k(%dy: ", y_, ", %u: ", U(true), ") -> (", dx, ", ", scratch,
        ") attributes {exec.kernel = #exec.kernel_kind<tile>} { %0:2 = exec.winograd_input_grad %dy, %u {", attributes_,
        "} : (", y_, ", ", U(true), ") -> (", dx, ", ", scratch, ") return %0#0, %0#1 : ", dx, ", ", scratch, " }");
  }
  std::string FilterGrad() const {
    return absl::StrCat(
        "func.func private @k(%x: ", x_, ", %dy: ", y_, ") -> (", dk_, ", ", Scratch(true),
        ") attributes {exec.kernel = #exec.kernel_kind<tile>} { %0:2 = exec.winograd_filter_grad %x, %dy {",
        attributes_, shape_.bfloat16_products ? ", bfloat16_products" : "", "} : (", x_, ", ", y_, ") -> (", dk_, ", ",
        Scratch(true), ") return %0#0, %0#1 : ", dk_, ", ", Scratch(true), " }");
  }
  // The same by the direct ops, which share no code with Winograd's, in float32.
  std::string Direct(const std::string& op) const {
    std::string x = ImageText(case_.height, case_.width, case_.in);
    std::string y = ImageText(shape_.out_height, shape_.out_width, case_.out);
    std::string a = op == "conv2d_input_grad" ? y : x, b = op == "conv2d_filter_grad" ? y : dk_;
    std::string r = op == "conv2d" ? y : op == "conv2d_input_grad" ? x : dk_;
    std::string size = op == "conv2d"              ? ""
                       : op == "conv2d_input_grad" ? absl::StrCat("size [", case_.height, ", ", case_.width, "] ")
                                                   : "size [3, 3] ";
    return absl::StrCat("func.func private @d(%a: ", a, ", %b: ", b, ") -> ", r, " { %0 = td.", op, " %a, %b ", size,
                        window_, " : ", a, ", ", b, " -> ", r, " return %0 : ", r, " }");
  }

 private:
  std::string U(bool adjoint) const {
    int64_t rows = adjoint ? case_.out : case_.in, columns = adjoint ? case_.in : case_.out;
    return absl::StrCat("tensor<", shape_.points(), "x",
                        PanelRows(rows, shape_.bfloat16_products) * PadChannels(columns), "x",
                        shape_.bfloat16_products ? "bf16>" : "f32>");
  }
  std::string ScratchDx() const {
    WinogradShape s = shape_;
    s.bfloat16_dx = precision_ != WinogradPrecision::kFloat32;
    return absl::StrCat("tensor<", 4 * ScratchOf(s, false).floats, "xui8>");
  }
  std::string Scratch(bool filter_grad) const {
    return absl::StrCat("tensor<", 4 * ScratchOf(shape_, filter_grad).floats, "xui8>");
  }

  WinogradCase case_;
  WinogradPrecision precision_;
  WinogradShape shape_;
  std::string element_, x_, y_, k_, dk_, window_, attributes_;
};

}  // namespace tandem

#endif  // TANDEM_PASSES_CODEGEN_WINOGRAD_TEST_UTIL_H_

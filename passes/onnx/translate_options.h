// Options of the translation to ONNX.
#ifndef TANDEM_PASSES_ONNX_TRANSLATE_OPTIONS_H_
#define TANDEM_PASSES_ONNX_TRANSLATE_OPTIONS_H_

namespace tandem::onnx {

struct TranslateOptions {
  // Scales the weights of a convolution in front of a batch norm, which is then no op of its own.
  bool fold_batch_norm = false;
};

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_TRANSLATE_OPTIONS_H_

// Options of the translation to ONNX.
#ifndef TANDEM_PASSES_ONNX_TRANSLATE_OPTIONS_H_
#define TANDEM_PASSES_ONNX_TRANSLATE_OPTIONS_H_

namespace tandem::onnx {

struct TranslateOptions {
  // Makes a batch norm part of the convolution in front of it, by scaling the convolution's weights.
  bool fold_batch_norm = false;
};

}  // namespace tandem::onnx

#endif  // TANDEM_PASSES_ONNX_TRANSLATE_OPTIONS_H_

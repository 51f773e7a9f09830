// What a library call does with its product before it is stored: Epilogue of executable.fbs, which says more.
#ifndef TANDEM_RUNTIME_EPILOGUE_H_
#define TANDEM_RUNTIME_EPILOGUE_H_

#include <cstdint>
#include <string>

namespace tandem {

// The schema's, whose generated header includes this one.
namespace fb {
struct Epilogue;
enum class Activation : int8_t;
enum class Summed : int8_t;
}  // namespace fb

struct Epilogue {
  bool bias = false, residual = false;
  fb::Activation activation{};
  bool saves = false, gradient = false;
  fb::Summed sums{};

  bool operator==(const Epilogue&) const = default;
  bool empty() const { return *this == Epilogue(); }
  // The parts that CPUs have, and convolutions: no more than a bias, a residual and a relu.
  bool is_forward() const;
  bool relu() const;
  bool gelu() const;
  // The parts in their order: "bias+relu", "relu+mask", "gelu+gradient+y_sums"; "none".
  std::string Text() const;
};

}  // namespace tandem

// How FlatBuffers' generated code converts.
namespace flatbuffers {
tandem::fb::Epilogue Pack(const tandem::Epilogue& epilogue);
tandem::Epilogue UnPack(const tandem::fb::Epilogue& epilogue);
}  // namespace flatbuffers

#endif  // TANDEM_RUNTIME_EPILOGUE_H_

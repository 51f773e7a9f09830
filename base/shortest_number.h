// Numbers as text.
#ifndef TANDEM_BASE_SHORTEST_NUMBER_H_
#define TANDEM_BASE_SHORTEST_NUMBER_H_

#include <charconv>
#include <string>

namespace tandem {

// Returns the shortest text that reads back as this float, double or integer: "0.1", "1e-07", "3", "inf".
template <typename T>
std::string ShortestNumber(T value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace tandem

#endif  // TANDEM_BASE_SHORTEST_NUMBER_H_

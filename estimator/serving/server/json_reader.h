// JsonReader: takes JSON from a text piece by piece, so that numbers go where they belong without a tree in between.
#ifndef TANDEM_ESTIMATOR_SERVING_SERVER_JSON_READER_H_
#define TANDEM_ESTIMATOR_SERVING_SERVER_JSON_READER_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tandem::serving {

// Functions that return false take nothing then. The reader does not recurse: its users do, as deep as what they
// expect.
class JsonReader {
 public:
  // `text` must outlive the reader.
  explicit JsonReader(absl::string_view text) : begin_(text.data()), next_(begin_), end_(begin_ + text.size()) {}

  // Returns the next character behind white space, without taking it; 0 at the end.
  char Peek();
  // Takes `c` if it is the next character behind white space.
  bool Take(char c);
  // Takes a string. False if there is none, or if it is not well formed.
  bool ReadString(std::string* value);
  // Takes a number of the type; for floating point also NaN, Infinity and -Infinity, as TensorFlow Serving does. False
  // if there is none, or if it does not fit into the type.
  bool ReadValue(float* value);
  bool ReadValue(double* value);
  bool ReadValue(int32_t* value);
  bool ReadValue(int64_t* value);
  bool ReadValue(uint8_t* value);
  // Takes true or false.
  bool ReadValue(bool* value);
  // Calls `member` with the name of each member, whose value it must read.
  absl::Status ReadObject(absl::string_view where, absl::FunctionRef<absl::Status(const std::string& name)> member);
  // InvalidArgument unless only white space is left.
  absl::Status ReadEnd();

  // Returns InvalidArgument: what is next, where something else is expected. `where` is a path, such as
  // "instances[3].x".
  absl::Status Unexpected(absl::string_view where, absl::string_view expected);

 private:
  void SkipSpace();
  bool TakeWord(absl::string_view word);
  template <typename T>
  bool ReadFloat(T* value);
  template <typename T>
  bool ReadInteger(T* value);
  // Reads what follows the first quotation mark.
  bool ReadRestOfString(std::string* value);
  // Reads what follows a backslash.
  bool ReadEscape(std::string* value);
  bool ReadHex(uint32_t* value);
  // Describes what is next.
  std::string Found();

  const char* const begin_;
  const char* next_;
  const char* const end_;
};

}  // namespace tandem::serving

#endif  // TANDEM_ESTIMATOR_SERVING_SERVER_JSON_READER_H_

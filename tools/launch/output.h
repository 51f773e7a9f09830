// Output: collects lines of many processes and writes them to the launcher's standard output and error.
#ifndef TANDEM_TOOLS_LAUNCH_OUTPUT_H_
#define TANDEM_TOOLS_LAUNCH_OUTPUT_H_

#include <poll.h>

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tandem {

// Keeps lines in memory until they can be written without blocking, so that the launcher can watch its processes even
// if nobody reads their output.
class Output {
 public:
  Output();

  // Callers append lines to these strings. Both functions return the same string if both streams lead to the same file
  // or terminal, so that lines stay whole and in order.
  std::string* output() { return &output_.text; }
  std::string* error() { return same_ ? &output_.text : &error_.text; }

  // True if so much output is waiting that the launcher should read no more from the tasks.
  bool full() const;
  bool empty() const { return output_.text.empty() && error_.text.empty(); }
  // The errno of the failed write if standard output cannot be written any more, otherwise 0. Waiting lines are dropped
  // after such an error.
  int error_number() const { return output_.error_number; }

  // Appends the descriptors and events that poll should wait for.
  void AddTo(std::vector<pollfd>* polled) const;
  // Writes what can be written without blocking.
  void Write();
  // Drops all waiting lines.
  void Drop();

 private:
  struct Stream {
    int fd;
    std::string text;
    int error_number = 0;

    void Write();
  };

  Stream output_, error_;
  bool same_;
};

}  // namespace tandem

#endif  // TANDEM_TOOLS_LAUNCH_OUTPUT_H_

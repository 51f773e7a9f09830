// The descriptors 0, 1 and 2. If a program is started without one of them (`program >&-`), the next file that it opens
// gets the number, and everything that is printed goes into that file.
#ifndef TANDEM_BASE_STANDARD_DESCRIPTORS_H_
#define TANDEM_BASE_STANDARD_DESCRIPTORS_H_

namespace tandem {

// Opens /dev/null for each of these descriptors that is missing, to protect files that libraries open. Thread-safe.
void OpenStandardDescriptors();

// Returns `fd` if it is above 2. Otherwise closes `fd` and returns a copy with a higher number, which closes on exec.
// Returns -1, with errno, if `fd` is -1 or no more descriptors are available.
int AboveStandardDescriptors(int fd);

}  // namespace tandem

#endif  // TANDEM_BASE_STANDARD_DESCRIPTORS_H_

// The program or shared library that holds Tandem's code.
#ifndef TANDEM_BASE_OWN_OBJECT_H_
#define TANDEM_BASE_OWN_OBJECT_H_

#include <link.h>

namespace tandem {

// For callbacks of dl_iterate_phdr: returns true if `object` is the one that this function is linked into. That need
// not be the main program: Tandem may be a shared library, and then either can be replaced without the other.
bool IsOwnObject(const dl_phdr_info& object);

}  // namespace tandem

#endif  // TANDEM_BASE_OWN_OBJECT_H_

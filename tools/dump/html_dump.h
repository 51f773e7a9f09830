// Shows an executable as one self-contained web page.
#ifndef TANDEM_TOOLS_DUMP_HTML_DUMP_H_
#define TANDEM_TOOLS_DUMP_HTML_DUMP_H_

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/executable/executable.h"

namespace tandem {

// Returns a page that needs no network. `dump` is the result of DumpJson, `costs` that of CostsJson. The page's script
// sets data-ready="1" on the root element when everything is drawn, and data-errors to the number of errors in the
// script.
std::string DumpHtml(const Executable& executable, const nlohmann::ordered_json& dump,
                     const nlohmann::ordered_json& costs);

}  // namespace tandem

#endif  // TANDEM_TOOLS_DUMP_HTML_DUMP_H_

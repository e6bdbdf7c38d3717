#include "client/connection/editor.hpp"

#include <cstdlib>

#include "common/base/shell_words.hpp"

namespace orange::connection {

Result<std::vector<std::string>> editor() {
    for (const char* name : {"VISUAL", "EDITOR"}) {
        const char* text = std::getenv(name);
        if (!text || !*text) continue;
        auto words = shell_words(text);
        if (!words) return in_context(name, words.error());
        if (!words->empty()) return words;
    }
    return std::vector<std::string>{"vi"};
}

}  // namespace orange::connection

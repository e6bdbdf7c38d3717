#include "client/connection/caller_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

extern char** environ;

namespace orange::connection {

rpc::CallerEnvironment caller_environment() {
    rpc::CallerEnvironment caller;
    for (char** entry = environ; entry && *entry; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size()) continue;
        const auto name = text.substr(0, equals);
        if (name == "PATH") caller.path = text.substr(equals + 1);
        const bool plain = std::all_of(name.begin(), name.end(),
                                       [](unsigned char c) { return c < 128 && (std::isalnum(c) != 0 || c == '_'); });
        if (plain) caller.variables.emplace_back(name);
    }
    return caller;
}

}  // namespace orange::connection

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/agents/harness.hpp"

namespace orange::agents {

/// A text of a definition that tells why an agent cannot work.
struct News {
    std::string key;
    std::string text;
    bool is_seen = false;
};

/// Puts each text of the definition that tells of a limit, a missing login or an error above the prompt of an idle
/// window, and reads the window as the daemon does. If the window does not show the prompt that the definition names,
/// no text is seen. A new version of a program may draw its prompt or its status lines
/// in a way in which Orange would miss such news.
std::vector<News> news_on(const Harness& harness, std::string_view screen, std::string_view title);

}  // namespace orange::agents

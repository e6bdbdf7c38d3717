#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "daemon/agents/harness.hpp"
#include "tests/catch.hpp"

namespace orange::test {

inline std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// One of the harnesses that come with Orange.
inline agents::Harness shipped(const std::string& name, agents::Mode mode = agents::Mode::persistent) {
    const auto path = std::string(ORANGE_SOURCE_DIR) + "/harnesses/" + name + ".yml";
    auto harness = agents::load_harness(text_of(path), path);
    if (!harness) FAIL(harness.error().message);
    harness->mode = mode;
    return *harness;
}

}  // namespace orange::test

#pragma once

// The only file that knows Catch2's version: 2.13 in Debian 12, 3 in Debian 13 and Ubuntu 24.04. Tests use the names of
// version 2 that stand here, and no others: scripts/lint reads this file. Session is the same in both.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#include <string>

namespace Catch {
using Matchers::EndsWith;
using Matchers::Matches;
using Matchers::Predicate;
using Matchers::StartsWith;
using Matchers::VectorContains;
inline auto Contains(const std::string& part) {
    return Matchers::ContainsSubstring(part);
}
}  // namespace Catch
#else
#include <catch2/catch.hpp>
#endif

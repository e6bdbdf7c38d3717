#pragma once

#include <cctype>
#include <stdexcept>
#include <string>

#include "tests/catch_version.hpp"

/// What tests may ask of a text for people or agents. Its wording is nobody's promise: errors are told apart by code
/// and details, and what happened by the history. What a text has to name (a path, an id, a state, a number, an option,
/// a heading, the command to run next) is a fact, and is asked for with `Tells`:
///
///     CHECK_THAT(error.message, Tells("orange task spawn " + id));
///
/// `Holds` is for contents: what the test itself, an agent or another program wrote, and layouts that are a test's
/// subject.
namespace orange {

/// One word, a list of them, `key: value`, an option or heading of one word, or what begins with a path or as a
/// command. Not a phrase.
inline bool is_fact(const std::string& text) {
    const auto begin = text.find_first_not_of(" \n"), end = text.find_last_not_of(" \n");
    if (begin == std::string::npos) return false;
    const auto fact = text.substr(begin, end - begin + 1);
    const auto blank = fact.find_first_of(" \n");
    if (blank == std::string::npos) return true;
    const auto first = fact.substr(0, blank), rest = fact.substr(blank);
    for (const char* program : {"orange", "oranged", "git", "tmux", "gh", "mv", "rm", "chmod", "kill", "export"}) {
        if (first == program) return true;
    }
    const bool goes_on = first[0] == '#' || first[0] == '-' || first.back() == ':' || first.back() == ',';
    const bool quoted = (first[0] == '"' || first[0] == '\'') && fact.find(first[0], 1) == fact.size() - 1;
    return (goes_on && is_fact(rest)) || quoted || first[0] == '/' || rest.starts_with(" → ");
}

inline bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// As a word of its own: 1 is told neither by 12 nor by shop--1.
inline bool tells(const std::string& text, const std::string& fact) {
    if (!is_fact(fact)) throw std::invalid_argument("a phrase, not a fact (tests/facts.hpp): " + fact);
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
    const bool number = fact.find_first_not_of("0123456789") == std::string::npos;
    const auto joins = [&](char edge, char neighbour) {
        return is_word(edge) && (is_word(neighbour) || (number && (neighbour == '-' || neighbour == '_')));
    };
    for (auto at = text.find(fact); at != std::string::npos; at = text.find(fact, at + 1)) {
        const auto after = at + fact.size();
        const bool joined =
            (at > 0 && joins(fact.front(), text[at - 1])) || (after < text.size() && joins(fact.back(), text[after]));
        if (!joined) return true;
    }
    return false;
}

inline auto Tells(const std::string& fact) {
    return Catch::Predicate<std::string>([fact](const std::string& text) { return tells(text, fact); },
                                         "tells " + fact);
}

inline auto Holds(const std::string& part) {
    return Catch::Contains(part);
}

}  // namespace orange

// For tests that look into one namespace of Orange only.
using orange::Holds;
using orange::holds;
using orange::Tells;
using orange::tells;

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// The {words} of harness definitions.
namespace orange::agents {

/// A part of an argument: fixed text, or a placeholder (then `text` is its name without braces). Only `{` + lower case
/// letters and underscores + `}` is a placeholder, so that JSON can stand in an argument as it is. A name that ends in
/// `_json` stands for the value as it goes between the quotes of a JSON (or TOML) string; `text` is the name without
/// that ending.
struct Piece {
    std::string text;
    bool placeholder = false;
    bool in_json = false;
};

std::vector<Piece> pieces_of(std::string_view argument);

bool mentions(std::string_view argument, std::string_view placeholder);

/// Returns the argument with each placeholder replaced once; inserted values are never expanded again. Unknown
/// placeholders stay.
std::string filled(std::string_view argument, const std::map<std::string, std::string>& values);

/// Returns `text` as it goes between double quotes in JSON and in TOML.
std::string json_escaped(std::string_view text);

/// Returns the list of all placeholders, for messages: "{prompt}, {effort}, …".
std::string placeholder_list();
bool is_placeholder(std::string_view name);

}  // namespace orange::agents

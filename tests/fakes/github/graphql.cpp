#include "tests/fakes/github/graphql.hpp"

#include <cctype>
#include <map>
#include <vector>

namespace orange::fakes::graphql {
namespace {

using Json = nlohmann::json;

struct Syntax {
    std::string message;
};

struct Selection {
    enum class Kind { field, spread, on } kind = Kind::field;
    std::string alias;
    std::string name;                 ///< of the field, the fragment, or the type
    Json arguments = Json::object();  ///< a variable is {"$": name}
    bool has_children = false;
    std::vector<Selection> children;
};

struct Document {
    std::string kind = "query";
    std::vector<Selection> operation;
    std::map<std::string, Selection> fragments;
};

std::vector<std::string> tokens_of(const std::string& text) {
    std::vector<std::string> tokens;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        std::size_t end = i + 1;
        if (c == '#') {
            i = std::min(text.find('\n', i), text.size());
            continue;
        }
        if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == ',') {
            ++i;
            continue;
        }
        if (text.compare(i, 3, "...") == 0) {
            end = i + 3;
        } else if (c == '"') {
            while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
            ++end;
        } else if (is_word(c) || c == '-') {
            while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
        }
        tokens.push_back(text.substr(i, end - i));
        i = end;
    }
    return tokens;
}

class Reader {
  public:
    explicit Reader(const std::string& text) : tokens_(tokens_of(text)) {}

    Document document() {
        Document document;
        while (!peek().empty()) {
            if (peek() == "fragment") {
                next();
                const auto name = next();
                want("on");
                Selection fragment;
                fragment.kind = Selection::Kind::on;
                fragment.name = next();
                fragment.children = selections();
                document.fragments[name] = std::move(fragment);
                continue;
            }
            if (peek() == "query" || peek() == "mutation") {
                document.kind = next();
                if (peek() != "{" && peek() != "(") next();
                if (peek() == "(") skip_group();
            }
            document.operation = selections();
        }
        return document;
    }

  private:
    std::string peek() const { return at_ < tokens_.size() ? tokens_[at_] : std::string(); }
    std::string next() {
        if (at_ >= tokens_.size()) throw Syntax{"Expected more, actual: (none)"};
        return tokens_[at_++];
    }
    void want(const std::string& token) {
        const auto got = next();
        if (got != token) throw Syntax{"Expected " + token + ", actual: " + got};
    }
    void skip_group() {
        int depth = 0;
        do {
            const auto token = next();
            depth += token == "(" ? 1 : token == ")" ? -1 : 0;
        } while (depth > 0);
    }

    Json value() {
        const auto token = next();
        if (token == "$") return {{"$", next()}};
        if (token == "[") {
            auto list = Json::array();
            while (peek() != "]") list.push_back(value());
            next();
            return list;
        }
        if (token == "{") {
            auto object = Json::object();
            while (peek() != "}") {
                const auto key = next();
                want(":");
                object[key] = value();
            }
            next();
            return object;
        }
        auto literal = Json::parse(token, nullptr, false);
        return literal.is_discarded() ? Json(token) : literal;  // an enum is its name
    }

    Selection selection() {
        Selection selected;
        if (peek() == "...") {
            next();
            selected.kind = peek() == "on" || peek() == "{" ? Selection::Kind::on : Selection::Kind::spread;
            if (peek() == "on") next();
            if (peek() != "{") selected.name = next();
            if (selected.kind == Selection::Kind::on) selected.children = selections();
            return selected;
        }
        selected.alias = selected.name = next();
        if (peek() == ":") {
            next();
            selected.name = next();
        }
        if (peek() == "(") {
            next();
            while (peek() != ")") {
                const auto key = next();
                want(":");
                selected.arguments[key] = value();
            }
            next();
        }
        selected.has_children = peek() == "{";
        if (selected.has_children) selected.children = selections();
        return selected;
    }

    std::vector<Selection> selections() {
        want("{");
        std::vector<Selection> all;
        while (peek() != "}") all.push_back(selection());
        next();
        return all;
    }

    std::vector<std::string> tokens_;
    std::size_t at_ = 0;
};

class Execution {
  public:
    Execution(const Document& document, const Json& variables, const Resolve& resolve)
        : document_(document), variables_(variables), resolve_(resolve) {}

    Json answer() {
        auto data = Json::object();
        const Json root = {{"__typename", document_.kind == "mutation" ? "Mutation" : "Query"}};
        fill(root, document_.operation, Json::array(), data);
        Json all = {{"data", std::move(data)}};
        if (!errors_.empty()) all["errors"] = errors_;
        return all;
    }

  private:
    Json filled(const Json& value) const {
        if (value.is_object() && value.contains("$")) {
            return variables_.value(value.at("$").get<std::string>(), Json());
        }
        if (!value.is_structured()) return value;
        auto copy = value;
        for (auto& part : copy) part = filled(part);
        return copy;
    }

    void fill(const Json& object, const std::vector<Selection>& selected, const Json& path, Json& out) {
        for (const auto& one : selected) {
            if (one.kind == Selection::Kind::spread) {
                const auto found = document_.fragments.find(one.name);
                if (found == document_.fragments.end())
                    throw Syntax{"Fragment " + one.name + " was used, but not defined"};
                fill(object, found->second.children, path, out);
            } else if (one.kind == Selection::Kind::on) {
                if (one.name.empty() || object.value("__typename", "") == one.name)
                    fill(object, one.children, path, out);
            } else {
                field(object, one, path, out);
            }
        }
    }

    void field(const Json& object, const Selection& one, Json path, Json& out) {
        path.push_back(one.alias);
        std::optional<Json> value;
        try {
            value = resolve_(object, one.name, filled(one.arguments));
        } catch (const Problem& problem) {
            errors_.push_back({{"type", problem.kind}, {"path", path}, {"message", problem.message}});
            out[one.alias] = nullptr;
            return;
        }
        if (!value) {
            const auto type = object.value("__typename", "?");
            throw Syntax{"Field '" + one.name + "' doesn't exist on type '" + type + "'"};
        }
        out[one.alias] = shaped(*value, one, path, out.contains(one.alias) ? out[one.alias] : Json());
    }

    Json shaped(const Json& value, const Selection& one, const Json& path, const Json& before) {
        if (value.is_array()) {
            auto list = Json::array();
            for (const auto& element : value) list.push_back(shaped(element, one, path, Json()));
            return list;
        }
        if (!value.is_object()) return value;
        auto object = before.is_object() ? before : Json::object();
        fill(value, one.children, path, object);
        return object;
    }

    const Document& document_;
    const Json& variables_;
    const Resolve& resolve_;
    Json errors_ = Json::array();
};

}  // namespace

Json run(const std::string& text, const Json& variables, const Resolve& resolve) {
    try {
        const auto document = Reader(text).document();
        return Execution(document, variables, resolve).answer();
    } catch (const Syntax& syntax) {
        return {{"errors", Json::array({Json{{"message", syntax.message}}})}};
    }
}

}  // namespace orange::fakes::graphql

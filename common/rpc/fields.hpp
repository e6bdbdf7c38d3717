#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "common/model/json.hpp"

/// Typed parameters and results: a struct says once, in describe(), what its members are called, what they mean and
/// which are required; reading, writing and JSON Schema follow from that. Names in describe() go over the wire.
///
///     struct Peek {
///         std::string id;
///         int lines = 40;
///         template <class Visitor> void describe(Visitor& v) {
///             v.required("id", id, "the task");
///             v.optional("lines", lines, "how many lines");
///         }
///     };
///
/// A method is such a struct with its name and its Reply (the *_methods.hpp and *_queries.hpp beside this file); the
/// daemon's method table and the client are both written against it.
namespace orange::rpc {

namespace detail {

struct Probe {
    template <class T>
    void required(const char*, T&, const char*) {}
    template <class T>
    void optional(const char*, T&, const char*) {}
};

template <class T>
concept Described = requires(T value, Probe probe) {
    value.describe(probe);
};

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_map : std::false_type {};
template <class T>
struct is_map<std::map<std::string, T>> : std::true_type {};

template <class T>
constexpr const char* type_name() {
    if constexpr (std::is_same_v<T, std::string>)
        return "a string";
    else if constexpr (std::is_same_v<T, bool>)
        return "true or false";
    else if constexpr (std::is_integral_v<T>)
        return "an integer";
    else if constexpr (is_vector<T>::value)
        return "a list";
    else
        return "an object";
}

}  // namespace detail

/// Whether a key that nothing asked for is an error. A misspelt parameter must not pass silently; a reply may come from
/// a newer daemon.
enum class UnknownKeys { refuse, ignore };

template <class T>
Result<T> read_as(const Json& json, const std::string& where, UnknownKeys unknown = UnknownKeys::refuse);
template <class T>
Json written(const T& value);
template <class T>
Json schema_of();

namespace detail {

class FieldReader {
  public:
    FieldReader(const Json& json, std::string where, UnknownKeys unknown = UnknownKeys::refuse)
        : json_(json), where_(std::move(where)), unknown_(unknown) {}

    template <class T>
    void required(const char* name, T& into, const char* doc) {
        known_.push_back(name);
        if (error_) return;
        if (!json_.contains(name) || json_.at(name).is_null()) {
            error_ = Error(ErrorCode::invalid_argument,
                           "parameter \"" + where_ + name + "\" is missing: " + std::string(doc));
            return;
        }
        take(name, into);
    }
    template <class T>
    void optional(const char* name, T& into, const char*) {
        known_.push_back(name);
        if (error_ || !json_.contains(name) || json_.at(name).is_null()) return;
        take(name, into);
    }
    std::optional<Error> finish() {
        if (error_ || unknown_ == UnknownKeys::ignore) return error_;
        for (const auto& [key, value] : json_.items()) {
            bool found = false;
            for (const auto& name : known_) found = found || name == key;
            if (!found) {
                std::string all;
                for (const auto& name : known_) all += (all.empty() ? "" : ", ") + name;
                return Error(ErrorCode::invalid_argument,
                             "unknown parameter \"" + where_ + key + "\"; there is: " + (all.empty() ? "none" : all));
            }
        }
        return std::nullopt;
    }

  private:
    template <class T>
    void take(const char* name, T& into) {
        auto value = read_as<T>(json_.at(name), where_ + name, unknown_);
        if (value) {
            into = std::move(*value);
        } else {
            error_ = value.error();
        }
    }

    const Json& json_;
    std::string where_;
    UnknownKeys unknown_;
    std::vector<std::string> known_;
    std::optional<Error> error_;
};

class FieldWriter {
  public:
    template <class T>
    void required(const char* name, T& value, const char*) {
        json[name] = written(value);
    }
    template <class T>
    void optional(const char* name, T& value, const char*) {
        if constexpr (is_optional<T>::value) {
            if (!value) return;
        }
        json[name] = written(value);
    }
    Json json = Json::object();
};

class FieldSchema {
  public:
    template <class T>
    void required(const char* name, T&, const char* doc) {
        add<T>(name, doc);
        schema["required"].push_back(name);
    }
    template <class T>
    void optional(const char* name, T&, const char* doc) {
        add<T>(name, doc);
    }
    Json schema = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};

  private:
    template <class T>
    void add(const char* name, const char* doc) {
        Json field = schema_of<T>();
        field["description"] = doc;
        schema["properties"][name] = std::move(field);
    }
};

}  // namespace detail

/// JSON → T; an Error names the parameter and what it should be.
template <class T>
Result<T> read_as(const Json& json, const std::string& where, [[maybe_unused]] UnknownKeys unknown) {
    const auto wrong = [&] {
        return Error(ErrorCode::invalid_argument, "parameter \"" + where + "\" must be " + detail::type_name<T>());
    };
    if constexpr (detail::is_optional<T>::value) {
        if (json.is_null()) return T{};
        auto inner = read_as<typename T::value_type>(json, where, unknown);
        if (!inner) return inner.error();
        return T{std::move(*inner)};
    } else if constexpr (std::is_same_v<T, Json>) {
        return json;
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (!json.is_string()) return wrong();
        return json.get<std::string>();
    } else if constexpr (std::is_same_v<T, bool>) {
        if (!json.is_boolean()) return wrong();
        return json.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
        if (!json.is_number_integer()) return wrong();
        const auto wide = json.get<std::int64_t>();
        if (json.is_number_unsigned() && wide < 0) return wrong();  // above what 63 bits hold
        if (wide != static_cast<std::int64_t>(static_cast<T>(wide))) return wrong();
        return static_cast<T>(wide);
    } else if constexpr (detail::is_vector<T>::value) {
        if (!json.is_array()) return wrong();
        T list;
        for (const auto& item : json) {
            auto value = read_as<typename T::value_type>(item, where + "[]", unknown);
            if (!value) return value.error();
            list.push_back(std::move(*value));
        }
        return list;
    } else if constexpr (detail::is_map<T>::value) {
        if (!json.is_object()) return wrong();
        T map;
        for (const auto& [key, item] : json.items()) {
            auto value = read_as<typename T::mapped_type>(item, where + "." + key, unknown);
            if (!value) return value.error();
            map[key] = std::move(*value);
        }
        return map;
    } else {
        static_assert(detail::Described<T>);
        if (!json.is_object()) return wrong();
        T value{};
        detail::FieldReader reader(json, where.empty() ? "" : where + ".", unknown);
        value.describe(reader);
        if (auto error = reader.finish()) return *error;
        return value;
    }
}

template <class T>
Json written(const T& value) {
    if constexpr (detail::is_optional<T>::value) {
        return value ? written(*value) : Json(nullptr);
    } else if constexpr (detail::is_vector<T>::value) {
        Json list = Json::array();
        for (const auto& item : value) list.push_back(written(item));
        return list;
    } else if constexpr (detail::is_map<T>::value) {
        Json map = Json::object();
        for (const auto& [key, item] : value) map[key] = written(item);
        return map;
    } else if constexpr (detail::Described<T>) {
        detail::FieldWriter writer;
        const_cast<T&>(value).describe(writer);  // describe() is shared with reading; writing changes nothing
        return std::move(writer.json);
    } else {
        return Json(value);
    }
}

template <class T>
Json schema_of() {
    if constexpr (detail::is_optional<T>::value) {
        return schema_of<typename T::value_type>();
    } else if constexpr (std::is_same_v<T, Json>) {
        return Json::object();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return {{"type", "string"}};
    } else if constexpr (std::is_same_v<T, bool>) {
        return {{"type", "boolean"}};
    } else if constexpr (std::is_integral_v<T>) {
        return {{"type", "integer"}};
    } else if constexpr (detail::is_vector<T>::value) {
        return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
    } else if constexpr (detail::is_map<T>::value) {
        return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>()}};
    } else {
        T value{};
        detail::FieldSchema schema;
        value.describe(schema);
        return std::move(schema.schema);
    }
}

}  // namespace orange::rpc

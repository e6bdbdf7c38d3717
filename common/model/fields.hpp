#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"
#include "common/base/orange_command.hpp"
#include "common/model/json.hpp"
#include "common/model/role.hpp"

/// Describes each field once: a struct's describe() says what its members are called, what they mean and when they are
/// present. Reading, writing and JSON Schema follow from it, here and for TASK.md's frontmatter
/// (daemon/store/task_file.cpp). The names in describe() go to disk and over the wire.
///
///     struct Peek {
///         std::string id;
///         int lines = 40;
///         void describe(auto& v) {
///             v.required("id", id, "the task");
///             v.optional("lines", lines, "how many lines");
///         }
///     };
///
/// A visitor has one function for each `Presence` (below), and `counter`, `own_counter` and `counters` for a task's
/// numbers. Structs that several folders read and write (a record, a task) have functions in common/model/json.cpp, so
/// that their templates are compiled only once.
namespace orange {

/// The treatment of unknown keys. A misspelt parameter must not be ignored silently; a reply or a file may come from a
/// newer Orange.
enum class UnknownKeys { refuse, ignore };

/// The rule for the presence of a field. A field that is not required may be missing or null, and then keeps its
/// default.
enum class Presence {
    required,
    optional,  ///< always written, unless it is an empty std::optional
    sparse,    ///< written unless it is empty, 0 or false
    nullable,  ///< always written, as null if it is empty
};

template <class T>
Result<T> read_as(const Json& json, const std::string& where, UnknownKeys unknown = UnknownKeys::refuse);
template <class T>
Json written(const T& value);
template <class T>
Json schema_of();

/// The functions that describe() calls on a visitor. Each calls `Self::field(name, member, doc, presence)`.
template <class Self>
class FieldVisitor {
  public:
    void required(const char* name, auto& member, const char* doc) {
        self().field(name, member, doc, Presence::required);
    }
    void optional(const char* name, auto& member, const char* doc) {
        self().field(name, member, doc, Presence::optional);
    }
    void sparse(const char* name, auto& member, const char* doc) { self().field(name, member, doc, Presence::sparse); }
    void nullable(const char* name, auto& member, const char* doc) {
        self().field(name, member, doc, Presence::nullable);
    }
    /// Describes a counter that no workflow may change.
    void own_counter(const char* name, auto& all, const char* doc) { self().counter(name, all, doc); }

  private:
    Self& self() { return static_cast<Self&>(*this); }
};

/// Describes a record for a reply, in which empty fields are written, too.
template <class V>
class Whole : public FieldVisitor<Whole<V>> {
  public:
    explicit Whole(V& visitor) : visitor_(visitor) {}
    void field(const char* name, auto& member, const char* doc, Presence presence) {
        visitor_.field(name, member, doc, presence == Presence::sparse ? Presence::optional : presence);
    }

  private:
    V& visitor_;
};

namespace detail {

struct AnyVisitor {};

template <class T>
concept Described = requires(T value, AnyVisitor visitor) {
    value.describe(visitor);
};
template <class T>
concept Id = std::is_same_v<T, TaskId> || std::is_same_v<T, RunId>;
/// An enumeration that has name_of() and from_name().
template <class T>
concept Named = std::is_enum_v<T>;
template <class T>
concept List = std::is_same_v<T, std::vector<typename T::value_type>>;
template <class T>
concept Set = std::is_same_v<T, std::set<typename T::value_type>>;
template <class T>
concept Map = std::is_same_v<T, std::map<std::string, typename T::mapped_type>>;
template <class T>
concept Optional = std::is_same_v<T, std::optional<typename T::value_type>>;

template <class T>
constexpr const char* type_name() {
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, OrangeCommand> || Id<T>)
        return "a string";
    else if constexpr (Named<T>)
        return "a name that Orange knows";
    else if constexpr (std::is_same_v<T, Timestamp>)
        return "an RFC 3339 time";
    else if constexpr (std::is_same_v<T, bool>)
        return "true or false";
    else if constexpr (std::is_integral_v<T>)
        return "an integer";
    else if constexpr (List<T> || Set<T>)
        return "a list";
    else
        return "an object";
}

/// Returns how messages name a field: `parameter "id"`, and in a reply or a file `"runs[].pid"`.
inline std::string called(const std::string& where, UnknownKeys unknown) {
    if (where.empty()) return "the whole";
    return (unknown == UnknownKeys::refuse ? "parameter \"" : "\"") + where + "\"";
}

template <class T>
bool is_empty(const T& value) {
    if constexpr (Optional<T>)
        return !value;
    else if constexpr (requires { value.empty(); })
        return value.empty();
    else if constexpr (std::is_integral_v<T>)
        return value == T{};
    else
        return false;
}

using Counters = std::map<std::string, std::int64_t>;

class FieldReader : public FieldVisitor<FieldReader> {
  public:
    FieldReader(const Json& json, std::string where, UnknownKeys unknown)
        : json_(json), where_(std::move(where)), unknown_(unknown) {}

    template <class T>
    void field(const char* name, T& into, const char* doc, Presence presence) {
        known_.push_back(name);
        if (error_) return;
        const auto found = json_.find(name);
        if (found == json_.end() || found->is_null()) {
            if (presence == Presence::required) fail(called(where_ + name, unknown_) + " is missing: " + doc);
            return;
        }
        auto value = read_as<T>(*found, where_ + name, unknown_);
        if (value) {
            into = std::move(*value);
        } else {
            error_ = value.error();
        }
    }
    void counter(const char* name, Counters& into, const char* doc) {
        std::int64_t value = 0;
        field(name, value, doc, Presence::optional);
        if (value != 0) into[name] = value;
    }
    void counters(const char* name, Counters& into, const char* doc) {
        Counters others;
        field(name, others, doc, Presence::sparse);
        into.merge(others);
    }
    std::optional<Error> finish();

  private:
    void fail(std::string why) { error_ = Error(ErrorCode::invalid_argument, std::move(why)); }

    const Json& json_;
    std::string where_;
    UnknownKeys unknown_;
    std::vector<std::string> known_;
    std::optional<Error> error_;
};

class FieldWriter : public FieldVisitor<FieldWriter> {
  public:
    template <class T>
    void field(const char* name, const T& value, const char*, Presence presence) {
        const bool left_out = presence == Presence::sparse || (presence == Presence::optional && Optional<T>);
        if (left_out && is_empty(value)) return;
        json[name] = presence == Presence::nullable && is_empty(value) ? Json() : written(value);
    }
    void counter(const char* name, const Counters& all, const char*) {
        const auto found = all.find(name);
        json[name] = found == all.end() ? 0 : found->second;
        told_.insert(name);
    }
    /// Writes the counters that had no field of their own.
    void counters(const char* name, Counters others, const char* doc) {
        for (const auto& told : told_) others.erase(told);
        field(name, others, doc, Presence::sparse);
    }
    Json json = Json::object();

  private:
    std::set<std::string> told_;
};

class FieldSchema : public FieldVisitor<FieldSchema> {
  public:
    template <class T>
    void field(const char* name, T&, const char* doc, Presence presence) {
        Json field = schema_of<T>();
        field["description"] = doc;
        if (presence == Presence::nullable) field["type"] = Json::array({field["type"], "null"});
        schema["properties"][name] = std::move(field);
        if (presence == Presence::required) schema["required"].push_back(name);
    }
    void counter(const char* name, Counters&, const char* doc) {
        std::int64_t number = 0;
        field(name, number, doc, Presence::optional);
    }
    void counters(const char* name, Counters& all, const char* doc) { field(name, all, doc, Presence::sparse); }
    Json schema = {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
};

}  // namespace detail

/// Reads a T from JSON; an Error names the field and its expected type.
template <class T>
Result<T> read_as(const Json& json, const std::string& where, [[maybe_unused]] UnknownKeys unknown) {
    using namespace detail;
    const auto wrong = [&] {
        return Error(ErrorCode::invalid_argument, called(where, unknown) + " must be " + type_name<T>());
    };
    if constexpr (Optional<T>) {
        if (json.is_null()) return T{};
        auto inner = read_as<typename T::value_type>(json, where, unknown);
        if (!inner) return inner.error();
        return T{std::move(*inner)};
    } else if constexpr (std::is_same_v<T, Json>) {
        return json;
    } else if constexpr (std::is_same_v<T, std::string>) {
        if (!json.is_string()) return wrong();
        return json.get<std::string>();
    } else if constexpr (std::is_same_v<T, OrangeCommand>) {
        if (!json.is_string()) return wrong();
        return OrangeCommand::from_text(json.get<std::string>());
    } else if constexpr (Id<T>) {
        if (!json.is_string()) return wrong();
        return T{json.get<std::string>()};
    } else if constexpr (std::is_same_v<T, Timestamp>) {
        const auto time = json.is_string() ? from_rfc3339(json.get<std::string>()) : std::nullopt;
        if (!time) return wrong();
        return *time;
    } else if constexpr (Named<T>) {
        const auto named = json.is_string() ? from_name(json.get<std::string>(), T{}) : std::nullopt;
        if (!named) return wrong();
        return *named;
    } else if constexpr (std::is_same_v<T, bool>) {
        if (!json.is_boolean()) return wrong();
        return json.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
        if (!json.is_number_integer()) return wrong();
        const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                    : std::in_range<T>(json.get<std::int64_t>());
        if (!fits) return wrong();
        return json.get<T>();
    } else if constexpr (List<T> || Set<T>) {
        if (!json.is_array()) return wrong();
        T list;
        for (const auto& item : json) {
            auto value = read_as<typename T::value_type>(item, where + "[]", unknown);
            if (!value) return value.error();
            list.insert(list.end(), std::move(*value));
        }
        return list;
    } else if constexpr (Map<T>) {
        if (!json.is_object()) return wrong();
        T map;
        for (const auto& [key, item] : json.items()) {
            auto value = read_as<typename T::mapped_type>(item, where + "." + key, unknown);
            if (!value) return value.error();
            map[key] = std::move(*value);
        }
        return map;
    } else {
        static_assert(Described<T>);
        if (!json.is_object()) return wrong();
        T value{};
        FieldReader reader(json, where.empty() ? "" : where + ".", unknown);
        value.describe(reader);
        if (auto error = reader.finish()) return *error;
        return value;
    }
}

template <class T>
Json written(const T& value) {
    using namespace detail;
    if constexpr (Optional<T>) {
        return value ? written(*value) : Json(nullptr);
    } else if constexpr (std::is_same_v<T, OrangeCommand>) {
        return value.text();
    } else if constexpr (Id<T>) {
        return value.value;
    } else if constexpr (std::is_same_v<T, Timestamp>) {
        return to_rfc3339(value);
    } else if constexpr (Named<T>) {
        return Json(name_of(value));
    } else if constexpr (List<T> || Set<T>) {
        Json list = Json::array();
        for (const auto& item : value) list.push_back(written(item));
        return list;
    } else if constexpr (Map<T>) {
        Json map = Json::object();
        for (const auto& [key, item] : value) map[key] = written(item);
        return map;
    } else if constexpr (Described<T>) {
        FieldWriter writer;
        const_cast<T&>(value).describe(writer);  // describe() is shared with reading; writing changes no member
        return std::move(writer.json);
    } else {
        return Json(value);
    }
}

template <class T>
Json schema_of() {
    using namespace detail;
    if constexpr (Optional<T>) {
        return schema_of<typename T::value_type>();
    } else if constexpr (std::is_same_v<T, Json>) {
        return Json::object();
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, OrangeCommand> || Id<T> || Named<T>) {
        return {{"type", "string"}};
    } else if constexpr (std::is_same_v<T, Timestamp>) {
        return {{"type", "string"}, {"format", "date-time"}};
    } else if constexpr (std::is_same_v<T, bool>) {
        return {{"type", "boolean"}};
    } else if constexpr (std::is_integral_v<T>) {
        return {{"type", "integer"}};
    } else if constexpr (List<T> || Set<T>) {
        return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
    } else if constexpr (Map<T>) {
        return {{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>()}};
    } else {
        T value{};
        FieldSchema schema;
        value.describe(schema);
        return std::move(schema.schema);
    }
}

}  // namespace orange

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/ids.hpp"
#include "common/model/json.hpp"
#include "common/model/role.hpp"

namespace orange {

/// Reads typed members of one object; the first wrong type is kept as the error, and later reads do nothing.
class JsonReader {
  public:
    JsonReader(const Json& json, std::string what) : json_(json), what_(std::move(what)) {
        if (!json.is_object()) fail("is not an object");
    }

    template <class T>
    void read(const char* key, T& into) {
        const Json* value = find(key);
        if (value && !assign(*value, into)) fail("\"" + std::string(key) + "\" has the wrong type");
    }
    template <class T>
    void read(const char* key, std::optional<T>& into) {
        const Json* value = find(key);
        if (!value) return;
        T inner{};
        if (assign(*value, inner)) {
            into = std::move(inner);
        } else {
            fail("\"" + std::string(key) + "\" has the wrong type");
        }
    }
    /// Hands a sub-value to `parse`, whose error becomes this reader's.
    template <class Parse>
    void each(const char* key, Parse parse) {
        const Json* value = find(key);
        if (!value) return;
        if (!value->is_array()) return fail("\"" + std::string(key) + "\" is not a list");
        for (const auto& item : *value) {
            if (error_) return;
            if (auto done = parse(item); !done) error_ = in_context(what_, done.error());
        }
    }
    const Json* find(const char* key) const {
        if (error_ || !json_.is_object()) return nullptr;
        const auto found = json_.find(key);
        return found == json_.end() || found->is_null() ? nullptr : &*found;
    }
    void fail(std::string why) {
        if (!error_) error_ = Error(ErrorCode::invalid_argument, what_ + ": " + std::move(why));
    }
    template <class T>
    Result<T> finish(T value) {
        if (error_) return *error_;
        return value;
    }

  private:
    static bool assign(const Json& json, std::string& into) {
        if (!json.is_string()) return false;
        into = json.get<std::string>();
        return true;
    }
    static bool assign(const Json& json, bool& into) {
        if (!json.is_boolean()) return false;
        into = json.get<bool>();
        return true;
    }
    static bool assign(const Json& json, std::int64_t& into) {
        if (!json.is_number_integer()) return false;
        into = json.get<std::int64_t>();
        return !json.is_number_unsigned() || into >= 0;  // above what 63 bits hold it would come out negative
    }
    static bool assign(const Json& json, int& into) {
        std::int64_t wide = 0;
        if (!assign(json, wide) || wide < INT32_MIN || wide > INT32_MAX) return false;
        into = static_cast<int>(wide);
        return true;
    }
    static bool assign(const Json& json, Timestamp& into) {
        if (!json.is_string()) return false;
        const auto time = from_rfc3339(json.get<std::string>());
        if (time) into = *time;
        return time.has_value();
    }
    static bool assign(const Json& json, Role& into) {
        if (!json.is_string()) return false;
        const auto role = role_from(json.get<std::string>());
        if (role) into = *role;
        return role.has_value();
    }
    static bool assign(const Json& json, TaskId& into) { return assign(json, into.value); }
    static bool assign(const Json& json, RunId& into) { return assign(json, into.value); }
    template <class T>
    static bool assign(const Json& json, std::vector<T>& into) {
        if (!json.is_array()) return false;
        for (const auto& item : json) {
            T value{};
            if (!assign(item, value)) return false;
            into.push_back(std::move(value));
        }
        return true;
    }
    template <class T>
    static bool assign(const Json& json, std::map<std::string, T>& into) {
        if (!json.is_object()) return false;
        for (const auto& [key, item] : json.items()) {
            T value{};
            if (!assign(item, value)) return false;
            into[key] = std::move(value);
        }
        return true;
    }

    const Json& json_;
    std::string what_;
    std::optional<Error> error_;
};

}  // namespace orange

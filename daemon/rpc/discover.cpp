#include "daemon/rpc/method_table.hpp"

namespace orange::rpc {
namespace {

constexpr const char* name_of(Access access) {
    switch (access) {
        case Access::read:
            return "anyone";
        case Access::agent:
            return "a human, or an agent about its own task";
        case Access::human:
            return "a human";
    }
    return "";
}

/// Returns the value of a method's access for programs that read the document.
constexpr const char* word_of(Access access) {
    return access == Access::read ? "read" : access == Access::agent ? "agent" : "human";
}

Json describe(const Method& method) {
    Json params = Json::array();
    const auto& required = method.params_schema.value("required", Json::array());
    for (const auto& [name, schema] : method.params_schema.at("properties").items()) {
        const bool must = std::find(required.begin(), required.end(), name) != required.end();
        params.push_back({{"name", name}, {"required", must}, {"schema", schema}});
    }
    Json errors = Json::array();
    for (const auto code : method.errors)
        errors.push_back({{"code", number_of(code)}, {"message", orange::name_of(code)}});
    return {{"name", method.name},
            {"summary", method.summary},
            {"description", std::string("May be called by ") + name_of(method.access) + "."},
            {"x-access", word_of(method.access)},
            {"x-behind-wall", std::string(engine::name_of(engine::behind_wall(method.name)))},
            {"paramStructure", "by-name"},
            {"params", std::move(params)},
            {"result", {{"name", "result"}, {"schema", method.result_schema}}},
            {"errors", std::move(errors)}};
}

}  // namespace

Json discover(const MethodTable& table) {
    Json methods = Json::array();
    for (const auto& [name, method] : table.all()) methods.push_back(describe(method));
    return {{"openrpc", "1.2.6"},
            {"info", {{"title", "Orange"}, {"version", ORANGE_VERSION}}},
            {"methods", std::move(methods)}};
}

}  // namespace orange::rpc

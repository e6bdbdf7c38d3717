#include "common/rpc/errors.hpp"

#include <set>

#include "tests/catch.hpp"

using namespace orange;

namespace {

constexpr ErrorCode k_codes[] = {ErrorCode::invalid_argument,
                                 ErrorCode::not_found,
                                 ErrorCode::illegal_transition,
                                 ErrorCode::gate_failed,
                                 ErrorCode::guard_failed,
                                 ErrorCode::pool_exhausted,
                                 ErrorCode::conflict,
                                 ErrorCode::forbidden,
                                 ErrorCode::needs_force,
                                 ErrorCode::external_failed,
                                 ErrorCode::workflow_invalid,
                                 ErrorCode::timeout,
                                 ErrorCode::unavailable,
                                 ErrorCode::io,
                                 ErrorCode::internal};

}  // namespace

TEST_CASE("Every error code has a number and a name of its own and comes back from the wire") {
    std::set<int> numbers;
    std::set<std::string_view> names;
    for (const auto code : k_codes) {
        CHECK(numbers.insert(rpc::number_of(code)).second);
        CHECK(names.insert(name_of(code)).second);
        const Error error(code, "what happened", {{"command", "git merge"}, {"exit_status", "1"}});
        CHECK(rpc::error_from_json(rpc::error_json(error)) == error);
    }
}

TEST_CASE("The numbers of the protocol stay what they are") {
    CHECK(rpc::number_of(ErrorCode::not_found) == -32001);
    CHECK(rpc::number_of(ErrorCode::gate_failed) == -32003);
    CHECK(rpc::number_of(ErrorCode::needs_force) == -32008);
    CHECK(rpc::number_of(ErrorCode::workflow_invalid) == -32010);
    CHECK(rpc::number_of(ErrorCode::invalid_argument) == -32602);
}

TEST_CASE("JSON-RPC's own errors are the request's fault, an unknown number is internal") {
    CHECK(rpc::code_from(rpc::k_method_not_found) == ErrorCode::invalid_argument);
    CHECK(rpc::code_from(rpc::k_parse_error) == ErrorCode::invalid_argument);
    CHECK(rpc::code_from(12345) == ErrorCode::internal);
    CHECK(rpc::is_unknown_method(rpc::error_from_json({{"code", rpc::k_method_not_found}, {"message", "no"}})));
    CHECK_FALSE(rpc::is_unknown_method(rpc::error_from_json({{"code", rpc::k_invalid_params}, {"message", "no"}})));
}

TEST_CASE("An error object of any shape becomes an error") {
    for (const Json& json : {Json(nullptr), Json(5), Json("x"), Json::array(), Json::object(), Json{{"code", "x"}},
                             Json{{"code", nullptr}, {"message", 5}, {"data", 7}},
                             Json{{"code", -32001}, {"data", {{"list", {1, 2}}, {"text", "x"}}}}}) {
        CAPTURE(dump(json));
        CHECK_NOTHROW(rpc::error_from_json(json));
    }
}

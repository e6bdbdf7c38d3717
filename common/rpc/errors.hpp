#pragma once

#include "common/base/error.hpp"
#include "common/model/json.hpp"

/// The protocol between the client and the daemon (docs/protocol.md), as structs: a method is a struct of its
/// parameters with its name (`k_name`) and the struct of its reply (`Reply`). Each describes its fields once
/// (common/model/fields.hpp), from which JSON, schemas and checks follow. daemon/rpc carries the methods out, the
/// client and the dashboard call them. This file has the errors: names and numbers on the wire never change.
namespace orange::rpc {

/// The codes of JSON-RPC 2.0.
inline constexpr int k_parse_error = -32700;
inline constexpr int k_invalid_request = -32600;
inline constexpr int k_method_not_found = -32601;
inline constexpr int k_invalid_params = -32602;
inline constexpr int k_internal_error = -32603;

/// Returns the number of an ErrorCode on the wire (docs/protocol.md, "Errors").
int number_of(ErrorCode code);
/// Returns the ErrorCode of a number; `internal` for an unknown one.
ErrorCode code_from(int number);

/// Makes {"code", "message", "data": {"name", …details}}.
Json error_json(const Error& error);
Error error_from_json(const Json& json);
/// Returns true for an error from JSON that says that the daemon has no such method: it is older than the client.
bool is_unknown_method(const Error& error);

}  // namespace orange::rpc

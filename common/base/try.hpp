#pragma once

#include <utility>

#include "common/base/result.hpp"

/// TRY returns a Result's error to the caller, or continues with its value. TRY is for functions that return a Result;
/// CO_TRY does the same in coroutines. Both are statements:
///
///     TRY(check(name));                             // only the error matters
///     TRY(auto text, files.read(path));             // declares `text`: the value, moved out of the Result
///     TRY(text, files.read(other));                 // assigns to an existing variable
///     CO_TRY(const auto head, co_await commit_of(git, repo, ref));
///
/// The error is returned unchanged. To add context, to check its code or to clean up first, write an `if` instead. A
/// declared variable lives until the end of the block, so the last three forms cannot be the only statement behind an
/// `if` (the compiler reports it). If the expression has a comma between template arguments, put a variable before it:
/// `TRY(f<A, B>())` would declare one. Use TRY only in a `.cpp`: the hidden Result's name contains __COUNTER__, which
/// differs between sources.
#define TRY(first, ...) ORANGE_TRY(return, ORANGE_TRY_NAME(__COUNTER__), first __VA_OPT__(, ) __VA_ARGS__)
#define CO_TRY(first, ...) ORANGE_TRY(co_return, ORANGE_TRY_NAME(__COUNTER__), first __VA_OPT__(, ) __VA_ARGS__)

// Names are joined in two macro calls, so that __COUNTER__ is expanded to a number first.
#define ORANGE_TRY_NAME(number) ORANGE_TRY_JOIN(orange_result_, number)
#define ORANGE_TRY_JOIN(left, right) left##right

#define ORANGE_TRY(leave, result, first, ...) \
    ORANGE_TRY_JOIN(ORANGE_TRY_WITH, __VA_OPT__(_VALUE))(leave, result, first __VA_OPT__(, ) __VA_ARGS__)

// The macros' arguments are names, declarations and co_await, which cannot be put in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ORANGE_TRY_WITH(leave, result, expression)                \
    do {                                                          \
        auto result = expression;                                 \
        if (!result.has_value()) leave std::move(result).error(); \
    } while (false)

#define ORANGE_TRY_WITH_VALUE(leave, result, target, ...)     \
    auto result = __VA_ARGS__;                                \
    if (!result.has_value()) leave std::move(result).error(); \
    target = std::move(result).value()
// NOLINTEND(bugprone-macro-parentheses)

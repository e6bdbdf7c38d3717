#pragma once

#include <utility>

#include "common/base/result.hpp"

/// Returns a Result's error to the caller, or goes on with its value. For functions that return a Result themselves;
/// CO_TRY is the same for coroutines. Both are statements:
///
///     TRY(check(name));                             // only the error matters
///     TRY(auto text, files.read(path));             // declares `text`: the value, moved out of the Result
///     TRY(text, files.read(other));                 // assigns to a variable that is there
///     CO_TRY(const auto head, co_await commit_of(git, repo, ref));
///
/// The error goes as it is: whoever adds context to it, looks at its code or tidies up first writes the `if` out. What
/// is declared lives as long as the block, so the last three forms cannot stand alone behind an `if` (the compiler says
/// so). A comma of a template's arguments needs a variable before it: `TRY(f<A, B>())` would declare one. For a `.cpp`
/// only: the hidden Result's name has __COUNTER__ in it, which differs from one source to the next.
#define TRY(first, ...) ORANGE_TRY(return, ORANGE_TRY_NAME(__COUNTER__), first __VA_OPT__(, ) __VA_ARGS__)
#define CO_TRY(first, ...) ORANGE_TRY(co_return, ORANGE_TRY_NAME(__COUNTER__), first __VA_OPT__(, ) __VA_ARGS__)

// Names are joined two calls deep, so that the counter is a number before it becomes part of a name.
#define ORANGE_TRY_NAME(number) ORANGE_TRY_JOIN(orange_result_, number)
#define ORANGE_TRY_JOIN(left, right) left##right

#define ORANGE_TRY(leave, result, first, ...) \
    ORANGE_TRY_JOIN(ORANGE_TRY_WITH, __VA_OPT__(_VALUE))(leave, result, first __VA_OPT__(, ) __VA_ARGS__)

// What they are given are names, declarations and co_await: nothing that parentheses could hold.
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

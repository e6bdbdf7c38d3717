#pragma once

#include <utility>

#include "common/base/result.hpp"

/// The macros of common/base/try.hpp for cppcheck, which does not know __VA_OPT__ and would stop at each of them. They
/// expand to the same statements, for up to 16 arguments (commas within the expression count). scripts/lint puts this
/// folder before the root on the include path.
#define TRY(...) ORANGE_TRY(return, ORANGE_TRY_NAME(__COUNTER__), __VA_ARGS__)
#define CO_TRY(...) ORANGE_TRY(co_return, ORANGE_TRY_NAME(__COUNTER__), __VA_ARGS__)

#define ORANGE_TRY_NAME(number) ORANGE_TRY_JOIN(orange_result_, number)
#define ORANGE_TRY_JOIN(left, right) left##right

// Selects by the number of arguments: the 17th is the macro to use.
#define ORANGE_TRY(leave, result, ...)                                                                          \
    ORANGE_TRY_PICK(__VA_ARGS__, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE,           \
                    ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, \
                    ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, \
                    ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, ORANGE_TRY_WITH_VALUE, \
                    ORANGE_TRY_WITH)                                                                            \
    (leave, result, __VA_ARGS__)
#define ORANGE_TRY_PICK(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, macro, ...) macro

#define ORANGE_TRY_WITH(leave, result, expression)                \
    do {                                                          \
        auto result = expression;                                 \
        if (!result.has_value()) leave std::move(result).error(); \
    } while (false)

#define ORANGE_TRY_WITH_VALUE(leave, result, target, ...)     \
    auto result = __VA_ARGS__;                                \
    if (!result.has_value()) leave std::move(result).error(); \
    target = std::move(result).value()

#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "common/base/error.hpp"

/// The base of all programs of Orange: results and errors, ids, clocks, text. This folder depends on no other one and
/// is included everywhere. A function that can fail returns a Result: a value, or an Error whose message names the
/// operation, the object and the way out. Exceptions are bugs.
namespace orange {

/// Thrown by Result::value() for an error. This is a bug in the caller; it is never used for control flow.
class BadResultAccess : public std::logic_error {
  public:
    explicit BadResultAccess(const Error& error) : std::logic_error("unchecked error: " + error.message) {}
};

/// A value or an Error, with the member names of std::expected (the code is C++20). An Error converts to any Result.
template <class T>
class [[nodiscard]] Result {
  public:
    using value_type = T;

    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
    Result(ErrorCode code, std::string message) : Result(Error(code, std::move(message))) {}

    bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T& value() & {
        require();
        return std::get<0>(state_);
    }
    const T& value() const& {
        require();
        return std::get<0>(state_);
    }
    T&& value() && {
        require();
        return std::get<0>(std::move(state_));
    }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    T value_or(T other) const& { return has_value() ? std::get<0>(state_) : std::move(other); }

    const Error& error() const& { return std::get<1>(state_); }
    Error&& error() && { return std::get<1>(std::move(state_)); }

  private:
    void require() const {
        if (!has_value()) throw BadResultAccess(std::get<1>(state_));
    }

    std::variant<T, Error> state_;
};

/// A success without a value, or an Error. `Result<void>` default-constructs to success.
template <>
class [[nodiscard]] Result<void> {
  public:
    using value_type = void;

    Result() = default;
    Result(Error error) : error_(std::move(error)), failed_(true) {}
    Result(ErrorCode code, std::string message) : Result(Error(code, std::move(message))) {}

    bool has_value() const { return !failed_; }
    explicit operator bool() const { return has_value(); }
    void value() const {
        if (failed_) throw BadResultAccess(error_);
    }

    const Error& error() const& { return error_; }
    Error&& error() && { return std::move(error_); }

  private:
    Error error_;
    bool failed_ = false;
};

}  // namespace orange

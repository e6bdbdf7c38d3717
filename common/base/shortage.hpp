#pragma once

#include <optional>
#include <string>

#include "common/base/error.hpp"

namespace orange {

/// Something that the machine or the daemon has used up. A failure with this cause says nothing about the file or the
/// task that it met: the same call succeeds when the shortage is over.
struct Shortage {
    std::string over;    ///< when it is over: "the disk has room"
    std::string advice;  ///< a sentence that says what to do
};

/// A detail of an Error: a command of the project has failed. Its output tells of a full disk only: what else it
/// lacks may be a limit of its own, which it meets at each try.
inline constexpr const char* k_of_project = "of_project";

/// Returns the shortage that an error reports, of the daemon's own calls or of a program that it ran; nothing if the
/// error has another cause.
std::optional<Shortage> shortage_in(const Error& error);

}  // namespace orange

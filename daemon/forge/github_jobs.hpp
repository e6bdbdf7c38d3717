#pragma once

#include <string>
#include <string_view>

/// Says why a job of GitHub Actions failed, from what GitHub's REST interface answers. Pure functions. All they are
/// given is text from outside: what they return is printable and bounded, and empty if the answer has another form.
namespace orange::forge {

/// Returns the number of the job that a check's URL leads to; empty if it is no job of this repository ("github.com/
/// acme/shop").
std::string job_at(std::string_view url, std::string_view repository);

/// Returns a line "failed step: NAME" for each, from the answer for a job.
std::string failed_steps_in(std::string_view job);

/// Returns the last 60 lines of a job's log up to its last error, without their times. Steps that clean up follow it.
std::string end_of_log(std::string_view log);

/// Returns a line "PATH:LINE: MESSAGE" for each, from the answer for the annotations of a check.
std::string annotations_in(std::string_view annotations);

}  // namespace orange::forge

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.hpp"

/// The language of the transcripts in tests/data/flows, which tests/data/flows/README.md describes. A transcript is
/// read whole before anything runs; what is not understood is an error with its line.
namespace orange::tests {

/// What follows an event: how the command ended and what it said.
struct Outcome {
    enum class Kind { refused, noted, gone, says, json };
    Kind kind;
    std::string text;   ///< what it says; of json: the pointer
    std::string value;  ///< of json: the value, as JSON
    std::size_t line = 0;
};

/// "> worker 2: orange task stuck": somebody does something. `task` counts from 1; 0: the newest.
struct Event {
    std::string actor;
    std::size_t task = 0;
    std::vector<std::string> words;
    std::vector<Outcome> outcomes;
};

/// "= status working": something that must come to hold.
struct Clause {
    std::string subject;
    std::vector<std::string> words;
};

struct Step {
    enum class Kind { event, expectation, history };
    Kind kind;
    std::size_t line = 0;
    std::string text;  ///< as it stands there
    std::size_t task = 0;
    Event event;
    std::vector<Clause> clauses;
    std::vector<std::string> history;  ///< the lines that must have come since the last such block of this task
};

struct Transcript {
    std::string title;
    std::string absent;  ///< why this flow does not exist in this workflow; empty where it does
    int pool = 2;
    bool remote = false;
    bool github = false;  ///< that remote is at GitHub
    std::vector<Step> steps;
};

/// `invalid_argument` with the file's name, the line and what would be right.
Result<Transcript> parse_transcript(const std::string& name, const std::string& text);

/// One cell of matrix.txt that has a transcript.
struct Cell {
    std::string workflow;
    std::string flow;
    bool exists = true;  ///< "flow"; false: "none", with a transcript of the refusal
};
Result<std::vector<Cell>> parse_matrix(const std::string& text);

/// Blanks separate words; between double quotes they don't. `\n`, `\"` and `\\` are understood there.
Result<std::vector<std::string>> words_of(const std::string& line);

}  // namespace orange::tests

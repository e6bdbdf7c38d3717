#pragma once

// The one place that knows Catch2's version: 2.13 on Debian 12, and what is used of it exists in v3 too.
#include <catch2/catch.hpp>

#include "tests/facts.hpp"

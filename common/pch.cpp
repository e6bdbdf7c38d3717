// Compiles common/pch.hpp; there is nothing in it.

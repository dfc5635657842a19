// What a program that sees typed text asks of the system before it sees any.
#pragma once

#include "base/result.h"

namespace laya::base {

/// Keeps typed text out of core dumps, and this process's memory from other processes of the same
/// user (debuggers, /proc/PID/mem): RLIMIT_CORE 0 and PR_SET_DUMPABLE 0. A leak checker built into
/// the program reads its memory that way, so with one only the limit is set. Call it first in main.
/// Io where the system refuses.
Status keep_memory_private();

/// A file that grows beyond the limit (RLIMIT_FSIZE) becomes an error of write(), which is
/// reported, instead of a signal that ends the program without a word. Call it first in main.
void report_file_size_limit();

}  // namespace laya::base

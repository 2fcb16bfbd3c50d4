// SPDX-License-Identifier: MIT
// serve: threads and registers, in the words of GDB's protocol.
#ifndef EXTRACT_SERVE_WORDS_H
#define EXTRACT_SERVE_WORDS_H

#include "kernel/debug_threads.h"
#include <extract/serve.h>
#include <extract/text.h>

// Writes what a thread does: "blocked on mutex "bus", held by "logger", priority 6".
void serve_put_state(struct extract_text *text, const struct debug_threads *threads,
                     const struct debug_thread *thread);
// Writes the name and the state, as pairs of hexadecimal digits of at most `most` bytes.
void serve_put_thread_words(struct extract_text *text, const struct debug_threads *threads,
                            const struct debug_thread *thread, size_t most);
// Writes the document that qXfer:threads:read returns.
void serve_put_thread_list(struct extract_text *text, const struct debug_threads *threads);
// Writes the target description: the registers of a machine. `feature_count` of its features;
// `fpu`: as saved_fpu_find returns it.
struct saved_fpu;
void serve_put_description(struct extract_text *text, const struct register_machine *machine,
                           unsigned feature_count, const struct saved_fpu *fpu);

#endif

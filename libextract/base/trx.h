// SPDX-License-Identifier: MIT
// base: how a ThreadX trace starts, which both its file (memory/trx.c) and its header
// (formats/threadx/header.c) must know.
#ifndef EXTRACT_BASE_TRX_H
#define EXTRACT_BASE_TRX_H

#include <extract/memory.h>

#define EXTRACT_TRX_ID 0x54585442u

// Bytes of a ULONG of the target, 4 or 8, and its byte order, by the first bytes of a control
// header; 0 when they are none.
unsigned extract_trx_word_bytes(const uint8_t *bytes, size_t length,
                                enum extract_byte_order *order);

#endif

// SPDX-License-Identifier: MIT
// serve: reads and writes packets of the GDB remote serial protocol (serve_packet.h). A client
// escapes bytes, but sends no runs.
#include "base/cursor.h"
#include "base/hex.h"
#include "serve/serve_packet.h"

enum { ESCAPE = '}', ESCAPE_BIT = 0x20, RUN = '*', INTERRUPT = 3 };

static void begin_packet(struct serve_input *input)
{
    input->state = SERVE_DATA;
    input->is_escape = input->is_long = false;
    input->sum = 0;
    input->used = 0;
}

static enum serve_news take_between(struct serve_input *input, uint8_t byte)
{
    if (byte == '$')
        begin_packet(input);
    return byte == '-' ? SERVE_REPEAT : byte == INTERRUPT ? SERVE_INTERRUPT : SERVE_NOTHING;
}

static void take_data(struct serve_input *input, uint8_t byte)
{
    if (byte == '$') { // the rest of the packet before was lost
        begin_packet(input);
        return;
    }
    if (byte == '#') {
        input->state = SERVE_CHECKSUM;
        return;
    }
    input->sum = (uint8_t)(input->sum + byte);
    if (byte == ESCAPE && !input->is_escape) {
        input->is_escape = true;
        return;
    }
    if (input->used == SERVE_PACKET)
        input->is_long = true;
    else
        input->data[input->used++] = (char)(input->is_escape ? byte ^ ESCAPE_BIT : byte);
    input->is_escape = false;
}

enum serve_news serve_take_byte(struct serve_input *input, uint8_t byte)
{
    int digit = extract_hex_value(byte);

    switch (input->state) {
    case SERVE_DATA:
        take_data(input, byte);
        return SERVE_NOTHING;
    case SERVE_CHECKSUM:
        input->expected = (uint8_t)(digit < 0 ? 0 : digit << 4);
        input->state = digit < 0 ? SERVE_BETWEEN : SERVE_LAST;
        return digit < 0 ? SERVE_DAMAGED : SERVE_NOTHING;
    case SERVE_LAST:
        input->state = SERVE_BETWEEN;
        input->data[input->used] = 0;
        if (digit < 0 || (input->expected | digit) != input->sum)
            return SERVE_DAMAGED;
        return input->is_long ? SERVE_LONG : SERVE_GOOD;
    case SERVE_BETWEEN:
        break;
    }
    return take_between(input, byte);
}

void serve_put_long_error(struct extract_text *answer, size_t most)
{
    extract_text_printf(answer, "E.a packet is longer than %zu bytes", most);
}

void serve_put_hex(struct extract_text *text, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        extract_text_putc(text, EXTRACT_HEX_DIGITS[bytes[i] >> 4]);
        extract_text_putc(text, EXTRACT_HEX_DIGITS[bytes[i] & 15]);
    }
}

void serve_put_register(struct extract_text *text, const struct extract_registers *registers,
                        unsigned index, unsigned bytes, enum extract_byte_order order)
{
    uint8_t stored[8];
    uint64_t value;

    if (bytes > sizeof stored || !register_get(registers, index, &value)) {
        extract_text_pad(text, 'x', 2 * bytes);
        return;
    }
    extract_store(stored, value, bytes, order);
    serve_put_hex(text, stored, bytes);
}

void serve_put_packet(struct extract_text *output, const char *data, size_t length)
{
    uint8_t sum = 0;

    extract_text_putc(output, '$');
    for (size_t i = 0; i < length; i++) {
        char byte = data[i];
        if (byte == '$' || byte == '#' || byte == ESCAPE || byte == RUN) {
            extract_text_putc(output, ESCAPE);
            sum = (uint8_t)(sum + ESCAPE);
            byte = (char)(byte ^ ESCAPE_BIT);
        }
        extract_text_putc(output, byte);
        sum = (uint8_t)(sum + (uint8_t)byte);
    }
    extract_text_putc(output, '#');
    serve_put_hex(output, &sum, 1);
}

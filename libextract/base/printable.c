// SPDX-License-Identifier: MIT
// base: which characters of untrusted text may reach a terminal, a report or a picture unescaped.
// Standards: UTF-8 (RFC 3629, section 4); control characters of ECMA-48 (C0, DEL, C1); the
// properties Bidi_Control and Default_Ignorable_Code_Point of Unicode 14.0 (UAX #44, files
// PropList.txt and DerivedCoreProperties.txt).
//
// A name must not look like another one, and must not reorder the text around it. So every
// character that prints nothing is escaped. Letters of all scripts, combining marks and emoji are
// printed.
//
// Variation selectors print nothing by themselves, but choose the look of the character before
// them: the color of an emoji, the form of an ideograph. They are kept there and escaped elsewhere.
#include "base/printable.h"
#include <stdbool.h>

// The lowest character beyond Latin-1 that has variants. Those of "#", "*", digits and the like
// look as they do without a selector, which such a selector could therefore hide.
enum { FIRST_WITH_VARIANTS = 0x203c };

struct range {
    uint32_t first, last;
};

// The characters that are escaped, in ascending order.
static const struct range hidden[] = {
    {0x0000, 0x001f},   // C0
    {0x007f, 0x009f},   // DEL and C1
    {0x00ad, 0x00ad},   // soft hyphen
    {0x034f, 0x034f},   // combining grapheme joiner
    {0x061c, 0x061c},   // Arabic letter mark (Bidi_Control)
    {0x115f, 0x1160},   // Hangul fillers
    {0x17b4, 0x17b5},   // Khmer inherent vowels
    {0x180b, 0x180f},   // Mongolian variation selectors and vowel separator
    {0x200b, 0x200f},   // zero width; U+200E and U+200F are Bidi_Control
    {0x2028, 0x202e},   // line and paragraph separator; U+202A to U+202E are Bidi_Control
    {0x2060, 0x206f},   // word joiner, invisible operators; U+2066 to U+2069 are Bidi_Control
    {0x3164, 0x3164},   // Hangul filler
    {0xfe00, 0xfe0f},   // variation selectors
    {0xfeff, 0xfeff},   // zero width no-break space, the byte order mark
    {0xffa0, 0xffa0},   // halfwidth Hangul filler
    {0xfff0, 0xfffb},   // reserved; U+FFF9 to U+FFFB are interlinear annotations
    {0xfffe, 0xffff},   // noncharacters, which XML excludes
    {0x1bca0, 0x1bca3}, // shorthand format controls
    {0x1d173, 0x1d17a}, // musical format controls
    {0xe0000, 0xe0fff}, // tags, variation selectors, reserved
};

// Returns a character's length by its first byte, or 0 if that byte starts no character.
static size_t length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if ((first & 0xf0) == 0xe0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

static bool is_hidden(uint32_t c)
{
    size_t i = 0;

    while (i < sizeof hidden / sizeof *hidden && c > hidden[i].last)
        i++;
    return i < sizeof hidden / sizeof *hidden && c >= hidden[i].first;
}

static bool is_variation_selector(uint32_t c)
{
    return (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef);
}

// Returns whether a value is a character and has the shortest encoding.
static bool is_canonical(uint32_t c, size_t length)
{
    if (length == 3)
        return c >= 0x800 && (c < 0xd800 || c > 0xdfff);
    return length < 4 || (c >= 0x10000 && c < 0x110000);
}

size_t extract_utf8_decode(const char *string, uint32_t *character)
{
    const unsigned char *s = (const unsigned char *)string;
    size_t length = length_of(s[0]);

    if (!length)
        return 0;
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    *character = c;
    return is_canonical(c, length) ? length : 0;
}

size_t extract_printable(const char *string)
{
    uint32_t c, selector;
    size_t length = extract_utf8_decode(string, &c);

    if (!length || is_hidden(c))
        return 0;
    if (c < FIRST_WITH_VARIANTS)
        return length;
    size_t more = extract_utf8_decode(string + length, &selector);
    return more && is_variation_selector(selector) ? length + more : length;
}

size_t extract_plain(const char *string)
{
    size_t length = 0;

    while (string[length] >= ' ' && string[length] <= '~' && string[length] != '"' &&
           string[length] != '\\')
        length++;
    return length;
}

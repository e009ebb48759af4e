"""Which characters of a text are read: the count on which every offset and every layer limit rests.

NTCIR's evaluation leaves out a fixed set of 284 code points: ASCII space and punctuation, and some Japanese marks,
arrows and shapes. Everything else counts, also what looks like a symbol or like nothing: tab, no-break space, en and
em dash, bullet, combining marks, emoji. No Unicode category and no normal form says the same.
"""

import re
from functools import cache

NOT_COUNTED = (
    (0x0020, 0x002F),  # space ! " # $ % & ' ( ) * + , - . /
    (0x003A, 0x0040),  # : ; < = > ? @
    (0x005B, 0x0060),  # [ \ ] ^ _ `
    (0x007B, 0x007E),  # { | } ~
    (0x00A7, 0x00A8),  # section sign, diaeresis
    (0x00B0, 0x00B1),  # degree, plus-minus
    (0x00B4, 0x00B4),  # acute accent
    (0x00D7, 0x00D7),  # multiplication sign
    (0x00F7, 0x00F7),  # division sign
    (0x2010, 0x2010),  # hyphen, but not the dashes
    (0x2015, 0x2015),  # horizontal bar
    (0x2018, 0x2019),  # single quotation marks
    (0x201C, 0x201D),  # double quotation marks
    (0x2025, 0x2026),  # two and three dots
    (0x2032, 0x2033),  # primes
    (0x203B, 0x203B),  # reference mark
    (0x2103, 0x2103),  # degree Celsius
    (0x2190, 0x2193),  # arrows
    (0x2212, 0x2212),  # minus
    (0x221E, 0x221E),  # infinity
    (0x2225, 0x2225),  # parallel
    (0x2234, 0x2234),  # therefore
    (0x2260, 0x2260),  # not equal
    (0x2266, 0x2267),  # less and greater over equal
    (0x2570, 0x25FF),  # the last box drawings, blocks, geometric shapes
    (0x2605, 0x2606),  # stars
    (0x2640, 0x2640),  # female
    (0x2642, 0x2642),  # male
    (0x3000, 0x3003),  # ideographic space, comma, full stop, ditto
    (0x3005, 0x3015),  # iteration mark, closing mark, number zero (letters all three), brackets, geta
    (0x301C, 0x301C),  # wave dash
    (0x309B, 0x309E),  # kana voicing and iteration marks
    (0x30FB, 0x30FE),  # middle dot, the long-vowel letter, iteration marks
    (0x4EDD, 0x4EDD),  # the letter "same as above"
    (0xFF01, 0xFF01),  # fullwidth ! and so on
    (0xFF03, 0xFF06),
    (0xFF08, 0xFF0F),
    (0xFF1A, 0xFF20),
    (0xFF3B, 0xFF40),
    (0xFF5B, 0xFF5E),
    (0xFF61, 0xFF65),  # halfwidth brackets, dots
    (0xFF70, 0xFF70),  # halfwidth long vowel
    (0xFF9E, 0xFF9F),  # halfwidth voicing marks
    (0xFFE0, 0xFFE1),  # fullwidth cent, pound
    (0xFFE3, 0xFFE3),  # fullwidth macron
    (0xFFE5, 0xFFE5),  # fullwidth yen
)
"""First and last code point of each range that does not count."""


def counted_chars(text: str) -> int:
    """Count the characters of a text that are read: its code points without those of `NOT_COUNTED`.

    chars(u) of Kato et al. (EVIA 2016), section 3, by the fixed set of the NTCIR programs. An empty text has 0.
    """
    return len(_not_counted().sub("", text))


@cache
def _not_counted() -> re.Pattern[str]:
    """Return a pattern that matches what does not count."""
    return re.compile("[" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in NOT_COUNTED) + "]+")

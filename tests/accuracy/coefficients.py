#!/usr/bin/env python3
"""Writes src/math/coefficients.rs: what the recipes need of each width.

    pip install mpmath gmpy2 numpy
    python3 tests/accuracy/coefficients.py && cargo fmt

Takes a minute. `--report` prints each polynomial's largest weighted error instead.
"""

import sys
from pathlib import Path

from fit import fit, mp, rounded, split

OUT = Path(__file__).resolve().parents[2] / "src" / "math" / "coefficients.rs"
REPORT = "--report" in sys.argv

LN2 = mp.log(2)
TINY = mp.mpf(2) ** -40


# Found by a random search in the fit's neighbourhood for the least error measured over all
# mantissas: rounding errors in the last steps depend on the coefficients' last bits.
TUNED = {
    "LOG2": [0xBF38AA3C, 0x3EF63855, 0xBEB8A92D, 0x3E93BAA3, 0xBE7695F6,
             0x3E534DC8, 0xBE3212D4, 0x3E1EEC70, 0xBE4637E8, 0x3E315CD7],
}


def single(bits):
    """The f32 of these bits, a normal one."""
    magnitude = mp.mpf((bits & 0x7FFFFF) | 0x800000) * mp.mpf(2) ** (((bits >> 23) & 0xFF) - 150)
    return -magnitude if bits >> 31 else magnitude


class Width:
    def __init__(self, name, bits, exponent_bits, **terms):
        self.name, self.bits, self.terms = name, bits, terms
        self.mantissa = bits - 1
        self.bias = 2 ** (exponent_bits - 1) - 1
        self.total = bits + exponent_bits
        self.lines = []

    def literal(self, x):
        """The constant's bits, so that no decimal conversion stands between."""
        x = mp.mpf(x)
        sign = 1 if x < 0 else 0
        x = abs(x)
        if x == 0:
            bits = 0
        else:
            assert rounded(x, self.bits) == x, x
            exponent = int(mp.floor(mp.log(x, 2)))
            if mp.mpf(2) ** exponent > x:
                exponent -= 1
            if exponent + 1 <= mp.log(x, 2):
                exponent += 1
            mantissa = int(x / mp.mpf(2) ** (exponent - self.mantissa)) - 2**self.mantissa
            assert 0 <= mantissa < 2**self.mantissa and -self.bias < exponent <= self.bias
            bits = ((exponent + self.bias) << self.mantissa) | mantissa
        bits |= sign << (self.total - 1)
        digits = f"{bits:0{self.total // 4}x}"
        grouped = "_".join(digits[i : i + 4] for i in range(0, len(digits), 4))
        return f"{self.name}::from_bits(0x{grouped})"

    def const(self, name, x, exact=False):
        x = mp.mpf(x) if exact else rounded(x, self.bits)
        comment = mp.nstr(x, 9 if self.bits == 24 else 17)
        self.lines.append(f"const {name}: {self.name} = {self.literal(x)}; // {comment}")

    def pair(self, name, x, high_bits=None):
        high, low = split(x, high_bits or self.bits, self.bits)
        self.const(f"{name}_HI", high)
        self.const(f"{name}_LO", low)
        return high, low

    def polynomial(self, name, g, weight, a, b, terms):
        coefficients, error = fit(g, weight, a, b, range(terms), self.bits)
        if REPORT:
            print(f"{self.name} {name}: {terms} terms, 2^{error:.2f}")
        if self.bits == 24 and name in TUNED:
            coefficients = [single(bits) for bits in TUNED[name]]
        rows = "".join(f"{self.literal(c)}, // {mp.nstr(mp.mpf(c), 9)}\n" for c in coefficients)
        self.lines.append(f"const {name}: &'static [{self.name}] = &[\n{rows}];")

    def number(self, name, x, kind="u64"):
        text = f"0x{x:x}" if kind == "u64" else str(x)
        self.lines.append(f"const {name}: {kind} = {text};")


def constants(w):
    t = w.terms
    m, bias = w.mantissa, w.bias
    w.number("MANTISSA", m)
    w.number("BIAS", bias)
    w.number("SIGN", 1 << (w.total - 1))
    w.number("INFINITY_BITS", (2 * bias + 1) << m)
    w.const("LEAST_NORMAL", mp.mpf(2) ** (1 - bias))
    w.const("SUBNORMAL_SCALE", mp.mpf(2) ** (m + 1))
    w.const("SUBNORMAL_EXPONENT", -(m + 1))
    w.const("EXPONENT_UNIT", mp.mpf(2) ** -m)
    for name, value in dict(ZERO="0.0", ONE="1.0", TWO="2.0", HALF="0.5", THREE_EIGHTHS="0.375", SECANT="1.4",
                            INFINITY=f"{w.name}::INFINITY", NAN=f"{w.name}::NAN").items():
        w.lines.append(f"const {name}: {w.name} = {value};")
    w.lines.append(f"#[inline]\nfn minus(self) -> {w.name} {{ -self }}")

    # Adding it rounds to an integer, whose low bits, moved to the exponent, are a scale:
    # of one factor 2^n, of two factors 2^(n/2).
    one, two = mp.mpf(3) * 2 ** (m - 1) + bias, mp.mpf(3) * 2 ** (m - 1) + 2 * bias
    w.const("ROUND_ONE", one)
    w.const("ROUND_HALF", one - 1)
    w.const("ROUND_TWO", two)
    w.const("ROUND_TWO_TOP", two + bias + 1)
    w.const("ROUND_TWO_BOTTOM", two - (bias + m + 2))
    w.const("ROUND", mp.mpf(3) * 2 ** (m - 1))

    half = mp.mpf("0.5001")
    w.const("LOG2_E", 1 / LN2)
    whole, rest = split(LN2, w.bits, w.bits)
    w.const("LN2", whole)
    w.const("LN2_REST", rest)
    w.pair("LN2", LN2, w.bits - t["exponent_room"])
    w.const("EXP_LOWEST", -mp.ceil((bias + m) * LN2 + mp.mpf("0.01")))
    w.const("EXP_HIGHEST", mp.ceil((bias + 1) * LN2))
    w.const("EXP2_LOWEST", -(bias + m + 1))
    w.const("EXP2_HIGHEST", bias + 1)
    w.polynomial("EXP2", lambda x: mp.expm1(x * LN2) / x, lambda x: x / mp.exp(x * LN2), -half, half, t["exp2"])
    w.polynomial("EXPM1", lambda x: (mp.expm1(x) - x) / x**2, lambda x: x**2 / mp.expm1(x), -half * LN2, half * LN2,
                 t["expm1"])

    low, high = mp.sqrt(0.5) - 1, mp.sqrt(2) - 1
    root = int(mp.floor(mp.sqrt(0.5) * 2 ** (m + 1))) - 2**m
    w.number("ROOT_HALF_BITS", ((bias - 1) << m) + root)
    # Two thirds: no |f| / ln(2) is above one half, so that adding it to an exponent loses nothing.
    w.number("TWO_THIRDS_BITS", ((bias - 1) << m) + -(-(2**m) // 3))
    third = mp.mpf(1) / 3
    w.polynomial("LOG", lambda x: (mp.log1p(x) - x) / x**2, lambda x: x**2 / mp.log1p(x), -third, third, t["log"])
    c_hi, c_lo = w.pair("LOG2_SLOPE", 1 / LN2)
    c = c_hi + c_lo
    w.polynomial("LOG2", lambda x: (mp.log1p(x) / LN2 - c * x) / x**2, lambda x: x**2 * LN2 / mp.log1p(x), -third, third,
                 t["log"])

    s2 = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.0001")
    c1 = sum(w.pair("POW_1", 2 / LN2))
    c3 = sum(w.pair("POW_3", 2 / LN2 / 3))

    def atanh(z):
        return 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) / LN2

    w.polynomial("POW", lambda z: (atanh(z) - c1 - c3 * z) / z**2, lambda z: z**2 / atanh(z), TINY, s2, t["pow"])
    w.polynomial("POW_RECIPROCAL", lambda f: 1 / (2 + f), lambda f: 2 + f, low, high, 3)
    w.number("POW_STEPS", t["pow_steps"], "usize")
    w.const("POW_MOST", mp.mpf(2) ** (40 if m == 23 else 70))
    w.number("RECIPROCAL_GUESS", t["reciprocal"])

    quarter = (mp.pi / 4) ** 2 * mp.mpf("1.0001")

    def root_of(f):
        return lambda z: f(mp.sqrt(z)) / mp.sqrt(z)

    sin, tan, erf = root_of(mp.sin), root_of(mp.tan), root_of(mp.erf)
    w.polynomial("SIN", lambda z: (sin(z) - 1) / z, lambda z: z / sin(z), TINY, quarter, t["sin"])
    w.polynomial("COS", lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2, TINY, quarter, t["cos"])
    w.polynomial("TAN", lambda z: (tan(z) - 1) / z, lambda z: z / tan(z), TINY, quarter, t["tan"])
    word = w.total
    w.pair("HALF_PI_WORD", mp.pi / 2 / mp.mpf(2) ** word)
    # Word i: the word-wide window of 1/(2 pi) that begins where x's exponent asks for it.
    scaled = mp.mpf(1) / (2 * mp.pi)
    windows = t["windows"]
    with mp.workprec(9 * windows + 400):
        scaled = 1 / (2 * mp.pi)
        words = [int(mp.floor(scaled * mp.mpf(2) ** (word - w.bits + 8 * i))) % 2**word for i in range(windows)]
    w.number("CHUNK_MASK", 2 ** (word - w.bits) - 1)
    w.const("WORD_UNIT", mp.mpf(2) ** -word)
    w.number("TANGENT_STEPS", t["tan_steps"], "usize")
    digits = "".join(f"0x{x:0{word // 4}x},\n" for x in words)
    w.lines.append(
        "const TURN: &'static Table = &Table {\n"
        f'name: "kernite_turn_{w.name}", width: {word}, words: &[\n{digits}] }};'
    )

    w.const("TANH_MOST", t["tanh_most"])
    w.number("TANH_STEPS", t["tanh_steps"], "usize")

    border, most = mp.mpf(t["erf_border"]), mp.mpf(t["erf_most"])
    w.const("ERF_BORDER", border)
    w.const("ERF_MOST", most)
    w.polynomial("ERF", lambda z: erf(z) - 1, lambda z: 1 / erf(z), TINY, border**2, t["erf"])
    w.polynomial("ERFC_LOG2", lambda x: mp.log(mp.erfc(x + 1), 2), lambda x: mp.erfc(x + 1), border - 1, most - 1,
                 t["erfc"])

    w.number("RSQRT_GUESS", t["rsqrt_guess"])
    w.number("RSQRT_STEPS", t["rsqrt_steps"], "usize")
    w.const("RSQRT_SUBNORMAL_SCALE", mp.mpf(2) ** ((m + 1) // 2))
    w.const("RSQRT_SCALE", mp.mpf(2) ** (2 * ((m + 1) // 2)))

    step = t["rem_step"]
    w.number("REM_STEP", step)
    w.const("REM_SCALE", mp.mpf(2) ** step)
    reciprocal = -(-(2**16) // step)
    most_exponent = 2 * bias + 1 + m + 1
    assert all(d * reciprocal >> 16 == d // step for d in range(most_exponent + 1))
    w.number("REM_STEP_RECIPROCAL", reciprocal)
    w.number("REM_STEPS", t["rem_steps"], "usize")


F32 = Width("f32", 24, 8, exponent_room=8, exp2=7, expm1=5, log=10, pow=3, pow_steps=2, sin=3, cos=3, tan=7, windows=25,
            reciprocal=0x7EF311C3, tan_steps=2, tanh_most=10, tanh_steps=1, erf=7, erfc=7, erf_border=1,
            erf_most=3.9375, rsqrt_guess=0x5F375A86, rsqrt_steps=2, rem_step=21, rem_steps=2)
F64 = Width("f64", 53, 11, exponent_room=11, exp2=11, expm1=11, log=20, pow=8, pow_steps=3, sin=6, cos=6, tan=14,
            windows=145, reciprocal=0x7FDE623822FC16E6, tan_steps=3, tanh_most=22, tanh_steps=2, erf=12, erfc=18,
            erf_border=1, erf_most=6, rsqrt_guess=0x5FE6EB50C7B537A9, rsqrt_steps=3, rem_step=50, rem_steps=3)


def main():
    text = [
        "//! Generated by tests/accuracy/coefficients.py, which says what each constant is.",
        "",
        "use super::sink::Table;",
        "use super::width::Constants;",
    ]
    for width in (F32, F64):
        constants(width)
        text += ["", f"impl Constants for {width.name} {{", *width.lines, "}"]
    if not REPORT:
        OUT.write_text("\n".join(text) + "\n")


main()

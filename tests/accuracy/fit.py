"""Near-minimax polynomials with coefficients that are floats.

Weighted least squares on Chebyshev nodes, reweighted towards the minimax solution
(Lawson's algorithm); coefficients are rounded one after the other, the lowest power
first, and the rest is fitted again each time. Needs mpmath, gmpy2 and numpy.
"""

import gmpy2
import mpmath as mp
import numpy as np

mp.mp.prec = 200
gmpy2.get_context().precision = 200


def rounded(x, bits):
    """x rounded to nearest even with this many significant bits."""
    x = mp.mpf(x)
    if x == 0:
        return x
    with mp.workprec(bits):
        return +x


def split(x, bits, low=None):
    """x as the sum of two floats."""
    high = rounded(x, bits)
    return high, rounded(mp.mpf(x) - high, low or bits)


def solve(columns, target, weights):
    """Weighted least squares by the normal equations: 200 bits have room for them."""
    n = len(columns)
    weighted = [c * weights for c in columns]
    a = [np.array([np.dot(weighted[i], columns[j]) for j in range(n)] + [np.dot(weighted[i], target)])
         for i in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            a[j] = a[j] - a[i] * (a[j][i] / a[i][i])
    c = [None] * n
    for i in reversed(range(n)):
        c[i] = (a[i][n] - sum(a[i][j] * c[j] for j in range(i + 1, n))) / a[i][i]
    return c


def lawson(columns, target, iterations):
    weights = np.array([gmpy2.mpfr(1) / len(target)] * len(target))
    best = None
    for _ in range(iterations):
        c = solve(columns, target, weights)
        error = abs(target - sum(k * col for k, col in zip(c, columns)))
        worst = max(error)
        if best is None or worst < best[0]:
            best = (worst, c)
        weights = weights * error
        total = sum(weights)
        if total == 0:
            break
        # A floor keeps every node in sight.
        weights = weights / total + gmpy2.mpfr(10) ** -9
    return best


def fit(g, weight, a, b, powers, bits, nodes=0, iterations=24):
    """Coefficients of x**powers[k] for g on [a, b], so that weight * error is small.

    `bits` is a number for all of them or a list, a number each. Returns the
    coefficients and log2 of the largest weighted error."""
    a, b = mp.mpf(a), mp.mpf(b)
    n = nodes or 8 * len(powers) + 16
    xs = [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    ws = [weight(x) for x in xs]
    if not isinstance(bits, list):
        bits = [bits] * len(powers)
    def array(values):
        return np.array([gmpy2.mpfr(v._mpf_[1]) * gmpy2.exp2(v._mpf_[2]) * (-1) ** v._mpf_[0] for v in values])

    rest = array([w * g(x) for x, w in zip(xs, ws)])
    columns = [array([w * x**p for x, w in zip(xs, ws)]) for p in powers]
    done = []
    for k in range(len(powers)):
        _, c = lawson(columns[k:], rest, iterations if k < 3 else 8)
        with gmpy2.context(precision=bits[k]):
            value = +c[0]
        done.append(value)
        rest = rest - value * columns[k]
    return done, float(gmpy2.log2(max(abs(rest))))

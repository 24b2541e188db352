//! Comparisons, as Rust's operators: with a NaN all are false but `ne`. A bool in a register is a `u32` of 0 or 1.

macro_rules! comparisons {
    ($($name:ident $op:tt $bound:ident;)*) => {$(
        #[inline(always)]
        pub(in crate::reference) fn $name<T: $bound>(a: T, b: T) -> u32 {
            u32::from(a $op b)
        }
    )*};
}
comparisons! {
    eq == PartialEq;
    ne != PartialEq;
    lt < PartialOrd;
    le <= PartialOrd;
    gt > PartialOrd;
    ge >= PartialOrd;
}

/// `b` where the bool is true.
#[inline(always)]
pub(in crate::reference) fn select<T>(cond: u32, b: T, c: T) -> T {
    if cond != 0 { b } else { c }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn nans_differ_from_everything_and_compare_to_nothing() {
        let nan = f32::NAN;
        let pairs = [(1.0, 1.0), (nan, 1.0), (nan, nan)];
        assert_eq!(pairs.map(|(a, b)| ne(a, b)), [0, 1, 1]);
        assert_eq!(pairs.map(|(a, b)| eq(a, b)), [1, 0, 0]);
        for compare in [lt::<f32>, le, gt, ge] {
            assert_eq!(
                [(nan, 1.0), (1.0, nan), (nan, nan)].map(|(a, b)| compare(a, b)),
                [0; 3]
            );
        }
        assert_eq!(eq(-0.0f64, 0.0), 1);
        assert_eq!(lt(-0.0f64, 0.0), 0);
    }

    #[test]
    fn integers_compare_by_the_sign_of_their_type() {
        assert_eq!((lt(-1i32, 0), gt(u32::MAX, 0)), (1, 1));
        assert_eq!((le(3i64, 3), ge(2u64, 3)), (1, 0));
    }

    #[test]
    fn select_keeps_bits() {
        assert_eq!(select(1, 0x7F80_0001u32, 5), 0x7F80_0001);
        assert_eq!(select(0, 0x7F80_0001u32, 5), 5);
    }
}

//! The worst of many f64: `sample64 1000 exp pow`, so many for each function named.
use kernite::math::{Binary, Unary};
use kernite_accuracy_tests::measure::ulps64;
use kernite_accuracy_tests::reference::Big;
use kernite_accuracy_tests::trace::Trace;
use kernite_accuracy_tests::{Random, UNARY, host64, name, pair64};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let many: u32 = arguments
        .first()
        .map_or(1000, |n| n.parse().expect("a number"));
    let wanted = |name: &str| arguments.len() < 2 || arguments.iter().any(|a| a == name);
    let mut big = Big::default();
    let mut random = Random(1);
    for function in UNARY.into_iter().filter(|&f| wanted(&name(f))) {
        let mut worst = (-1.0, 0);
        for i in 0..many {
            let x = input(function, i, &mut random);
            let ulps = ulps64(host64(function, x), &big.truth(function, x));
            if ulps > worst.0 {
                worst = (ulps, x.to_bits());
            }
        }
        let operations = Trace::unary::<f64>(function).operations();
        println!(
            "{:6} {:.4} {:016X} operations {operations}",
            name(function),
            worst.0,
            worst.1
        );
    }
    if wanted("pow") {
        let mut worst = (-1.0, 0.0, 0.0);
        for _ in 0..many {
            let (x, y) = random.power(-1075.0, 1024.0, 64);
            let ulps = ulps64(pair64(Binary::Pow, x, y), &big.pow(x, y));
            if ulps > worst.0 {
                worst = (ulps, x, y);
            }
        }
        let operations = Trace::binary::<f64>(Binary::Pow).operations();
        println!(
            "pow    {:.4} {:?} {:?} operations {operations}",
            worst.0, worst.1, worst.2
        );
    }
}

/// Every other number where the function bends, the others of all exponents where it is defined.
fn input(function: Unary, i: u32, random: &mut Random) -> f64 {
    let any = |random: &mut Random, positive: bool| loop {
        let bits = random.next_u64();
        let x = f64::from_bits(if positive { bits >> 1 } else { bits });
        if x.is_finite() && x != 0.0 {
            return x;
        }
    };
    let even = i & 1 == 0;
    match function {
        Unary::Exp => random.between(-750.0, 715.0) * if even { 1.0 } else { 0.01 },
        Unary::Exp2 => random.between(-1080.0, 1030.0) * if even { 1.0 } else { 0.01 },
        Unary::Log | Unary::Log2 | Unary::Rsqrt if even => any(random, true),
        Unary::Log | Unary::Log2 | Unary::Rsqrt => random.between(0.3, 3.0),
        Unary::Sin | Unary::Cos | Unary::Tan if even => any(random, false),
        Unary::Sin | Unary::Cos | Unary::Tan => random.between(-8.0, 8.0),
        Unary::Tanh => random.between(-1.0, 1.0) * if even { 20.0 } else { 1.0 },
        Unary::Erf => random.between(-1.0, 1.0) * if even { 6.0 } else { 2.0 },
    }
}

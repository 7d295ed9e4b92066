//! The normal distribution, both ways.

/// The probability that a standard normal value lies below this one (Abramowitz and Stegun 26.2.17, error below 1e-7).
pub(crate) fn normal_below(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let tail = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let sum = tail.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    let above = sum * (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if z >= 0.0 { 1.0 - above } else { above }
}

/// The standard normal value below which this share lies (Acklam's rational approximation, error below 1e-8).
pub(crate) fn normal_at(share: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416];
    const EDGE: f64 = 0.02425;
    let polynomial = |factors: &[f64], x: f64| factors.iter().fold(0.0, |sum, factor| sum * x + factor);
    let share = share.clamp(1e-12, 1.0 - 1e-12);
    if share < EDGE {
        let q = (-2.0 * share.ln()).sqrt();
        polynomial(&C, q) / (polynomial(&D, q) * q + 1.0)
    } else if share > 1.0 - EDGE {
        -normal_at(1.0 - share)
    } else {
        let (q, r) = (share - 0.5, (share - 0.5).powi(2));
        polynomial(&A, r) * q / (polynomial(&B, r) * r + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_agrees_with_its_tables() {
        for (z, share) in
            [(0.0, 0.5), (1.0, 0.841_344_746), (1.281_551_566, 0.9), (-1.959_963_985, 0.025), (3.0, 0.998_650_102)]
        {
            assert!((normal_below(z) - share).abs() < 2e-7, "{z}");
            assert!((normal_at(share) - z).abs() < 1e-5, "{share}");
        }
    }
}

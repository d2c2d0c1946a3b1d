//! In which order are the cases of a shared session played?
//!
//! Without a seed in the order of the catalogue, with one in an order of that seed. A verdict must not depend on it.

use super::Suite;

/// Puts cases, named by their index, in the order of the seed; 0 is the order of the catalogue.
///
/// Each case draws its own lot from its name, so that two cases keep their order whatever else runs.
pub fn arrange(cases: &mut [usize], suite: &Suite, seed: u64) {
    if seed != 0 {
        cases.sort_by_cached_key(|index| mixed(lot(seed, &suite.entry(*index).case.name)));
    }
}

/// A number that is the same for the same seed and name (FNV-1a).
pub fn lot(seed: u64, name: &str) -> u64 {
    let bytes = seed.to_le_bytes().into_iter().chain(name.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads the last bytes over all bits (the finish of MurmurHash3): names that end alike shall not stay together.
fn mixed(mut lot: u64) -> u64 {
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        lot = (lot ^ (lot >> 33)).wrapping_mul(factor);
    }
    lot ^ (lot >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::catalogue::Catalogue;

    fn arranged(suite: &Suite, seed: u64) -> Vec<usize> {
        let mut cases: Vec<usize> = (0..suite.cases.len()).collect();
        arrange(&mut cases, suite, seed);
        cases
    }

    #[test]
    fn a_seed_is_an_order_and_none_is_that_of_the_catalogue() {
        let suite = Suite::select(&Catalogue::embedded().unwrap(), &[]).unwrap();
        let catalogue: Vec<usize> = (0..suite.cases.len()).collect();
        assert_eq!(arranged(&suite, 0), catalogue);
        assert_eq!(arranged(&suite, 7), arranged(&suite, 7));
        assert_ne!(arranged(&suite, 7), arranged(&suite, 8));
        let mut sorted = arranged(&suite, 7);
        sorted.sort_unstable();
        assert_eq!(sorted, catalogue);
    }
}

//! What number is written here? Kept as written, compared by value, without rounding and without big arithmetic.

use std::cmp::Ordering;

/// A JSON number as written. `==` compares the spelling; [`Number::same`] and [`Number::compare`] the value.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number(Box<str>);

/// The value as 0.DIGITS times ten to the EXPONENT: one spelling for each value.
/// Digits begin and end with a digit other than 0; zero has none.
/// The exponent is a decimal integer, since `1e99999999999999999999` fits no machine integer.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Value {
    negative: bool,
    digits: String,
    exponent: String,
}

impl Number {
    /// Reads exactly one number of JSON's grammar, without space around it.
    pub fn parse(text: &str) -> Option<Number> {
        (scan(text.as_bytes(), 0) == Ok(text.len())).then(|| Number(text.into()))
    }

    /// For text that [`scan`] has accepted.
    pub(super) fn from_scanned(text: &str) -> Number {
        Number(text.into())
    }

    /// The number as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the value is a whole number: `5`, `5.0` and `5e2` are.
    pub fn is_integer(&self) -> bool {
        self.value().is_integer()
    }

    /// The value if it is a whole number in range, however it is written.
    pub fn as_i64(&self) -> Option<i64> {
        self.value().integer_text()?.parse().ok()
    }

    /// The value if it is a whole number in range, however it is written.
    pub fn as_u64(&self) -> Option<u64> {
        self.value().integer_text()?.parse().ok()
    }

    /// The nearest `f64`; infinite beyond its range.
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether both have the same value: 1, 1.0 and 10e-1 have; 2^53 and 2^53+1 have not.
    pub fn same(&self, other: &Number) -> bool {
        self == other || self.value() == other.value()
    }

    /// The order of the values, exactly.
    pub fn compare(&self, other: &Number) -> Ordering {
        self.value().cmp(&other.value())
    }

    pub(super) fn value(&self) -> Value {
        let (negative, rest) = match self.0.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, &*self.0),
        };
        let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let digits = all.trim_matches('0').to_owned();
        if digits.is_empty() {
            return Value { negative: false, digits, exponent: "0".to_owned() };
        }
        let leading_zeros = all.len() - all.trim_start_matches('0').len();
        let shift = whole.len() as i128 - leading_zeros as i128;
        Value { negative, digits, exponent: add(exponent, shift) }
    }
}

impl Value {
    fn is_integer(&self) -> bool {
        let digits = self.digits.len().to_string();
        self.digits.is_empty() || compare_decimals(&self.exponent, &digits) != Ordering::Less
    }

    /// The plain digits of a whole number that may fit 64 bits.
    fn integer_text(&self) -> Option<String> {
        if self.digits.is_empty() {
            return Some("0".to_owned());
        }
        let width: usize = self.exponent.parse().ok().filter(|width| *width <= 20)?;
        let sign = if self.negative { "-" } else { "" };
        (width >= self.digits.len()).then(|| format!("{sign}{:0<width$}", self.digits))
    }

    fn signum(&self) -> i8 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        let magnitude =
            || compare_decimals(&self.exponent, &other.exponent).then_with(|| self.digits.cmp(&other.digits));
        self.signum().cmp(&other.signum()).then_with(|| match self.signum() {
            0 => Ordering::Equal,
            1 => magnitude(),
            _ => magnitude().reverse(),
        })
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Where the number that begins at `from` ends, or where a digit is missing.
pub(super) fn scan(bytes: &[u8], from: usize) -> Result<usize, usize> {
    let is_at = |at: usize, wanted: &[u8]| bytes.get(at).is_some_and(|byte| wanted.contains(byte));
    let digits = |from: usize| {
        let mut at = from;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at == from { Err(from) } else { Ok(at) }
    };
    let mut at = from + usize::from(is_at(from, b"-"));
    at = if is_at(at, b"0") { at + 1 } else { digits(at)? };
    if is_at(at, b".") {
        at = digits(at + 1)?;
    }
    if is_at(at, b"eE") {
        at += 1;
        at = digits(at + usize::from(is_at(at, b"+-")))?;
    }
    Ok(at)
}

/// `exponent` (a decimal integer of any length) plus `shift` (no larger than a text is long), without leading zeros.
fn add(exponent: &str, shift: i128) -> String {
    const TAIL: usize = 24;
    const TAIL_END: i128 = 10_i128.pow(TAIL as u32);
    let negative = exponent.starts_with('-');
    let magnitude = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    if magnitude.len() <= 30 {
        let magnitude: i128 = magnitude.parse().unwrap_or(0);
        return (if negative { shift - magnitude } else { shift + magnitude }).to_string();
    }
    // Such an exponent dwarfs the shift: the sign stays, and at most one is carried into the head.
    let (head, tail) = magnitude.split_at(magnitude.len() - TAIL);
    let tail: i128 = tail.parse().unwrap_or(0);
    let sum = if negative { tail - shift } else { tail + shift };
    let (head, tail) = if sum < 0 {
        (step(head, b'0', b'9', |digit| digit - 1), sum + TAIL_END)
    } else if sum >= TAIL_END {
        (step(head, b'9', b'0', |digit| digit + 1), sum - TAIL_END)
    } else {
        (head.to_owned(), sum)
    };
    let sign = if negative { "-" } else { "" };
    format!("{sign}{}{tail:0TAIL$}", head.trim_start_matches('0'))
}

/// Counts a decimal up or down by one: every trailing `full` becomes `empty`, the digit before them moves.
fn step(decimal: &str, full: u8, empty: u8, moved: fn(u8) -> u8) -> String {
    let mut digits = format!("0{decimal}").into_bytes();
    for digit in digits.iter_mut().rev() {
        if *digit != full {
            *digit = moved(*digit);
            break;
        }
        *digit = empty;
    }
    digits.into_iter().map(char::from).collect()
}

/// The order of two decimal integers without leading zeros.
fn compare_decimals(left: &str, right: &str) -> Ordering {
    let by_size = |left: &str, right: &str| left.len().cmp(&right.len()).then_with(|| left.cmp(right));
    match (left.strip_prefix('-'), right.strip_prefix('-')) {
        (None, None) => by_size(left, right),
        (Some(left), Some(right)) => by_size(right, left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
    }
}

macro_rules! from_integers {
    ($($integer:ty),*) => { $(
        impl From<$integer> for Number {
            fn from(integer: $integer) -> Number {
                Number(integer.to_string().into())
            }
        }
    )* };
}
from_integers!(i32, i64, u32, u64, usize);

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Number {
        Number(number.to_string().into())
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn grammar() {
        for good in ["0", "-0", "10", "0.0", "1.50", "1e5", "1E+5", "-1.2e-03", "1e999999999999"] {
            assert!(Number::parse(good).is_some(), "{good}");
        }
        for bad in
            ["", "-", "+1", "01", "-01", ".5", "1.", "1.e5", "1e", "1e+", "0x1", "1 ", " 1", "1e5.0", "1_0"]
        {
            assert!(Number::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn whole_numbers_however_written() {
        for whole in ["5", "5.0", "5e2", "0", "-0.0", "0e-9", "500e-2", "1.25e2", "1e999999999", "-10e-1"] {
            assert!(number(whole).is_integer(), "{whole}");
        }
        for fraction in ["5.5", "5e-1", "1e-999999999", "501e-2", "1.25e1", "0.1"] {
            assert!(!number(fraction).is_integer(), "{fraction}");
            assert_eq!(number(fraction).as_i64(), None, "{fraction}");
        }
    }

    #[test]
    fn integers_at_the_edge() {
        assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
        assert_eq!(number("-9223372036854775808").as_i64(), Some(i64::MIN));
        assert_eq!(number("9223372036854775808").as_i64(), None);
        assert_eq!(number("1.8446744073709551615e19").as_u64(), Some(u64::MAX));
        assert_eq!(number("18446744073709551616").as_u64(), None);
        assert_eq!(number("-1").as_u64(), None);
        assert_eq!(number("1e999999999").as_i64(), None);
        assert_eq!(number("120e-1").as_i64(), Some(12));
        assert_eq!(number("-0").as_i64(), Some(0));
        assert_eq!(number("1e400").as_f64(), f64::INFINITY);
    }

    #[test]
    fn equal_by_value() {
        let big = "1".to_owned() + &"0".repeat(40);
        let nines = "9".repeat(40);
        for (left, right) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("-0", "0"),
            ("0e5", "0.000"),
            ("0.001", "1E-3"),
            ("12300", "1.23e+4"),
            ("1e0", "1e-0"),
            (&format!("10e{nines}"), &format!("1e{big}")),
            (&format!("0.1e{big}"), &format!("1e{nines}")),
            (&format!("10e-{big}"), &format!("1e-{nines}")),
            (&format!("0.1e-{nines}"), &format!("1e-{big}")),
        ] {
            assert!(number(left).same(&number(right)), "{left} {right}");
            assert_eq!(number(left).compare(&number(right)), Ordering::Equal, "{left} {right}");
        }
        for (left, right) in [
            ("9007199254740992", "9007199254740993"),
            ("-1", "1"),
            ("-1", "0"),
            ("1e400", "1e401"),
            ("1e-401", "1e-400"),
            ("0", "1e-400"),
            ("-1e400", "-1e399"),
            ("1", "1.0000000000000000000001"),
            ("-1e-5", "1e-99"),
            (&format!("1e-{big}"), &format!("1e-{nines}")),
            (&format!("1e{nines}"), &format!("1e{big}")),
        ] {
            assert!(!number(left).same(&number(right)), "{left} {right}");
            assert_eq!(number(left).compare(&number(right)), Ordering::Less, "{left} {right}");
            assert_eq!(number(right).compare(&number(left)), Ordering::Greater, "{left} {right}");
        }
    }

    proptest! {
        #[test]
        fn integers_keep_their_order(left: i64, right: i64) {
            prop_assert_eq!(Number::from(left).compare(&Number::from(right)), left.cmp(&right));
            prop_assert_eq!(Number::from(left).as_i64(), Some(left));
        }

        #[test]
        fn shifting_the_point_changes_nothing(digits in "[1-9][0-9]{0,30}", zeros in 0_usize..40, exponent in -60_i64..60) {
            let plain = number(&format!("{digits}e{exponent}"));
            let longer = number(&format!("{digits}{}e{}", "0".repeat(zeros), exponent - zeros as i64));
            let smaller = number(&format!("0.{}{digits}e{}", "0".repeat(zeros), exponent + (zeros + digits.len()) as i64));
            prop_assert!(plain.same(&longer));
            prop_assert!(plain.same(&smaller));
            prop_assert_eq!(plain.is_integer(), longer.is_integer());
        }
    }
}

//! Expressions to test with.

use nearkin_engine::amplify::Expression;
use proptest::prelude::*;

pub fn expression(text: &str) -> Expression {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

pub fn near(value: f64, expected: f64, tolerance: f64) -> bool {
    (value - expected).abs() <= tolerance
}

/// Expressions of at most some hundred functions, named f and g.
pub fn any_expression() -> impl Strategy<Value = Expression> {
    let function = prop_oneof![Just("f"), Just("g")].prop_map(Expression::function);
    function.prop_recursive(4, 24, 3, |inside| {
        prop_oneof![
            (1usize..4, inside.clone()).prop_map(|(n, inside)| inside.and(n)),
            (1usize..4, inside.clone()).prop_map(|(n, inside)| inside.or(n)),
            prop::collection::vec(inside.clone(), 1..4).prop_map(Expression::All),
            prop::collection::vec(inside, 1..4).prop_map(Expression::Any),
        ]
    })
}

//! What users type: options, command lines, expressions, rules.

use std::path::Path;

use nearkin_cli::engine::{Failure, command_line};
use nearkin_engine::amplify::Expression;
use nearkin_engine::options::{Goal, Options};
use nearkin_engine::records::{Alternative, Rules};

use super::{check_message, choices};

/// Options as JSON come back as they were, and what they mean is settled or refused.
pub(crate) fn options(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let options = match Options::from_json(text) {
        Ok(options) => options,
        Err(error) => return check_message(&error),
    };
    let again = Options::from_json(&options.to_json()).expect("what was given");
    assert_eq!(format!("{options:?}"), format!("{again:?}"));
    for goal in [Goal::Pairs, Goal::Closest, Goal::Groups] {
        settle(&options, goal);
    }
}

fn settle(options: &Options, goal: Goal) {
    // Stop words are read from a file.
    if options.stop_words.is_some() {
        return;
    }
    let failed = |error| check_message(&error);
    options.query(goal).map_or_else(failed, drop);
    options.check().map_or_else(failed, drop);
    options.grouping().map_or_else(failed, drop);
    if let Err(error) = options.settings(goal).and_then(|settings| settings.promised()) {
        failed(error);
    }
}

/// A command line, a word on each line.
pub(crate) fn arguments(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let words: Vec<String> = text.lines().map(str::to_owned).collect();
    match command_line(&words) {
        Ok(line) => settle(&line.options, line.goal),
        Err(Failure::Library(error)) => check_message(&error),
        Err(Failure::Usage(message) | Failure::Other(message)) => assert!(!message.is_empty()),
    }
}

/// An expression that can be read is written so that it reads the same, and its curve is one of chances.
pub(crate) fn expressions(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let expression: Expression = match text.parse() {
        Ok(expression) => expression,
        Err(error) => return check_message(&error),
    };
    let shown = expression.to_string();
    assert_eq!(shown.parse::<Expression>().expect("what was shown").to_string(), shown);
    if let Err(error) = expression.check() {
        return check_message(&error);
    }
    let mut before = 0.0;
    for p in [0.0, 0.3, 0.7, 1.0] {
        let chance = expression.probability(p);
        assert!(
            (0.0..=1.0).contains(&chance) && chance >= before - 1e-9,
            "{shown}: {chance} at {p}"
        );
        assert!((expression.missed(p) + chance - 1.0).abs() < 1e-9, "{shown} at {p}");
        before = chance;
    }
    assert!(expression.tables() >= 1 && expression.functions() >= 1, "{shown}");
    drop((expression.formula(), expression.latex(), expression.names()));
}

/// Rules for records, as TOML.
pub(crate) fn rules(data: &[u8]) {
    let ([flags], data) = choices(data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Rules::from_toml(text, Path::new("/nowhere/rules.toml"), flags & 1 > 0) {
        Ok(rules) => {
            for alternative in &rules.candidates {
                let shown = alternative.display(&rules.fields);
                let again = Alternative::parse(&shown, &rules.fields);
                let again = again.unwrap_or_else(|what| panic!("{shown}: {what}"));
                assert_eq!(again.display(&rules.fields), shown);
            }
            assert!(rules.most().is_finite());
        }
        Err(error) => check_message(&error),
    }
}

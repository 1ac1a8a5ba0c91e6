//! Answers with gaps: yes, no and unknown to a list of questions, as bits.
//!
//! A question has two bits: 11 for yes, 00 for no, 01 for an answer that is not known. Opposite answers are
//! then two bits apart and an answer and a gap one, so the Hamming distance of the bits is twice the
//! distance of the answers, in which a gap counts half.

use super::{
    Input, OnError, ReadOptions,
    named::{Named, Naming, Refused},
    numbers::{Words, Written},
    rows::{self, ALL, Cell, Row},
};
use crate::item::Bits;
use crate::{Error, Result};
use std::{collections::HashMap, path::PathBuf};

/// Answers as bits, two a question, and the questions in the order of their bits.
#[derive(Debug)]
pub struct Answers {
    /// The answers of each record.
    pub records: Named<Bits>,
    /// The names of the questions.
    pub questions: Vec<String>,
}

/// Reads answers: `yes`, `y`, `true`, `1`, `+` and `no`, `n`, `false`, `0`, `-`, in capitals or not; nothing,
/// null, `?`, `NA`, `unknown` and a field that a record does not have are gaps. Questions are the columns that
/// are named, or all but the id.
///
/// # Errors
/// When a value is none of these, a question is in no record, and when a file cannot be read.
pub fn load_answers(
    paths: &[PathBuf],
    options: &ReadOptions,
    questions: Option<&[String]>,
) -> Result<Answers> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut all: Vec<Vec<(usize, bool)>> = Vec::new();
    let mut naming = Naming::default();
    let mut seen = vec![false; questions.map_or(0, <[String]>::len)];
    for name in questions.unwrap_or_default() {
        places.insert(name.clone(), names.len());
        names.push(name.clone());
    }
    let mut position = 0;
    for path in paths {
        let options = ReadOptions { columns: vec![ALL.to_owned()], ..options.clone() };
        let on_error = options.on_error;
        let input = Input::open(std::slice::from_ref(path), options)?;
        let name = input.sources.first().map(|source| source.name.clone()).unwrap_or_default();
        naming.file(&name);
        for chunk in input.scan(None)? {
            let count = rows::rows(&input, &chunk?, &mut |line, row| {
                let read = row.and_then(|row| {
                    let mut answers = Vec::new();
                    for cell in &row.cells {
                        let place = match places.get(&*cell.name) {
                            Some(place) => *place,
                            None if questions.is_some() => continue,
                            None => {
                                places.insert(cell.name.to_string(), names.len());
                                names.push(cell.name.to_string());
                                names.len() - 1
                            }
                        };
                        if let Some(seen) = seen.get_mut(place) {
                            *seen = true;
                        }
                        answers.extend(answer(cell)?.map(|answer| (place, answer)));
                    }
                    Ok((row, answers))
                });
                let added = read.map_err(Refused::Record).and_then(|(row, answers)| {
                    let Row { ordinal, id, .. } = row;
                    naming.add(position + u64::from(ordinal), line, id)?;
                    all.push(answers);
                    Ok(())
                });
                match added {
                    Ok(()) => Ok(()),
                    Err(Refused::File(what)) => Err(Error::File { path: name.clone(), what }),
                    Err(Refused::Record(what)) => {
                        let error = Error::Input { path: name.clone(), line, what };
                        match on_error {
                            OnError::Stop => Err(error),
                            OnError::Skip => {
                                naming.skip(error);
                                Ok(())
                            }
                        }
                    }
                }
            })?;
            position += u64::from(count);
        }
    }
    if let Some(missing) = seen.iter().position(|seen| !seen).filter(|_| !all.is_empty()) {
        let must = "a column of the records: check its spelling";
        return Err(Error::parameter("questions", &names[missing], must));
    }
    let items = encode(&all, names.len())?;
    Ok(Answers { records: Named { items, names: naming.finish() }, questions: names })
}

fn answer(cell: &Cell) -> Result<Option<bool>, String> {
    let Some(text) = &cell.text else { return Ok(None) };
    match text.trim().to_lowercase().as_str() {
        "yes" | "y" | "true" | "t" | "1" | "+" => Ok(Some(true)),
        "no" | "n" | "false" | "f" | "0" | "-" => Ok(Some(false)),
        "" | "?" | "na" | "n/a" | "null" | "none" | "unknown" => Ok(None),
        _ => Err(format!(
            "question `{}` is answered with `{text}`; write yes, no or nothing, or choose the \
             questions with --questions",
            cell.name
        )),
    }
}

fn encode(all: &[Vec<(usize, bool)>], questions: usize) -> Result<Bits> {
    if all.is_empty() || questions == 0 {
        return Ok(Bits::default());
    }
    let mut bits = Bits::new(2 * questions)?;
    let mut known: Vec<Option<bool>> = Vec::new();
    let mut words = Vec::new();
    for answers in all {
        known.clear();
        known.resize(questions, None);
        for (place, answer) in answers {
            known[*place] = Some(*answer);
        }
        words.clear();
        let mut out = Words::new(&mut words);
        for answer in &known {
            let pair = match answer {
                Some(true) => 0b11,
                Some(false) => 0b00,
                None => 0b01,
            };
            // Appending bits cannot fail.
            let _ = out.push(pair, 2);
        }
        let _ = out.end(Written::Clearly);
        bits.push(&words)?;
    }
    Ok(bits)
}

//! Answers with gaps: yes, no and unknown to a list of questions, as bits.
//!
//! A question has two bits: 11 for yes, 00 for no, 01 for an unknown answer. Opposite answers are then two bits
//! apart, an answer and a gap one bit. The Hamming distance of the bits is therefore twice the distance of the
//! answers, in which a gap counts half.

use super::{
    Input, Place, ReadOptions,
    named::{NamedItems, Names, NamesBuilder, Refusal},
    numbers::{BitNotation, BitWords},
    rows::{ALL, Row, RowCell},
    shards_of,
};
use crate::error::{Advice, Error, Problem, Result};
use crate::item::Bits;
use std::collections::HashMap;

/// Answers as bits, two per question, and the questions in the order of their bits.
#[derive(Debug)]
pub struct Answers {
    /// The answers of each record.
    pub records: NamedItems<Bits>,
    /// The names of the questions.
    pub questions: Vec<String>,
}

/// Reads answers: `yes`, `y`, `true`, `1`, `+` and `no`, `n`, `false`, `0`, `-`, in capitals or not; nothing,
/// null, `?`, `NA`, `unknown` and a field that a record does not have are gaps. Questions are the columns that
/// are named, or all but the id.
///
/// # Errors
/// When a value is none of these, when no record has a question, and when a file cannot be read.
pub fn load_answers(
    places: &[impl Into<Place> + Clone],
    options: &ReadOptions,
    questions: Option<&[String]>,
) -> Result<Answers> {
    let mut survey = AnswersBuilder::new(questions);
    let mut naming = NamesBuilder::default();
    let places: Vec<Place> = places.iter().cloned().map(Into::into).collect();
    for place in &shards_of::with_shards(&places, options)? {
        let options = ReadOptions { columns: vec![ALL.to_owned()], ..options.clone() };
        let input = Input::open(std::slice::from_ref(place), options)?;
        naming.read(&input, &|| false, &mut |naming, position, row| {
            survey.take(naming, position, row)
        })?;
    }
    survey.finish(naming.finish())
}

/// Questions and answers as they are read.
struct AnswersBuilder {
    questions: Vec<String>,
    places: HashMap<String, usize>,
    /// Whether only these questions count, and for each whether a record has it.
    chosen: Option<Vec<bool>>,
    /// Each record's answers, by their questions' places.
    answers: Vec<Vec<(usize, bool)>>,
}

impl AnswersBuilder {
    fn new(chosen: Option<&[String]>) -> Self {
        let questions = chosen.unwrap_or_default().to_vec();
        Self {
            places: questions.iter().cloned().zip(0..).collect(),
            chosen: chosen.map(|chosen| vec![false; chosen.len()]),
            questions,
            answers: Vec::new(),
        }
    }

    fn take(&mut self, naming: &mut NamesBuilder, position: u64, row: Row) -> Result<(), Refusal> {
        let mut answers = Vec::new();
        for cell in &row.cells {
            let Some(place) = self.place(&cell.name) else { continue };
            answers.extend(answer(cell).map_err(Refusal::Record)?.map(|answer| (place, answer)));
        }
        naming.add(position, row.line, row.id)?;
        self.answers.push(answers);
        Ok(())
    }

    /// The place of a question. A new question gets a place if all questions count.
    fn place(&mut self, question: &str) -> Option<usize> {
        match (self.places.get(question), &mut self.chosen) {
            (Some(&place), chosen) => {
                chosen.iter_mut().for_each(|seen| seen[place] = true);
                Some(place)
            }
            (None, Some(_)) => None,
            (None, None) => {
                let place = self.questions.len();
                self.places.insert(question.to_owned(), place);
                self.questions.push(question.to_owned());
                Some(place)
            }
        }
    }

    fn finish(self, names: Names) -> Result<Answers> {
        let unseen = self.chosen.and_then(|seen| seen.iter().position(|seen| !seen));
        if let Some(unseen) = unseen.filter(|_| !self.answers.is_empty()) {
            let must = "a column of the records: check its spelling";
            return Err(Error::parameter("questions", &self.questions[unseen], must));
        }
        let items = encode(&self.answers, self.questions.len())?;
        let records = NamedItems { items, names };
        Ok(Answers { records, questions: self.questions })
    }
}

fn answer(cell: &RowCell) -> Result<Option<bool>, Problem> {
    let Some(text) = &cell.text else { return Ok(None) };
    match text.trim().to_lowercase().as_str() {
        "yes" | "y" | "true" | "t" | "1" | "+" => Ok(Some(true)),
        "no" | "n" | "false" | "f" | "0" | "-" => Ok(Some(false)),
        "" | "?" | "na" | "n/a" | "null" | "none" | "unknown" => Ok(None),
        _ => Err(Problem::new(format!("question `{}` is answered with `{text}`", cell.name))
            .or("write yes, no or nothing")
            .or(Advice::with("questions", "choose the questions"))),
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
        let mut out = BitWords::new(&mut words);
        for answer in &known {
            let pair = match answer {
                Some(true) => 0b11,
                Some(false) => 0b00,
                None => 0b01,
            };
            // Appending bits cannot fail.
            let _ = out.push(pair, 2);
        }
        let _ = out.end(BitNotation::Clear);
        bits.push(&words)?;
    }
    Ok(bits)
}

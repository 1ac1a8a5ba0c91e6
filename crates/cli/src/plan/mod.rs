//! `nearkin plan`: what a run will do, before it runs.

mod curve;
mod functions;
mod in_memory;
mod json;
mod numbers;
#[cfg(feature = "plot")]
mod plot;
mod text;

use std::path::{Path, PathBuf};

use clap::Args;
use nearkin_engine::amplify::{Bands, Expression, Sensitivity, best_or, functions_needed};
use nearkin_engine::error::{Advice, Problem};
use nearkin_engine::observe::{NoObserver, ObservedSource, Observer};
use nearkin_engine::options::{Goal, ItemKind, Options};
use nearkin_engine::plan::{Forecast, Survey, sample, survey};
use nearkin_engine::read::Place;
use nearkin_engine::search::{Search, SourceItems};
use nearkin_engine::settings::Settings;
use nearkin_engine::shingle::{Scratch, ShingleLength, Shingling, Unit, advise};
use nearkin_engine::{Error, Result};

use crate::args::{
    FieldArgs, ShingleArgs, SimilarityArgs, TempArgs, WayArgs, check_outputs, check_plot,
    options_of, parsed, place_parser,
};
use crate::report::ShortTexts;
use crate::screen::{Screen, print};

/// Show what a run would do, what it would find, and what it would miss
///
/// Without INPUT: the parameters for a threshold and a recall, and their S-curve. With INPUT, from a sample of it: also how
/// long each way to search would take, how many pairs it would find, miss and compare in vain, and a good length for
/// character shingles.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:
  nearkin plan -t 0.8 --recall 0.99
  nearkin plan articles.jsonl -t 0.5                   with a sample of the data

`nearkin plan --help` shows all options, in groups, with more examples.",
    after_long_help = "Examples:
  nearkin plan -t 0.8 --recall 0.99
  nearkin plan articles.jsonl -t 0.5                   with a sample of the data
  nearkin plan articles.jsonl -t 0.5 --plot curve.svg
  nearkin plan --bands 20 --rows 5 --at 0.2,0.5,0.8 --json
  nearkin plan --and-or 'and(4, or(4, minhash))' --sensitive 0.2,0.6
  nearkin plan --as vector --measure cosine --and-or 'or(9, and(6, hyperplane))' --sensitive 20,70"
)]
pub(crate) struct PlanArgs {
    /// Files, folders or - to take a sample from
    #[arg(value_name = "INPUT", value_parser = place_parser(), help_heading = "Input")]
    inputs: Vec<Place>,
    #[command(flatten)]
    fields: FieldArgs,
    #[command(flatten)]
    similarity: SimilarityArgs,
    #[command(flatten)]
    shingle: ShingleArgs,
    #[command(flatten)]
    way: WayArgs,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    temp: TempArgs,
}

/// What is shown.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Plan")]
struct ViewArgs {
    /// Show this expression instead, such as 'and(4, or(4, minhash))'
    ///
    /// and(N, …): all N must agree. or(N, …): one of N must agree. They may be nested.
    #[arg(long, value_name = "EXPR", value_parser = parsed::<Expression>)]
    and_or: Option<Expression>,
    /// Similarities at which to print the curve
    ///
    /// With --and-or: chances that one function agrees.
    #[arg(long, value_name = "S,…", value_delimiter = ',', default_values_t = AT)]
    at: Vec<f64>,
    /// Two distances: print how well pairs at D1 and D2 are told apart
    ///
    /// Once for one function, once for the whole expression. Distances are those of the measure: Jaccard distances for texts,
    /// sets and bags, and with --as and --measure degrees for cosine, bits for hamming, and lengths for line(WIDTH).
    #[arg(long, value_name = "D1,D2", value_parser = two_distances)]
    sensitive: Option<(f64, f64)>,
    /// Print instead how many functions an OR should have, to miss and to compare in vain as few pairs as possible
    ///
    /// P1 is the chance that one function agrees on a pair that belongs together, P2 that it does on another. For functions
    /// of three grid squares, P1 is (filled · again)³ and P2 is filled⁶.
    #[arg(long, value_name = "P1,P2", value_parser = two_chances, conflicts_with_all = ["inputs", "and_or", "sensitive", "plot"])]
    best_or: Option<(f64, f64)>,
    /// Draw the curve into a .svg or .png file
    ///
    /// With INPUT, over a histogram of similarities.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Also print the formula of the curve for LaTeX
    #[arg(long)]
    latex: bool,
    /// Estimates from sketches alone: relative error allowed downwards
    #[arg(long, default_value_t = DELTA)]
    delta: f64,
    /// Estimates from sketches alone: chance of a larger error
    #[arg(long, default_value_t = EPSILON)]
    epsilon: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Where the curve is given unless other places are asked for.
const AT: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const DELTA: f64 = 0.1;
const EPSILON: f64 = 0.05;

impl Default for ViewArgs {
    fn default() -> Self {
        Self {
            and_or: None,
            at: AT.to_vec(),
            sensitive: None,
            best_or: None,
            plot: None,
            latex: false,
            delta: DELTA,
            epsilon: EPSILON,
            json: false,
        }
    }
}

/// A plan that is asked for.
pub(crate) struct PlanRequest {
    options: Options,
    inputs: Vec<Place>,
    view: ViewArgs,
}

impl PlanArgs {
    fn request(&self) -> PlanRequest {
        let options =
            options_of(&[&self.fields, &self.similarity, &self.shingle, &self.way, &self.temp]);
        let options = Options { and_or: self.view.and_or.clone(), ..options };
        PlanRequest { options, inputs: self.inputs.clone(), view: self.view.clone() }
    }
}

impl PlanRequest {
    /// The plan for a program.
    pub(crate) fn as_json(options: Options, inputs: Vec<Place>) -> Self {
        Self { options, inputs, view: ViewArgs { json: true, ..ViewArgs::default() } }
    }

    /// The options without the expression, which is shown and not run.
    fn plain(&self) -> Options {
        Options { and_or: None, ..self.options.clone() }
    }
}

/// Reads `0.2,0.6`.
fn two_distances(text: &str) -> Result<(f64, f64), String> {
    let how = "give two distances, the smaller first, such as 0.2,0.6";
    let parsed = text.split_once(',').and_then(|(near, far)| {
        Some((near.trim().parse::<f64>().ok()?, far.trim().parse::<f64>().ok()?))
    });
    parsed
        .filter(|(near, far)| 0.0 <= *near && near < far && far.is_finite())
        .ok_or_else(|| how.to_owned())
}

/// Reads `0.004096,0.000064`.
fn two_chances(text: &str) -> Result<(f64, f64), String> {
    let parsed = text.split_once(',').and_then(|(one, other)| {
        Some((one.trim().parse::<f64>().ok()?, other.trim().parse::<f64>().ok()?))
    });
    let (p1, p2) = parsed.ok_or("give two chances, such as 0.004096,0.000064")?;
    best_or(p1, p2).map(|_| (p1, p2)).map_err(|error| error.to_string())
}

/// How many functions an OR should have, and what it then misses and meets in vain.
fn tell_best_or((p1, p2): (f64, f64), json: bool) -> Result<String> {
    let best = best_or(p1, p2)?;
    let or = Expression::function("p").or(best);
    let (missed, wasted) = (or.missed(p1), or.probability(p2));
    if json {
        let told = serde_json::json!({ "best_or": best, "missed": missed, "wasted": wasted });
        return Ok(format!("{told:#}\n"));
    }
    let [shown_missed, shown_wasted, sum] = [missed, wasted, missed + wasted].map(numbers::chance);
    Ok(format!(
        "or({best}, function) errs least, where a function agrees with chance {p1} on a pair that belongs together and \
         {p2} on another:\n  {shown_missed}  of the pairs that belong together are missed\n  {shown_wasted}  of the others are \
         compared in vain\n  {sum}  together\n"
    ))
}

/// Records drawn from a collection and compared with all of it.
const SAMPLE: usize = 700;

pub(crate) fn run(args: &PlanArgs) -> anyhow::Result<()> {
    print(tell(&args.request(), &NoObserver)?.as_bytes())
}

/// The plan as a text, or as JSON where that is asked for.
pub(crate) fn tell(request: &PlanRequest, observer: &dyn Observer) -> anyhow::Result<String> {
    let (options, view) = (&request.options, &request.view);
    options.check()?;
    if let Some(chances) = view.best_or {
        return Ok(tell_best_or(chances, view.json)?);
    }
    if let Some(path) = &view.plot {
        check_plot(path)?;
        check_outputs(&[], &[Some(path)], &request.inputs.iter().collect::<Vec<_>>())?;
    }
    if options.compares_in_memory()
        && request.inputs.is_empty()
        && let Some(expression) = &options.and_or
    {
        check_unused(view, &["plot"])?;
        return functions::tell(request, expression, Screen::of_stdout());
    }
    if let Some(wrong) = view.at.iter().find(|s| !(0.0..=1.0).contains(*s)) {
        return Err(Error::parameter("at", wrong, "from 0 to 1").into());
    }
    if let Some(wrong) = view.sensitive.map(|(_, far)| far).filter(|far| *far > 1.0)
        && !options.compares_in_memory()
    {
        return Err(
            Error::parameter("sensitive", wrong, "two Jaccard distances from 0 to 1").into()
        );
    }
    if let Some(expression) = &options.and_or {
        known_functions(expression)?;
        // What such a run of texts, sets or bags would do in memory.
        let are_minhashes = expression.names().iter().all(|name| *name == "minhash");
        if !request.inputs.is_empty() && !are_minhashes {
            return tell_in_memory(request, observer);
        }
    }
    if options.compares_in_memory() {
        return tell_in_memory(request, observer);
    }
    let plan = Plan::of(request, observer)?;
    let picture = view.plot.as_deref().map(|path| plan.picture(path)).transpose()?;
    let text = if view.json {
        format!("{:#}\n", plan.as_json())
    } else {
        plan.as_text(Screen::of_stdout())?
    };
    if let (Some(path), Some(picture)) = (&view.plot, picture) {
        let mut output = nearkin_engine::write::Output::create(Some(path))?;
        output.put(&picture)?;
        output.finish()?;
    }
    Ok(text)
}

/// An error for functions that there are not.
fn known_functions(expression: &Expression) -> Result<()> {
    let known = ["minhash", "bits", "hyperplane", "signs", "line", "squares", "equal", "p"];
    let is_known = |name: &&str| known.contains(&name.split('(').next().unwrap_or_default());
    match expression.names().into_iter().find(|name| !is_known(name)) {
        Some(name) => {
            let must = format!("made of and, or, and one of {}", known.join(", "));
            Err(Error::parameter("and_or", format!("an expression with `{name}`"), must))
        }
        None => Ok(()),
    }
}

/// The plan for items that are held in memory.
fn tell_in_memory(request: &PlanRequest, observer: &dyn Observer) -> anyhow::Result<String> {
    let view = &request.view;
    if request.inputs.is_empty() {
        let must =
            "given for items that are no texts: what is best depends on how far apart they are";
        let error = Error::parameter("INPUT", "missing", must);
        return Err(error.or(Advice::with("and_or", "see the curve of an expression")).into());
    }
    check_unused(view, &["plot", "latex"])?;
    let plan = in_memory::InMemoryPlan::of(request, observer)?;
    let curve = match (view.sensitive, plan.expression()) {
        (Some(two), Some(expression)) => {
            let curve = functions::ExpressionCurve::new(expression, &request.options, plan.bits())?;
            Some((curve, two))
        }
        (Some(_), None) => {
            let must = "left out: there are no tables for these items that keep the recall";
            return Err(Error::parameter("sensitive", "given", must).into());
        }
        (None, _) => None,
    };
    if view.json {
        let mut json = plan.as_json();
        if let Some((curve, two)) = curve {
            json["sensitive"] = curve.sensitive_json(two)?;
        }
        return Ok(format!("{json:#}\n"));
    }
    let mut text = plan.as_text()?;
    if let Some((curve, two)) = curve {
        text.push_str(&curve.sensitive_text(two)?);
    }
    Ok(text)
}

/// An error for options that a plan for items in memory does not have.
fn check_unused(view: &ViewArgs, names: &[&'static str]) -> Result<()> {
    let given = [("plot", view.plot.is_some()), ("latex", view.latex)];
    match given.into_iter().find(|(name, given)| *given && names.contains(name)) {
        Some((name, _)) => {
            Err(Error::parameter(name, "given", "left out for items that are no texts"))
        }
        None => Ok(()),
    }
}

/// What there is to say.
struct Plan<'a> {
    options: &'a Options,
    view: &'a ViewArgs,
    expression: Expression,
    /// The expression as bands and rows, if it has that form.
    bands: Option<Bands>,
    /// The threshold as it was asked for, and as a Jaccard similarity of shingles.
    asked: f64,
    threshold: f64,
    /// The chance, promised, that a pair at just the threshold is found.
    recall: f64,
    /// What the bands were chosen from.
    choices: Vec<Bands>,
    /// Functions for estimates from sketches alone.
    functions: usize,
    sensitive: Option<Sensitivity>,
    corpus: Option<Corpus>,
}

/// What a sample tells of the texts of a collection.
struct TextShapes {
    advice: Option<ShingleLength>,
    short: ShortTexts,
    /// What the user should look at.
    warning: Option<Problem>,
}

impl TextShapes {
    fn of(texts: &[&str], shingling: &Shingling) -> Self {
        let (mut scratch, mut shingles) = (Scratch::default(), Vec::new());
        let mut short = ShortTexts { all: texts.len() as u64, empty: 0, none: 0, one: 0 };
        let is_cut = matches!(shingling.unit, Unit::Words(_) | Unit::Chars(_));
        for text in texts {
            shingles.clear();
            shingling.shingle(text, &mut scratch, &mut shingles);
            match shingles.len() {
                0 if text.is_empty() => short.empty += 1,
                0 => short.none += 1,
                1 if is_cut => short.one += 1,
                _ => {}
            }
        }
        Self { advice: advise(texts), warning: short.warning(shingling), short }
    }
}

/// What a sample tells of a collection.
struct Corpus {
    survey: Survey,
    forecast: Forecast,
    /// How texts are cut; none for other items.
    texts: Option<TextShapes>,
    /// What an exact search would take, and what bands.
    ways: Option<nearkin_engine::plan::Plan>,
}

impl<'a> Plan<'a> {
    fn of(request: &'a PlanRequest, observer: &dyn Observer) -> Result<Self> {
        let (options, view) = (&request.options, &request.view);
        let settings = request.plain().settings(Goal::Pairs)?;
        check_way(options, &settings)?;
        let chosen = settings.bands()?;
        let threshold = settings.jaccard_threshold();
        let expression = options.and_or.clone().unwrap_or_else(|| chosen.into());
        let corpus = (!request.inputs.is_empty())
            .then(|| Corpus::of(request, &settings, &expression, observer))
            .transpose()?;
        let base = view.sensitive.map(|(near, far)| Sensitivity::minhash(near, far)).transpose()?;
        Ok(Self {
            options,
            view,
            bands: as_bands(&expression),
            asked: settings.limit().similarity(),
            threshold,
            recall: match options.and_or {
                Some(_) => expression.probability(threshold),
                None => settings.promised()?,
            },
            choices: settings.choices(),
            functions: functions_needed(view.delta, view.epsilon, threshold)?,
            sensitive: base,
            corpus,
            expression,
        })
    }

    /// The chance that a pair is compared.
    fn probability(&self, s: f64) -> f64 {
        self.expression.probability(s)
    }

    /// The threshold, but for a cascade for which none was given.
    fn marked_threshold(&self) -> Option<f64> {
        let given = self.options.threshold.is_some() || self.options.within.is_some();
        (self.options.and_or.is_none() || given || self.corpus.is_some()).then_some(self.threshold)
    }

    #[cfg(feature = "plot")]
    fn picture(&self, path: &Path) -> anyhow::Result<Vec<u8>> {
        plot::draw(self, path)
    }

    #[cfg(not(feature = "plot"))]
    fn picture(&self, _: &Path) -> anyhow::Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// An error where there is nothing to plan, or where an option says what a run is to do.
fn check_way(options: &Options, settings: &Settings) -> Result<()> {
    if !settings.measure.follows_jaccard() {
        let must = "jaccard, bag, bag-sum or dice here: others are found by an exact search, which misses none";
        return Err(Error::parameter("measure", settings.measure.name(), must));
    }
    let of_runs = [
        ("exact", options.exact),
        ("approximate", options.approximate),
        ("audit", options.audit.is_some()),
    ];
    match of_runs.iter().find(|(_, given)| *given) {
        Some((name, _)) => {
            let must = "left out: with INPUT, plan says what either way is expected to take";
            Err(Error::parameter(name, "given", must))
        }
        None => Ok(()),
    }
}

/// b bands of r rows, where that is what the expression says.
fn as_bands(expression: &Expression) -> Option<Bands> {
    let (count, inside) = match expression {
        Expression::Or(count, inside) => (*count, &**inside),
        other => (1, other),
    };
    match inside {
        Expression::And(rows, one) if matches!(**one, Expression::Function(_)) => {
            Some(Bands { count, rows: *rows })
        }
        Expression::Function(_) => Some(Bands { count, rows: 1 }),
        _ => None,
    }
}

impl Corpus {
    fn of(
        request: &PlanRequest,
        settings: &Settings,
        expression: &Expression,
        observer: &dyn Observer,
    ) -> Result<Self> {
        if expression.names().iter().any(|name| *name != "minhash") {
            let must = "of minhash alone with INPUT, whose texts are compared by it";
            return Err(Error::parameter("and_or", expression, must));
        }
        let opened = request.options.open(&request.inputs, None)?;
        let input = ObservedSource { source: &opened, observer };
        let sample = sample(&input, SAMPLE, settings.seed)?;
        let survey = survey(&input, &sample, settings)?;
        let texts: Vec<&str> = sample.texts.iter().map(String::as_str).collect();
        let forecast = survey.forecast(&|s| expression.probability(s));
        let ways = match request.options.and_or {
            None => Search::new(settings).plan(SourceItems::new(&input), Goal::Pairs)?,
            Some(_) => None,
        };
        let of_texts = request.options.kind() == ItemKind::Text;
        let texts = of_texts.then(|| TextShapes::of(&texts, &settings.shingling));
        Ok(Self { survey, forecast, texts, ways })
    }
}

//! Signals: which of them end a run, and with which status.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

/// A run that waits for more of its standard input, started by a shell after these words.
fn waiting(before: &str) -> Child {
    let line = format!("{before} {} pairs - --text text -q", env!("CARGO_BIN_EXE_nearkin"));
    let mut run = Command::new("sh")
        .args(["-c", &line])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // More than a pipe holds: when it is written, the run has begun to read.
    let record = format!("{{\"text\":\"{}\"}}\n", "word ".repeat(20_000));
    run.stdin.as_mut().unwrap().write_all(record.repeat(4).as_bytes()).unwrap();
    run
}

fn send(signal: &str, run: &Child) {
    let sent = Command::new("kill").args(["-s", signal, &run.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn a_run_that_was_told_to_stop_ends_as_if_the_signal_had_ended_it() {
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // Whoever runs the tests may ignore some.
        let mut run = waiting("exec env --default-signal=INT,TERM,HUP");
        // To wait would close it, and the run would come to its end.
        let input = run.stdin.take();
        send(signal, &run);
        let ended = run.wait().unwrap();
        drop(input);
        assert_eq!((ended.code(), ended.signal()), (Some(status), None), "{signal}");
    }
}

#[test]
fn nohup_was_defeated() {
    for (signal, ignored) in [("HUP", "trap '' HUP; exec"), ("INT", "trap '' INT; exec")] {
        let mut run = waiting(ignored);
        send(signal, &run);
        // The end of its input, for which it has to be alive.
        drop(run.stdin.take());
        assert_eq!(run.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn a_run_that_had_written_half_its_rows_said_that_it_had_written_none() {
    let place = tempfile::tempdir().unwrap();
    let records: String = (0..2000)
        .map(|id| format!("{{\"id\":{id},\"text\":\"the same words in each\"}}\n"))
        .collect();
    std::fs::write(place.path().join("in.jsonl"), records).unwrap();
    let line = format!(
        "exec env --default-signal=INT {} pairs in.jsonl -t 0.5 -q",
        env!("CARGO_BIN_EXE_nearkin")
    );
    let mut run = Command::new("sh")
        .args(["-c", &line])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Two million pairs are more than a pipe holds, and here some of them come.
    let mut rows = run.stdout.take().unwrap();
    rows.read_exact(&mut [0; 1000]).unwrap();
    send("INT", &run);
    // Nobody reads on, so that the run cannot come to its end.
    let ended = run.wait_with_output().unwrap();
    drop(rows);
    assert_eq!(ended.status.code(), Some(130));
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(told, "error: interrupted; the output is incomplete\n");
}

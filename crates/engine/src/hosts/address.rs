//! The host and the path that a URL names.
//!
//! Taken apart as browsers do it (the URL Standard of the WHATWG): hosts in lower case and names in other scripts in
//! their ASCII form, so that a host has one name; the usual port, names of users and what follows `#` do not count.
//! Escapes of the path are undone. A URL without a scheme, such as `www.example.org/a`, is taken for one of the Web.

use std::borrow::Cow;

use url::Url;

use crate::error::{Advice, Problem};
use crate::shingle::hash_bytes;

/// Where a page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The host, with its port where that is not the usual one.
    pub host: String,
    /// The path, without escapes.
    pub path: String,
    /// What follows `?`, as it came.
    pub query: Option<String>,
}

impl Address {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// When it is no URL, or names no host.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let whole = with_scheme(text.trim()).ok_or_else(|| refused(text, "it names no host"))?;
        let url = Url::parse(&whole).map_err(|error| refused(text, &error.to_string()))?;
        let host = url.host_str().map(|host| host.trim_end_matches('.').to_lowercase());
        let host = host.filter(|host| !host.is_empty());
        let mut host = host.ok_or_else(|| refused(text, "it names no host"))?;
        if let Some(port) = url.port() {
            host = format!("{host}:{port}");
        }
        let path = unescaped(url.path()).into_owned();
        Ok(Self { host, path, query: url.query().map(str::to_owned) })
    }

    /// The hash of all that follows the host.
    pub fn path_hash(&self) -> u64 {
        match &self.query {
            Some(query) => hash_bytes(format!("{}?{query}", self.path).as_bytes()),
            None => hash_bytes(self.path.as_bytes()),
        }
    }
}

/// Whether a text begins as a URL does.
pub fn is_url(text: &str) -> bool {
    let may = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.split_once("://").is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.bytes().all(may))
}

/// The URL with a scheme; nothing where it can have no host.
fn with_scheme(text: &str) -> Option<Cow<'_, str>> {
    if is_url(text) {
        return Some(text.into());
    }
    if let Some(rest) = text.strip_prefix("//") {
        return Some(format!("http://{rest}").into());
    }
    let host = text.split(['/', '?', '#']).next().unwrap_or_default();
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let named = name.contains('.') && port.bytes().all(|byte| byte.is_ascii_digit());
    named.then(|| format!("http://{text}").into())
}

/// A text without its escapes but those of signs that divide a URL; what is no UTF-8 then becomes U+FFFD.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escape = (*first == b'%').then(|| after.first_chunk::<2>()).flatten();
        let value = escape.and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)
        });
        match (value, escape) {
            // Signs that would mean something else if they stood for themselves.
            (Some(b'/' | b'?' | b'#' | b'%'), Some(digits)) => {
                bytes.push(b'%');
                bytes.extend(digits.map(|digit| digit.to_ascii_uppercase()));
            }
            _ => bytes.push(value.unwrap_or(*first)),
        }
        rest = if value.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

fn refused(text: &str, why: &str) -> Problem {
    const SHOWN: usize = 80;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    Problem::new(format!("`{shown}{more}` is no URL of a page: {why}"))
        .or("mend it")
        .or(Advice::SKIP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String) {
        let address = Address::parse(text).unwrap();
        (address.host, address.path)
    }

    #[test]
    fn a_host_has_one_name_however_it_is_written() {
        for (url, host) in [
            ("HTTP://WWW.Example.ORG/a", "www.example.org"),
            ("https://www.example.org:443/a", "www.example.org"),
            ("http://www.example.org:80/a", "www.example.org"),
            ("http://www.example.org./a", "www.example.org"),
            ("http://joe:secret@www.example.org/a", "www.example.org"),
            ("  www.example.org/a\t", "www.example.org"),
            ("//www.example.org/a", "www.example.org"),
            ("ftp://www.example.org/a", "www.example.org"),
            ("http://www.example.org:8080/a", "www.example.org:8080"),
            ("www.example.org:8080/a", "www.example.org:8080"),
            ("http://[2001:DB8::1]/a", "[2001:db8::1]"),
            ("http://[2001:db8:0:0:0:0:0:1]:8080/a", "[2001:db8::1]:8080"),
            ("http://BÜCHER.example/a", "xn--bcher-kva.example"),
            ("http://xn--bcher-kva.example/a", "xn--bcher-kva.example"),
            ("http://192.168.0.1/a", "192.168.0.1"),
            ("gopher://Old.Example/a", "old.example"),
        ] {
            assert_eq!(parts(url), (host.to_owned(), "/a".to_owned()), "{url}");
        }
    }

    #[test]
    fn paths_are_compared_without_escapes() {
        assert_eq!(parts("http://a.example/%7Ejoe/b%20c#end").1, "/~joe/b c");
        assert_eq!(parts("http://a.example/~joe/b c").1, "/~joe/b c");
        assert_eq!(parts("http://a.example/caf%C3%A9").1, "/café");
        assert_eq!(parts("http://a.example/café").1, "/café");
        assert_eq!(parts("http://a.example/x/../y/./z").1, "/y/z");
        // Escapes that are none stay as they are.
        assert_eq!(parts("http://a.example/100%/%zz/%+1").1, "/100%/%zz/%+1");
        assert_eq!(parts("http://a.example/caf%e9").1, "/caf\u{fffd}");
        assert_eq!(parts("http://a.example").1, "/");
        let hash = |url| Address::parse(url).unwrap().path_hash();
        assert_eq!(hash("http://a.example/p?q=1"), hash("https://b.example/p?q=1#top"));
        assert_ne!(hash("http://a.example/p?q=1"), hash("http://a.example/p?q=2"));
        assert_ne!(hash("http://a.example/p?"), hash("http://a.example/p"));
    }

    #[test]
    fn what_names_no_host_is_refused() {
        for text in [
            "",
            "word",
            "/path",
            "mailto:joe@example.org",
            "javascript:alert(1)",
            "file:///etc/hosts",
            "http://",
            "http://a b/c",
            "http://[::1",
            "{\"url\": \"http://a.example/\"}",
            "http://example.org:99999/",
            "# a list of URLs",
        ] {
            let refusal = Address::parse(text).unwrap_err();
            assert!(refusal.what.contains("is no URL"), "{text}: {refusal:?}");
        }
        let long = format!("/{}", "x".repeat(1000));
        assert!(Address::parse(&long).unwrap_err().what.len() < 200);
    }
}

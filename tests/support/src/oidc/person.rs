//! A person with a browser that follows nothing by itself: cookies by address and path, forms by hand.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, Url, header, redirect};

const FORM: (header::HeaderName, &str) = (header::CONTENT_TYPE, "application/x-www-form-urlencoded");
/// More steps than any sign-in has.
const MOST_STEPS: usize = 20;

/// A person. Clones are other browsers with the same cookies.
#[derive(Debug, Clone)]
pub struct Person {
    client: Client,
    cookies: Vec<Cookie>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cookie {
    origin: String,
    path: String,
    name: String,
    value: String,
}

/// What the browser shows.
#[derive(Debug)]
pub struct Shown {
    /// The status.
    pub status: u16,
    /// Where it leads to, as it was said.
    pub location: String,
    /// Every `Set-Cookie`.
    pub set_cookies: Vec<String>,
    /// The body.
    pub text: String,
}

impl Default for Person {
    fn default() -> Self {
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .no_proxy()
            .tls_certs_only([])
            .timeout(Duration::from_secs(60));
        Self {
            client: client.build().expect("a client"),
            cookies: Vec::new(),
        }
    }
}

impl Person {
    /// Opens an address.
    pub async fn open(&mut self, url: &str) -> Shown {
        let url = Url::parse(url).expect("a URL");
        let request = self.client.get(url.clone());
        self.send(request, &url).await
    }

    /// Goes from the gateway's first answer through the provider's pages as `login`, and says where it leads back to.
    ///
    /// # Panics
    /// When it never does.
    pub async fn sign_in_at(&mut self, start: &str, login: &str) -> String {
        self.walk(start, |form, prompt| {
            let fields: &[(&str, &str)] = match prompt {
                "login" => &[("prompt", "login"), ("login", login), ("password", "any")],
                _ => &[("prompt", "consent")],
            };
            (form.to_owned(), Some(fields.to_vec()))
        })
        .await
    }

    /// The same, but says no.
    ///
    /// # Panics
    /// When it never leads back.
    pub async fn say_no_at(&mut self, start: &str) -> String {
        self.walk(start, |form, _| (format!("{form}/abort"), None)).await
    }

    /// The value of a cookie for this address.
    #[must_use]
    pub fn cookie(&self, url: &str, name: &str) -> Option<String> {
        let origin = Url::parse(url).ok()?.origin().ascii_serialization();
        let mut found = self.cookies.iter();
        let found = found.find(|cookie| cookie.origin == origin && cookie.name == name)?;
        Some(found.value.clone())
    }

    /// Puts a cookie into the browser.
    ///
    /// # Panics
    /// When `url` is none.
    pub fn keep(&mut self, url: &str, name: &str, value: &str) {
        self.put(Cookie {
            origin: Url::parse(url).expect("a URL").origin().ascii_serialization(),
            path: "/".into(),
            name: name.into(),
            value: value.into(),
        });
    }

    async fn walk<'f>(
        &mut self,
        start: &str,
        answer: impl Fn(&str, &str) -> (String, Option<Vec<(&'f str, &'f str)>>),
    ) -> String {
        let mut url = Url::parse(start).expect("a URL");
        let provider = url.origin();
        let mut shown = self.open(url.as_str()).await;
        for _ in 0..MOST_STEPS {
            if !shown.location.is_empty() {
                url = url.join(&shown.location).expect("a URL");
                if url.origin() != provider {
                    return url.into();
                }
                shown = self.open(url.as_str()).await;
                continue;
            }
            let (form, prompt) = (
                shown.between("action=\"", "\""),
                shown.between("name=\"prompt\" value=\"", "\""),
            );
            let (to, fields) = answer(form, prompt);
            url = Url::parse(&to).expect("the address of a form");
            let request = match fields {
                Some(fields) => self
                    .client
                    .post(url.clone())
                    .header(FORM.0, FORM.1)
                    .body(written(&fields)),
                None => self.client.get(url.clone()),
            };
            shown = self.send(request, &url).await;
        }
        panic!("the provider never leads back: {shown:?}");
    }

    async fn send(&mut self, request: RequestBuilder, url: &Url) -> Shown {
        let origin = url.origin().ascii_serialization();
        let fitting = self.cookies.iter();
        let fitting = fitting.filter(|it| it.origin == origin && url.path().starts_with(&it.path));
        let cookies: Vec<String> = fitting.map(|it| format!("{}={}", it.name, it.value)).collect();
        let request = match cookies.is_empty() {
            true => request,
            false => request.header(header::COOKIE, cookies.join("; ")),
        };
        let response = request.send().await.expect("an answer");
        let shown = Shown::of(response).await;
        for line in &shown.set_cookies {
            self.take(&origin, line);
        }
        shown
    }

    fn take(&mut self, origin: &str, line: &str) {
        let mut parts = line.split(';').map(str::trim);
        let (name, value) = parts
            .next()
            .and_then(|pair| pair.split_once('='))
            .unwrap_or_default();
        let path = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.eq_ignore_ascii_case("path").then(|| value.to_owned())
        });
        self.put(Cookie {
            origin: origin.to_owned(),
            path: path.unwrap_or_else(|| "/".into()),
            name: name.into(),
            value: value.into(),
        });
    }

    fn put(&mut self, cookie: Cookie) {
        self.cookies
            .retain(|it| (&it.origin, &it.path, &it.name) != (&cookie.origin, &cookie.path, &cookie.name));
        // What is taken back is set to nothing.
        if !cookie.value.is_empty() {
            self.cookies.push(cookie);
        }
    }
}

impl Shown {
    async fn of(response: Response) -> Self {
        let text = |value: &header::HeaderValue| value.to_str().expect("plain text").to_owned();
        let headers = response.headers();
        let (location, set_cookies) = (
            headers.get(header::LOCATION).map(text).unwrap_or_default(),
            headers.get_all(header::SET_COOKIE).iter().map(text).collect(),
        );
        Self {
            status: response.status().as_u16(),
            location,
            set_cookies,
            text: response.text().await.expect("a body"),
        }
    }

    fn between(&self, before: &str, after: &str) -> &str {
        let rest = self.text.split(before).nth(1);
        let rest = rest.unwrap_or_else(|| panic!("no {before} in {self:?}"));
        rest.split(after).next().unwrap_or_default()
    }
}

/// The fields as a form sends them.
fn written(fields: &[(&str, &str)]) -> String {
    let mut url = Url::parse("http://form.example").expect("a URL");
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

//! A real moto server, from `tests/run`; a test that finds none says that it did not run.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use reqwest::Request;
use toolgate_test_postgres::not_run;

use super::super::{credentials::Credentials, sigv4, sigv4::Signing};
use crate::{clock::Clock, secrets::remote::Http};

/// The server; ends with the test.
pub(super) struct Moto {
    pub(super) url: String,
    http: Http,
    server: Child,
}

impl Moto {
    pub(super) async fn start(test: &str) -> Option<Self> {
        drop(tokio_rustls::rustls::crypto::ring::default_provider().install_default());
        let Some(program) = program() else {
            not_run(
                test,
                "no moto_server in target/test-tools/moto; tests/run puts one there",
            );
            return None;
        };
        let mut server = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", "0"])
            .env("PYTHONUNBUFFERED", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(server.stderr.take().unwrap()).lines();
        let url = tokio::task::spawn_blocking(move || {
            let mut lines = lines.map_while(Result::ok);
            let url = lines.find_map(|line| Some(line.split_once("Running on ")?.1.trim().to_owned()));
            // Read on, so that the server never waits for a reader.
            std::thread::spawn(move || lines.for_each(drop));
            url
        });
        let url = url.await.unwrap().expect("moto says where it listens");
        Some(Self {
            url,
            http: Http::new("k", None, false).unwrap(),
            server,
        })
    }

    /// One operation of Secrets Manager; must succeed.
    pub(super) async fn secrets_manager(&self, operation: &str, body: &str) {
        let target = format!("secretsmanager.{operation}");
        let headers = [
            ("content-type", "application/x-amz-json-1.1"),
            ("x-amz-target", &target),
        ];
        self.post("/", "secretsmanager", &headers, body).await;
    }

    /// Makes a user who may do one thing; gives its key id and key.
    pub(super) async fn user(&self, name: &str, may: &str) -> (String, String) {
        let policy = format!(
            "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22{may}%22%2C%22Resource%22%3A%22*%22%7D%5D%7D"
        );
        self.iam(&format!("Action=CreateUser&UserName={name}")).await;
        self.iam(&format!(
            "Action=PutUserPolicy&UserName={name}&PolicyName=p&PolicyDocument={policy}"
        ))
        .await;
        let made = self.iam(&format!("Action=CreateAccessKey&UserName={name}")).await;
        let part = |tag: &str| {
            let (_, rest) = made.split_once(&format!("<{tag}>")).unwrap();
            rest.split_once('<').unwrap().0.to_owned()
        };
        (part("AccessKeyId"), part("SecretAccessKey"))
    }

    /// From now on every request needs a right signature and a policy.
    pub(super) async fn check_signatures(&self) {
        self.post("/moto-api/reset-auth", "secretsmanager", &[], "0")
            .await;
    }

    async fn iam(&self, body: &str) -> String {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        self.post("/", "iam", &headers, &format!("{body}&Version=2010-05-08"))
            .await
    }

    async fn post(&self, path: &str, service: &str, headers: &[(&'static str, &str)], body: &str) -> String {
        let mut request = Request::new(http::Method::POST, format!("{}{path}", self.url).parse().unwrap());
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let signing = Signing {
            credentials: &Credentials::new("AKIASETUP", "setup", None),
            region: "eu-central-1",
            service,
            time_us: Clock::system().wall_us(),
        };
        for (name, value) in sigv4::sign(&request, body.as_bytes(), &signing).unwrap() {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        *request.body_mut() = Some(body.to_owned().into());
        let answer = self.http.send(request).await.unwrap();
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(answer.status.is_success(), "{body}: {} {text}", answer.status);
        text
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

// A test stands in <target>/<profile>/deps.
fn program() -> Option<PathBuf> {
    let tool = |folder: &Path| folder.join("test-tools/moto/bin/moto_server");
    let own = std::env::current_exe().ok()?;
    let fallback = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    own.ancestors()
        .skip(2)
        .take(2)
        .map(tool)
        .chain([tool(&fallback)])
        .find(|path| path.is_file())
}

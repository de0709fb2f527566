use http::HeaderMap;

use super::packed::{Bundle, File};

fn files(changed: &'static [u8]) -> Bundle {
    Bundle::of(&[
        File {
            path: "app/main.js",
            content_type: "text/javascript; charset=utf-8",
            bytes: changed,
        },
        File {
            path: "index.html",
            content_type: "text/html; charset=utf-8",
            bytes: b"<link href=\"{{root}}/css/app.css\"><script src=\"{{root}}/app/main.js\"></script>",
        },
    ])
}

#[test]
fn another_byte_in_any_file_is_another_address_of_all() {
    let (one, same, other) = (files(b"1"), files(b"1"), files(b"2"));
    assert_eq!(one.build, same.build);
    assert_ne!(one.build, other.build);
    let document = String::from_utf8(one.document.plain.to_vec()).unwrap();
    assert_eq!(
        document,
        format!(
            "<link href=\"/web/{0}/css/app.css\"><script src=\"/web/{0}/app/main.js\"></script>",
            one.build
        )
    );
}

#[test]
fn a_file_is_found_by_its_whole_name_in_its_own_build_only() {
    let bundle = files(b"let a = 1;");
    let status = |path: String| {
        super::files::answer(&bundle, &path, &HeaderMap::new()).map_or(404, |it| it.status().as_u16())
    };
    let build = &bundle.build;
    assert_eq!(status(format!("/web/{build}/app/main.js")), 200);
    for path in [
        format!("/web/{build}/"),
        format!("/web/{build}"),
        format!("/web/{build}/index.html"),
        format!("/web/{build}/app"),
        format!("/web/{build}/app/"),
        format!("/web/{build}/app//main.js"),
        format!("/web/{build}/./app/main.js"),
        format!("/web/{build}/x/../app/main.js"),
        format!("/web/{build}/../../Cargo.toml"),
        format!("/web/{build}/%2e%2e/Cargo.toml"),
        format!("/web/{build}/app%2fmain.js"),
        format!("/web/{build}/app\\main.js"),
        format!("/web/{build}/app/main.js%00"),
        format!("/web/{build}/App/main.js"),
        format!("/web/{build}//app/main.js"),
        format!("/web/{}/app/main.js", build.to_uppercase()),
        "/web/x/app/main.js".to_owned(),
        "/web//app/main.js".to_owned(),
    ] {
        assert_eq!(status(path.clone()), 404, "{path}");
    }
}

#[test]
fn what_belongs_to_the_making_of_the_pages_is_not_in_the_binary() {
    for name in super::packed::bundle().names() {
        for private in [
            "package",
            "tsconfig",
            "node_modules",
            ".test.",
            ".d.ts",
            ".json",
            "tests/",
        ] {
            assert!(!name.contains(private), "{name}");
        }
    }
}

//! No byte is another one behind the pipe.

use super::*;

/// Requests and answers of every shape, both ways.
#[test]
fn no_byte_is_another_one_on_the_way_through_the_pipe() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (world, session) = runtime.block_on(async {
        let world = World::start().await;
        let session = world.conversation().await;
        (world, session)
    });
    let id = prop_oneof![
        "0|-?[1-9][0-9]{0,17}",
        Just("9007199254740993".to_owned()),
        "\"[^\\x00-\\x1f\"\\\\]{0,12}\"",
        "\"(\\\\u00[2-7][0-9a-f]|\\\\n|\\\\\"){0,6}\"",
    ];
    let value = prop_oneof![
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,3})?",
        "\"[^\\x00-\\x1f\"\\\\]{0,24}\"",
        Just(r#"{"$defs":{"b":1, "a":[ null,true ]}}"#.to_owned()),
        Just("[ ]".to_owned()),
    ];
    let object = prop::collection::vec(("[a-z]{1,4}", value, " {0,2}"), 0..6).prop_map(|members| {
        let members: Vec<_> = members
            .into_iter()
            .enumerate()
            .map(|(n, (key, value, space))| format!("{space}\"x{key}{n}\"{space}:{value}{space}"))
            .collect();
        format!("{{{}}}", members.join(","))
    });
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    let cases = (id, object.clone(), object.clone(), object);
    runner
        .run(&cases, |(id, params, said, answered)| {
            runtime.block_on(async {
                let script = world.core.will_answer();
                tell(&script, says("notifications/x", &said)).await;
                tell(&script, result(&answered)).await;
                let body = format!(r#"{{"id":{id}, "params":{params},"method":"x/y","jsonrpc":"2.0"}}"#);
                let answer = world.pipe(&[("mcp-session-id", &session)], body).await;
                let asked = world.core.pipe.asked.lock().unwrap().pop().unwrap().1;
                prop_assert_eq!(asked.params, params);
                prop_assert_eq!(
                    data(answer.text()),
                    [
                        format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{said}}}"#),
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answered}}}"#),
                    ]
                );
                Ok(())
            })
        })
        .unwrap();
}

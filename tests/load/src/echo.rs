//! The direct host: the same answer without a gateway in front, as cheap as HTTP gets.

use std::io;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const BODY: &str = r#"{"content":[{"type":"text","text":" 12:00:00 up 1 day,  2:03,  1 user,  load average: 0.00, 0.01, 0.05\n"}],"structuredContent":{"command":"uptime","exit_code":0,"stdout":" 12:00:00 up 1 day,  2:03,  1 user,  load average: 0.00, 0.01, 0.05\n","stderr":"","truncated":false,"duration_ms":0},"isError":false}"#;

/// Serves until its standard input ends, that is until its parent is gone.
pub(crate) async fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let mut parent = tokio::io::stdin();
    let mut nothing = [0; 1];
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                // Ends with its connection; all of them with the process.
                tokio::spawn(answer(stream));
            }
            _ = parent.read(&mut nothing) => return Ok(()),
        }
    }
}

async fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut buffer = Vec::with_capacity(4096);
    loop {
        buffer.clear();
        // The generator sends a whole request in one piece and waits for the answer.
        while !buffer.ends_with(b"}") {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        stream.write_all(response.as_bytes()).await?;
    }
}

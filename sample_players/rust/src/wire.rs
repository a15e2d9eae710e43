//! The wire: turns bytes into messages and messages into bytes, and answers the referee's messages.
//!
//! It follows protocol/SPEC.md, knows no game, and needs no crate. You need not change anything here.

use crate::sha256::sha256_hex;
use std::env;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

/// SPEC.md, "Limits": the longest body from the referee.
const MAX_FRAME_BYTES: usize = 4 * 1024 * 1024;
const MAX_DEPTH: usize = 16;

/// Any value of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

use Value::{Bool, Float, Int, List, Map, Null, Text};

impl Value {
    /// The value of a map's key; null if there is none.
    pub fn get(&self, key: &str) -> &Value {
        let pairs: &[(String, Value)] = if let Map(pairs) = self { pairs } else { &[] };
        pairs.iter().find(|(name, _)| name == key).map_or(&Null, |(_, value)| value)
    }

    /// The items of a list; none if this is not a list.
    pub fn items(&self) -> &[Value] {
        if let List(items) = self {
            items
        } else {
            &[]
        }
    }

    /// The text; empty if this is not a text.
    pub fn text(&self) -> &str {
        if let Text(text) = self {
            text
        } else {
            ""
        }
    }

    /// The integer; 0 if this is not an integer.
    pub fn int(&self) -> i64 {
        if let Int(number) = self {
            *number
        } else {
            0
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Text(text.to_string())
    }
}

impl From<(i64, i64)> for Value {
    fn from((row, column): (i64, i64)) -> Value {
        List(vec![Int(row), Int(column)])
    }
}

/// Makes a map.
pub fn map<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Map(pairs.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

// --- values -> bytes: the part of msgpack that the protocol allows

fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Null => out.push(0xc0),
        Bool(flag) => out.push(if *flag { 0xc3 } else { 0xc2 }),
        Int(number) => {
            out.push(0xd3);
            out.extend(number.to_be_bytes());
        }
        Float(number) => {
            out.push(0xcb);
            out.extend(number.to_be_bytes());
        }
        Text(text) => {
            head(0xdb, text.len(), out);
            out.extend(text.as_bytes());
        }
        List(items) => {
            head(0xdd, items.len(), out);
            items.iter().for_each(|item| encode(item, out));
        }
        Map(pairs) => {
            head(0xdf, pairs.len(), out);
            for (key, item) in pairs {
                encode(&Text(key.clone()), out);
                encode(item, out);
            }
        }
    }
}

fn head(tag: u8, count: usize, out: &mut Vec<u8>) {
    out.push(tag);
    out.extend((count as u32).to_be_bytes());
}

/// A message as a frame: its length, then the message.
pub fn frame(message: &Value) -> Vec<u8> {
    let mut body = Vec::new();
    encode(message, &mut body);
    let mut bytes = (body.len() as u32).to_be_bytes().to_vec();
    bytes.append(&mut body);
    bytes
}

// --- bytes -> values

/// Takes some bytes off the front of the rest of a body.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], String> {
    if count > bytes.len() {
        return Err("a value ends too early: only a part of the frame was read".to_string());
    }
    let (front, rest) = bytes.split_at(count);
    *bytes = rest;
    Ok(front)
}

fn unsigned(bytes: &mut &[u8], width: usize) -> Result<u64, String> {
    Ok(take(bytes, width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn string(bytes: &mut &[u8], count: usize) -> Result<String, String> {
    String::from_utf8(take(bytes, count)?.to_vec()).map_err(|error| format!("a string is not UTF-8: {error}"))
}

fn check_depth(depth: usize) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("arrays and maps are nested too deep".to_string());
    }
    Ok(())
}

fn list(bytes: &mut &[u8], count: usize, depth: usize) -> Result<Value, String> {
    check_depth(depth)?;
    (0..count).map(|_| decode(bytes, depth)).collect::<Result<Vec<_>, _>>().map(List)
}

fn pairs(bytes: &mut &[u8], count: usize, depth: usize) -> Result<Value, String> {
    check_depth(depth)?;
    let pair = |bytes: &mut &[u8]| match decode(bytes, depth)? {
        Text(key) => Ok((key, decode(bytes, depth)?)),
        other => Err(format!("a key is not a string: {other:?}")),
    };
    (0..count).map(|_| pair(bytes)).collect::<Result<Vec<_>, _>>().map(Map)
}

fn decode(bytes: &mut &[u8], depth: usize) -> Result<Value, String> {
    let tag = take(bytes, 1)?[0];
    Ok(match tag {
        0x00..=0x7f => Int(i64::from(tag)),
        0xe0..=0xff => Int(i64::from(tag as i8)),
        0x80..=0x8f => pairs(bytes, usize::from(tag & 0x0f), depth + 1)?,
        0x90..=0x9f => list(bytes, usize::from(tag & 0x0f), depth + 1)?,
        0xa0..=0xbf => Text(string(bytes, usize::from(tag & 0x1f))?),
        0xc0 => Null,
        0xc2 | 0xc3 => Bool(tag == 0xc3),
        0xca => Float(f64::from(f32::from_bits(unsigned(bytes, 4)? as u32))),
        0xcb => Float(f64::from_bits(unsigned(bytes, 8)?)),
        0xcc..=0xcf => Int(i64::try_from(unsigned(bytes, 1 << (tag - 0xcc))?).map_err(|error| error.to_string())?),
        0xd0 => Int(i64::from(unsigned(bytes, 1)? as i8)),
        0xd1 => Int(i64::from(unsigned(bytes, 2)? as i16)),
        0xd2 => Int(i64::from(unsigned(bytes, 4)? as i32)),
        0xd3 => Int(unsigned(bytes, 8)? as i64),
        0xd9..=0xdb => {
            let count = unsigned(bytes, 1 << (tag - 0xd9))? as usize;
            Text(string(bytes, count)?)
        }
        0xdc | 0xdd => {
            let count = unsigned(bytes, if tag == 0xdc { 2 } else { 4 })? as usize;
            list(bytes, count, depth + 1)?
        }
        0xde | 0xdf => {
            let count = unsigned(bytes, if tag == 0xde { 2 } else { 4 })? as usize;
            pairs(bytes, count, depth + 1)?
        }
        _ => return Err(format!("no value of the protocol begins with the byte {tag:#04x}")),
    })
}

/// Reads the next message; none at the end of the connection; even an error ends the match.
pub fn read_frame(input: &mut dyn Read) -> Result<Option<Value>, String> {
    let mut prefix = [0; 4];
    match input.read_exact(&mut prefix) {
        Err(error) if [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset].contains(&error.kind()) => {
            return Ok(None)
        }
        other => other.map_err(|error| format!("the connection can't be read: {error}"))?,
    }
    let length = u32::from_be_bytes(prefix) as usize;
    if length == 0 || length > MAX_FRAME_BYTES {
        return Err(format!("a frame of {length} bytes"));
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).map_err(|error| format!("a frame is cut off: {error}"))?;
    let mut rest = &body[..];
    match decode(&mut rest, 0)? {
        message @ Map(_) if rest.is_empty() => Ok(Some(message)),
        _ => Err("a frame is not exactly one map".to_string()),
    }
}

// --- the conversation

/// A connection of either kind.
trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn connect(address: &str) -> Result<Box<dyn Stream>, String> {
    let unheard = |error| format!("no referee at {address}: {error}; is it running?");
    if let Some(place) = address.strip_prefix("tcp:") {
        let stream = TcpStream::connect(place).map_err(unheard)?;
        stream.set_nodelay(true).map_err(unheard)?; // a move is one small packet: send it at once
        Ok(Box::new(stream))
    } else if let Some(path) = address.strip_prefix("unix:") {
        Ok(Box::new(UnixStream::connect(path).map_err(unheard)?))
    } else {
        Err(format!("REFEREE_ADDRESS is tcp:HOST:PORT or unix:PATH, not {address:?}"))
    }
}

/// The nonce enters the shuffle: nobody may foresee it, not even the referee.
fn new_nonce() -> Result<String, String> {
    let mut bytes = [0; 16];
    let random = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    random.map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Connects, plays every match that is offered, and returns when the referee closes the connection.
pub fn play(mut choose: impl FnMut(&str, &Value) -> Value) -> Result<(), String> {
    let variable = |name| env::var(name).unwrap_or_default();
    let mut stream = connect(&variable("REFEREE_ADDRESS"))?;
    let (name, token) = (variable("REFEREE_NAME"), variable("REFEREE_TOKEN"));
    let hello = map([
        ("type", "hello".into()),
        ("version", 1.into()),
        ("name", if name.is_empty() { "player".into() } else { name[..].into() }),
        ("token", if token.is_empty() { Null } else { token[..].into() }),
    ]);
    // Ignore a closed connection: the referee's last messages may still have to be read.
    let _ = stream.write_all(&frame(&hello));
    let (mut game, mut nonce) = (String::new(), String::new());
    while let Some(message) = read_frame(&mut stream)? {
        if message.get("type").text() == "offer" {
            nonce = new_nonce()?;
        }
        for answer in answers(&message, &mut game, &nonce, &mut choose)? {
            let _ = stream.write_all(&frame(&answer));
        }
    }
    Ok(())
}

/// Returns the messages that answer a message.
fn answers(
    message: &Value,
    game: &mut String,
    nonce: &str,
    choose: &mut impl FnMut(&str, &Value) -> Value,
) -> Result<Vec<Value>, String> {
    let mut found = Vec::new();
    let (id, said) = (message.get("match"), |key| message.get(key).text());
    match said("type") {
        "refused" => return Err(format!("the referee refuses this player: {} ({})", said("reason"), said("code"))),
        "offer" | "resumed" => *game = said("game").to_string(),
        "turn" => found.push(map([
            ("type", "move".into()),
            ("match", id.clone()),
            ("turn", message.get("turn").clone()),
            ("move", choose(game, message.get("view"))),
        ])),
        "expelled" => eprintln!("expelled: {} {} {}", said("foul"), said("rule"), said("detail")),
        _ => {} // `told`, `end` and `paused` need no answer of their own
    }
    if said("type") == "offer" {
        let text = format!("nonce:{}:{}:{nonce}", id.text(), message.get("seat").int());
        let commitment = sha256_hex(text.as_bytes());
        found.push(map([("type", "ready".into()), ("match", id.clone()), ("commitment", commitment[..].into())]));
    }
    if said("type") == "reveal" {
        // all players have committed
        found.push(map([("type", "nonce".into()), ("match", id.clone()), ("nonce", nonce.into())]));
    }
    if let Int(number) = message.get("ack") {
        found.push(map([("type", "ack".into()), ("match", id.clone()), ("ack", (*number).into())]));
    }
    Ok(found)
}

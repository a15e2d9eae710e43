//! A player for all four games. To make it yours, replace `choose`.
//!
//!     target/release/player            plays the best move for this turn
//!     target/release/player random     plays any legal move
//!     target/release/player echo       for tests: reads frames in hex, line by line, and writes them back, or an error

mod games;
mod sha256;
mod wire;

use std::cell::Cell;
use std::time::SystemTime;
use std::{env, io, process};
use wire::Value;

thread_local! {
    /// Gives the same numbers in matches with the same seed, so that a match can be repeated.
    static CHANCE: Cell<u64> = Cell::new(seed());
}

fn seed() -> u64 {
    let digits = env::var("REFEREE_PLAYER_SEED").unwrap_or_default();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64);
    digits.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(now) | 1
}

/// A number from 0 to `bound` - 1, by xorshift64 of George Marsaglia.
fn chance(bound: usize) -> usize {
    let mut state = CHANCE.with(Cell::get);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    CHANCE.with(|chance| chance.set(state));
    (state % bound as u64) as usize
}

fn strategy() -> String {
    env::args().nth(1).unwrap_or_else(|| "heuristic".to_string())
}

/// Returns the move to play. This is the function to replace.
///
/// `game` is the name of the game: "q", "quincy", "quincala" or "quadominos"; `view` is all that this seat may know.
fn choose(game: &str, view: &Value) -> Value {
    let mut moves = games::moves(game, view);
    let best = moves.iter().map(|(value, _)| *value).max();
    moves.retain(|(value, _)| strategy() == "random" || Some(*value) == best);
    let chosen = chance(moves.len());
    moves.swap_remove(chosen).1
}

fn echo(line: &str) -> Result<String, String> {
    let digits = (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16));
    let bytes = digits.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
    let mut rest = &bytes[..];
    match wire::read_frame(&mut rest)? {
        Some(message) if rest.is_empty() => {
            Ok(wire::frame(&message).iter().map(|byte| format!("{byte:02x}")).collect())
        }
        _ => Err("not one whole frame".to_string()),
    }
}

fn main() {
    let strategy = strategy();
    let ended = match &strategy[..] {
        "echo" => {
            for line in io::stdin().lines().map_while(Result::ok) {
                println!("{}", echo(&line).unwrap_or_else(|error| format!("error: {error}")));
            }
            Ok(())
        }
        "heuristic" | "random" => wire::play(choose),
        _ => Err(format!("the strategy is heuristic or random, not {strategy:?}")),
    };
    if let Err(error) = ended {
        eprintln!("{error}");
        process::exit(1);
    }
}

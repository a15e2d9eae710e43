//! A player for all four games. To make it yours, replace `choose`.
//!
//!     target/release/player            plays what looks best this turn
//!     target/release/player random     plays anything legal
//!     target/release/player echo       for tests: reads frames in hex, a line each, and writes them back, or why not

mod games;
mod wire;

use std::time::SystemTime;
use std::{env, io, process};
use wire::Value;

/// Chance that is the same in every match of the same seed: so a match can be played again.
struct Chance(u64);

impl Chance {
    fn new() -> Chance {
        let seed = env::var("REFEREE_PLAYER_SEED").unwrap_or_default();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64);
        Chance(seed.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(now) | 1)
    }

    /// A number from 0 up to, and without, `bound`: xorshift64, by George Marsaglia.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

/// Returns the move to play. This is the function to replace.
///
/// `game` is its name: "q", "quincy", "quincala" or "quadominos"; `view` is all that this seat may know.
fn choose(game: &str, view: &Value, is_random: bool, chance: &mut Chance) -> Value {
    let mut moves = games::moves(game, view);
    let best = moves.iter().map(|(value, _)| *value).max();
    moves.retain(|(value, _)| is_random || Some(*value) == best);
    let chosen = chance.below(moves.len());
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
    let strategy = env::args().nth(1).unwrap_or_else(|| "heuristic".to_string());
    let mut chance = Chance::new();
    let ended = match &strategy[..] {
        "echo" => {
            for line in io::stdin().lines().map_while(Result::ok) {
                println!("{}", echo(&line).unwrap_or_else(|error| format!("error: {error}")));
            }
            Ok(())
        }
        "heuristic" | "random" => wire::play(|game, view| choose(game, view, strategy == "random", &mut chance)),
        _ => Err(format!("the strategy is heuristic or random, not {strategy:?}")),
    };
    if let Err(error) = ended {
        eprintln!("{error}");
        process::exit(1);
    }
}

//! The games: finds the legal moves from the view alone, and rates each of them.
//!
//! Each function takes a view and returns (value, move) pairs, where a simple heuristic gives the value.
//! `referee list GAME` prints a game's rules, `referee list GAME --schema` the form of its views and moves.

use crate::wire::{map, Value};
use std::collections::{BTreeMap, BTreeSet};

type Rated = (i64, Value);
/// (row, column).
type Cell = (i64, i64);
type Board<T> = BTreeMap<Cell, T>;

const LINES: [Cell; 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];
const AXES: [Cell; 2] = [(0, 1), (1, 0)];

/// Lists the rated moves of a game by its name.
pub fn moves(game: &str, view: &Value) -> Vec<Rated> {
    match game {
        "q" => q(view),
        "quincy" => quincy(view),
        "quincala" => quincala(view),
        "quadominos" => quadominos(view),
        _ => panic!("this player does not know the game {game}"),
    }
}

fn shifted((row, column): Cell, (down, right): Cell, times: i64) -> Cell {
    (row + times * down, column + times * right)
}

fn cell(place: &Value) -> Cell {
    (place.items()[0].int(), place.items()[1].int())
}

fn texts(list: &Value) -> Vec<&str> {
    list.items().iter().map(Value::text).collect()
}

/// The cells of a view: `[row, column, something]` each.
fn cells<'a, T>(list: &'a Value, read: impl Fn(&'a Value) -> T) -> Board<T> {
    list.items().iter().map(|item| (cell(item), read(&item.items()[2]))).collect()
}

/// The free cells next to an occupied one.
fn free_cells<T>(board: &Board<T>) -> BTreeSet<Cell> {
    let near = board
        .keys()
        .flat_map(|&at| AXES.into_iter().flat_map(move |axis| [shifted(at, axis, 1), shifted(at, axis, -1)]));
    near.filter(|at| !board.contains_key(at)).collect()
}

// --- q: place tiles in a line, exchange the hand, or pass

fn q(view: &Value) -> Vec<Rated> {
    let board = cells(view.get("map"), Value::text);
    let hand = texts(view.get("hand"));
    let mut found = vec![(-2, map([("action", "pass".into())]))];
    if hand.len() as i64 <= view.get("tiles_left").int() {
        found.push((-1, map([("action", "exchange".into())])));
    }
    for first in free_cells(&board) {
        for tile in hand.iter().copied().collect::<BTreeSet<_>>() {
            if fits(&board, first, tile) {
                found.extend(AXES.map(|axis| placement(&board, &hand, first, tile, axis)));
            }
        }
    }
    found
}

/// The neighbours of a cell along an axis.
fn near<'a>(board: &Board<&'a str>, at: Cell, axis: Cell) -> Vec<&'a str> {
    [-1, 1].iter().filter_map(|&times| board.get(&shifted(at, axis, times)).copied()).collect()
}

/// Tells whether a tile agrees with its neighbours along each axis: all in colour or all in shape.
fn fits(board: &Board<&str>, at: Cell, tile: &str) -> bool {
    let (color, shape) = tile.split_once('-').expect("a tile is colour-shape");
    AXES.iter().all(|&axis| {
        let parts: Vec<_> = near(board, at, axis).into_iter().filter_map(|other| other.split_once('-')).collect();
        parts.iter().all(|other| other.0 == color) || parts.iter().all(|other| other.1 == shape)
    })
}

/// Lays a first tile, then more of the hand next to it, along one axis in both directions.
fn placement(board: &Board<&str>, hand: &[&str], first: Cell, tile: &str, axis: Cell) -> Rated {
    let mut after: Board<&str> = board.clone();
    let mut rest = hand.to_vec();
    let mut laid = vec![first];
    after.insert(first, rest.remove(rest.iter().position(|&other| other == tile).expect("it is in the hand")));
    for sign in [1, -1] {
        let mut next = edge(&after, first, axis, sign);
        while let Some(chosen) = rest.iter().position(|other| fits(&after, next, other)) {
            after.insert(next, rest.remove(chosen));
            laid.push(next);
            next = edge(&after, next, axis, sign);
        }
    }
    let touched: usize =
        laid.iter().map(|&at| AXES.map(|axis| near(&after, at, axis).len()).iter().sum::<usize>()).sum();
    let tiles = laid.iter().map(|at| Value::List(vec![at.0.into(), at.1.into(), after[at].into()])).collect();
    ((laid.len() + touched) as i64, map([("action", "place".into()), ("tiles", Value::List(tiles))]))
}

/// The first free cell from a cell in one direction.
fn edge(board: &Board<&str>, mut at: Cell, axis: Cell, sign: i64) -> Cell {
    while board.contains_key(&at) {
        at = shifted(at, axis, sign);
    }
    at
}

// --- quincy: play a domino, and with it add a stone or remove one

fn quincy(view: &Value) -> Vec<Rated> {
    let rows = texts(view.get("board"));
    let stones: Board<char> = (1..)
        .zip(rows)
        .flat_map(|(row, line)| (1..).zip(line.chars()).map(move |(column, stone)| ((row, column), stone)))
        .collect();
    let lines: BTreeSet<Cell> =
        view.get("lines").items().iter().flat_map(|line| line.get("squares").items()).map(cell).collect();
    let own = view.get("stone").text().chars().next();
    let mut found = Vec::new();
    for domino in view.get("hand").items() {
        let before = found.len();
        for (&square, &stone) in stones.iter().filter(|(&square, _)| names(cell(domino), square)) {
            let is_prey = cell(domino).0 == 0 && stone != '.' && Some(stone) != own && !lines.contains(&square);
            if stone == '.' || is_prey {
                let action = if is_prey { "remove" } else { "add" };
                let play = map([("action", action.into()), ("domino", domino.clone()), ("square", square.into())]);
                found.push((worth(&stones, square), play));
            }
        }
        if found.len() == before {
            found.push((-1, map([("action", "discard".into()), ("domino", domino.clone())])));
            // it is unplayable
        }
    }
    found
}

/// Tells whether a domino names a square; a blank, which is the smaller end, stands for any number.
fn names((low, high): Cell, (row, column): Cell) -> bool {
    match (low, high) {
        (0, 0) => true,
        (0, _) => row == high || column == high,
        _ => (row, column) == (low, high) || (row, column) == (high, low),
    }
}

/// The worth of a square: high if fours through it have many stones of one colour, own or not.
fn worth(stones: &Board<char>, square: Cell) -> i64 {
    let mut sum = 0;
    for line in LINES {
        for start in -3..=0 {
            let others = (start..start + 4).filter(|&times| times != 0);
            let four: Vec<_> = others.filter_map(|times| stones.get(&shifted(square, line, times))).collect();
            let count = |stone| four.iter().filter(|&&&other| other == stone).count() as u32;
            if four.len() == 3 && count('A').min(count('B')) == 0 {
                sum += 4_i64.pow(count('A').max(count('B')));
            }
        }
    }
    sum
}

// --- quincala: place the pieces of the hand, then move a tower leg by leg

type Towers<'a> = Board<Vec<&'a str>>;

/// The data that the legs of a turn need.
struct Table<'a> {
    own: &'a str,
    other: &'a str,
    dots: Board<char>,
    towers: Towers<'a>,
    immune: Towers<'a>,
}

fn quincala(view: &Value) -> Vec<Rated> {
    let seat = view.get("seat").int();
    let (own, other) = if seat == 0 { ("w", "b") } else { ("b", "w") };
    let rows = (1..).zip(texts(view.get("layout")));
    let dots =
        rows.flat_map(|(row, line)| (1..).zip(line.chars()).map(move |(column, dot)| ((row, column), dot))).collect();
    let (towers, immune) = (cells(view.get("board"), texts), cells(view.get("immune"), texts));
    let table = Table { own, other, dots, towers, immune };
    match view.get("phase").text() {
        "place" => placings(&table, seat, &texts(&view.get("hands").items()[seat as usize])),
        "move" => {
            let whole = table.towers.iter().filter(|(_, pieces)| pieces.iter().all(|piece| piece.starts_with(own)));
            whole.flat_map(|(&start, pieces)| legs(&table, start, pieces)).collect()
        }
        _ => {
            let here = view.get("path").items().last().map(cell).expect("a move that goes on has a path");
            let mut moving: Vec<_> =
                table.towers[&here].iter().copied().filter(|piece| piece.starts_with(own)).collect();
            moving.pop(); // the largest one stays
            let stop = (lead(&table, &table.towers) + 1, map([("action", "stop".into())])); // go on only for a gain
            std::iter::once(stop).chain(legs(&table, here, &moving)).collect()
        }
    }
}

fn placings(table: &Table, seat: i64, hand: &[&str]) -> Vec<Rated> {
    let forward = if seat == 0 { 1 } else { -1 }; // pieces meet near the other player
    let is_own = |dot: char| dot == 'x' || table.own.starts_with(dot);
    let free = table.dots.iter().filter(|(at, &dot)| is_own(dot) && !table.towers.contains_key(at));
    let place = |at: Cell, piece: &str| map([("action", "place".into()), ("piece", piece.into()), ("dot", at.into())]);
    free.flat_map(|(&at, _)| hand.iter().map(move |piece| (forward * at.0, place(at, piece)))).collect()
}

/// The legs of some pieces: straight over free dots, with at most as many steps as pieces.
fn legs(table: &Table, start: Cell, moving: &[&str]) -> Vec<Rated> {
    let mut found = Vec::new();
    let is_hit = |piece: &&str| moving.iter().any(|other| other[1..] == piece[1..]); // of the same size
    for direction in LINES.into_iter().flat_map(|(down, right)| [(down, right), (-down, -right)]) {
        for step in 1..=moving.len() as i64 {
            let end = shifted(start, direction, step);
            if table.dots.get(&end).map_or(true, |&dot| dot == ' ') {
                break;
            }
            if !table.immune.get(&end).map_or(false, |pieces| pieces.iter().any(is_hit)) {
                let mut after = table.towers.clone();
                after.entry(start).or_default().retain(|piece| !moving.contains(piece));
                after.entry(end).or_default().retain(|piece| !is_hit(piece));
                after.entry(end).or_default().extend(moving);
                let leg = map([("action", "leg".into()), ("start", start.into()), ("end", end.into())]);
                found.push((lead(table, &after), leg));
            }
            if table.towers.contains_key(&end) {
                break;
            }
        }
    }
    found
}

/// Twice the number of sizes by which the player is ahead of the other.
fn lead(table: &Table, towers: &Towers) -> i64 {
    2 * (mixed(towers, table.own) - mixed(towers, table.other))
}

/// The number of sizes of a colour that are in towers of both colours; with all sizes it wins.
fn mixed(towers: &Towers, color: &str) -> i64 {
    let is_mixed = |pieces: &&Vec<&str>| ["w", "b"].iter().all(|one| pieces.iter().any(|piece| piece.starts_with(one)));
    let pieces = towers.values().filter(is_mixed).flatten();
    pieces.filter(|piece| piece.starts_with(color)).collect::<BTreeSet<_>>().len() as i64
}

// --- quadominos: lay a tile whose corners agree with all corners that they meet

fn quadominos(view: &Value) -> Vec<Rated> {
    let hand = texts(view.get("hand"));
    let step = view.get("step").text();
    if step == "open" {
        // with the highest quad, or with the quad-zero, which earns points and two more tiles
        let quads: Vec<&str> =
            hand.iter().copied().filter(|tile| tile.chars().all(|digit| tile.starts_with(digit))).collect();
        let due = quads.iter().filter(|&tile| Some(tile) == quads.iter().max() || *tile == "0000");
        return due.map(|tile| (if *tile == "0000" { 25 } else { total(tile) }, lay((0, 0), tile))).collect();
    }
    if step == "bonus" {
        return vec![(25, map([("action", "points".into())]))]; // two more tiles may score more: try it
    }
    let board = cells(view.get("board"), Value::text);
    let numbers: Board<char> = board.iter().flat_map(|(&at, tile)| corners(at).into_iter().zip(tile.chars())).collect();
    let mut found = Vec::new();
    if step == "extra" {
        found.push((-1, map([("action", "done".into())])));
    }
    for at in free_cells(&board) {
        let wanted = corners(at).map(|corner| numbers.get(&corner));
        let bonus = if step == "lay" && wanted.iter().flatten().count() >= 3 { 25 } else { 0 };
        for tile in &hand {
            for turned in (0..4).map(|i| [&tile[i..], &tile[..i]].concat()).collect::<BTreeSet<_>>() {
                if wanted.iter().zip(turned.chars()).all(|(want, number)| want.map_or(true, |&want| want == number)) {
                    found.push((total(tile) + bonus, lay(at, &turned)));
                }
            }
        }
    }
    found
}

/// The corners of a cell clockwise from its top left one, each named by the cell at its bottom right.
fn corners(at: Cell) -> [Cell; 4] {
    [(0, 0), (0, 1), (1, 1), (1, 0)].map(|step| shifted(at, step, 1))
}

fn total(tile: &str) -> i64 {
    tile.chars().filter_map(|digit| digit.to_digit(10)).map(i64::from).sum()
}

fn lay(at: Cell, tile: &str) -> Value {
    map([("action", "lay".into()), ("row", at.0.into()), ("column", at.1.into()), ("tile", tile.into())])
}

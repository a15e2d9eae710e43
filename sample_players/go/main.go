// A player for all four games. To make it yours, replace choose.
//
//	./player            plays the best move for this turn
//	./player random     plays any legal move
//	./player echo       for tests: reads frames in hex, line by line, and writes them back, or an error

package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"
)

// chance gives the same numbers in matches with the same seed, so that a match can be repeated.
var chance = rand.New(rand.NewSource(seed()))

func seed() int64 {
	digits := os.Getenv("REFEREE_PLAYER_SEED")
	if len(digits) >= 16 {
		if number, err := strconv.ParseUint(digits[:16], 16, 64); err == nil {
			return int64(number)
		}
	}
	return time.Now().UnixNano()
}

// choose returns the move to play. This is the function to replace.
//
// game is the name of the game: "q", "quincy", "quincala" or "quadominos"; view is all that this seat may know.
func choose(game string, view Map) Map {
	moves := games[game](view)
	best := moves[0].value
	for _, one := range moves {
		if one.value > best {
			best = one.value
		}
	}
	taken := []Map{}
	for _, one := range moves {
		if one.value == best || strategy() == "random" {
			taken = append(taken, one.move)
		}
	}
	return taken[chance.Intn(len(taken))]
}

func strategy() string {
	if len(os.Args) > 1 {
		return os.Args[1]
	}
	return "heuristic"
}

func echo(line string) string {
	body, err := hex.DecodeString(line)
	if err != nil {
		return "error: " + err.Error()
	}
	from := bytes.NewReader(body)
	message, err := readFrame(from)
	if err != nil || from.Len() > 0 {
		return fmt.Sprint("error: not exactly one frame: ", err)
	}
	return hex.EncodeToString(frame(message))
}

func main() {
	switch strategy() {
	case "echo":
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			fmt.Println(echo(lines.Text()))
		}
	case "heuristic", "random":
		if err := play(choose); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		fmt.Fprintf(os.Stderr, "the strategy is heuristic or random, not %q\n", strategy())
		os.Exit(2)
	}
}

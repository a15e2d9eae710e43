// Quincy: play a domino, and with it add a stone or remove one.

package main

func quincy(view Map) (found []rated) {
	stones, own := grid(view["board"]), view["stone"].(string)[0]
	unbreakable := map[cell]bool{}
	for _, line := range list(view["lines"]) {
		for _, square := range list(line.(Map)["squares"]) {
			unbreakable[cellOf(square)] = true
		}
	}
	for _, domino := range list(view["hand"]) {
		ends, before := cellOf(domino), len(found)
		for _, square := range ordered(stones) {
			stone, action := stones[square], "add"
			if stone != '.' {
				action = "remove"
			}
			isPrey := ends.row == 0 && stone != own && !unbreakable[square]
			if names(ends, square) && (stone == '.' || isPrey) {
				move := Map{"action": action, "domino": domino, "square": square.pair()}
				found = append(found, rated{worth(stones, square), move})
			}
		}
		if len(found) == before { // only an unplayable domino may be discarded
			found = append(found, rated{-1, Map{"action": "discard", "domino": domino}})
		}
	}
	return found
}

// names tells whether a domino names a square; a blank, which is the smaller end, stands for any number.
func names(ends, square cell) bool {
	if ends.row == 0 {
		return ends.column == 0 || square.row == ends.column || square.column == ends.column
	}
	return square == ends || square == cell{ends.column, ends.row}
}

// worth of a square is high if fours through it have many stones of one colour, own or not.
func worth(stones map[cell]byte, square cell) (sum int) {
	for _, line := range lines {
		for start := -3; start <= 0; start++ {
			counts := map[byte]int{}
			for i := start; i < start+4; i++ {
				if i != 0 {
					counts[stones[square.shifted(line, i)]]++ // 0 beyond the board
				}
			}
			if counts[0] == 0 && (counts['A'] == 0 || counts['B'] == 0) {
				sum += 1 << (2 * (counts['A'] + counts['B']))
			}
		}
	}
	return sum
}

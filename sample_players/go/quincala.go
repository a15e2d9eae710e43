// Quincala Mixing: place the pieces of the hand, then move a tower leg by leg.

package main

// A table is the data that the legs of a turn need.
type table struct {
	own, other byte
	dots       map[cell]byte
	towers     map[cell][]string
	immune     map[cell][]string
}

func towersOf(value any) map[cell][]string {
	towers := map[cell][]string{}
	for _, item := range list(value) {
		towers[cellOf(item)] = texts(list(item)[2])
	}
	return towers
}

func quincala(view Map) (found []rated) {
	seat := integer(view["seat"])
	now := table{"wb"[seat], "bw"[seat], grid(view["layout"]), towersOf(view["board"]), towersOf(view["immune"])}
	switch view["phase"] {
	case "place":
		return placings(now, seat, distinct(texts(list(view["hands"])[seat])))
	case "move":
		for _, start := range ordered(now.towers) {
			if pieces := now.towers[start]; len(ofColor(pieces, now.own)) == len(pieces) {
				found = append(found, legs(now, start, pieces)...)
			}
		}
		return found
	}
	path := list(view["path"])
	here := cellOf(path[len(path)-1])
	mine := ofColor(now.towers[here], now.own)                          // the smallest piece first; the largest stays
	found = []rated{{lead(now, now.towers) + 1, Map{"action": "stop"}}} // so it goes on only for a gain
	return append(found, legs(now, here, mine[:len(mine)-1])...)
}

func placings(now table, seat int, hand []string) (found []rated) {
	forward := 1 - 2*seat // pieces meet near the other player
	for _, dot := range ordered(now.dots) {
		isOwn := now.dots[dot] == now.own || now.dots[dot] == 'x'
		for _, piece := range hand {
			if isOwn && now.towers[dot] == nil {
				move := Map{"action": "place", "piece": piece, "dot": dot.pair()}
				found = append(found, rated{forward * dot.row, move})
			}
		}
	}
	return found
}

// legs returns the legs of some pieces: straight over free dots, with at most as many steps as pieces.
func legs(now table, start cell, moving []string) (found []rated) {
	for _, line := range lines {
		for _, sign := range []int{1, -1} {
			for step := 1; step <= len(moving); step++ {
				end := start.shifted(line, sign*step)
				if dot := now.dots[end]; dot == 0 || dot == ' ' {
					break
				}
				if len(knocked(now.immune[end], moving)) == 0 {
					move := Map{"action": "leg", "start": start.pair(), "end": end.pair()}
					found = append(found, rated{lead(now, moved(now.towers, start, end, moving)), move})
				}
				if now.towers[end] != nil {
					break
				}
			}
		}
	}
	return found
}

func moved(towers map[cell][]string, start, end cell, moving []string) map[cell][]string {
	after := map[cell][]string{}
	for at, pieces := range towers {
		after[at] = append([]string{}, pieces...)
	}
	for _, piece := range knocked(after[end], moving) {
		after[end] = without(after[end], piece)
	}
	for _, piece := range moving {
		after[start], after[end] = without(after[start], piece), append(after[end], piece)
	}
	return after
}

// knocked returns the pieces that arriving pieces knock: those of the same sizes.
func knocked(pieces, moving []string) (found []string) {
	for _, piece := range pieces {
		if contains(moving, "w"+piece[1:]) || contains(moving, "b"+piece[1:]) {
			found = append(found, piece)
		}
	}
	return found
}

func ofColor(pieces []string, color byte) (found []string) {
	for _, piece := range pieces {
		if piece[0] == color {
			found = append(found, piece)
		}
	}
	return found
}

// lead returns twice the player's lead in sizes; the sizes in towers of both colours count.
func lead(now table, towers map[cell][]string) int {
	own, other := map[string]bool{}, map[string]bool{}
	for _, pieces := range towers {
		mine, theirs := ofColor(pieces, now.own), ofColor(pieces, now.other)
		for _, piece := range mine {
			own[piece] = own[piece] || len(theirs) > 0
		}
		for _, piece := range theirs {
			other[piece] = other[piece] || len(mine) > 0
		}
	}
	return 2 * (count(own) - count(other))
}

func count(flags map[string]bool) (sum int) {
	for _, flag := range flags {
		if flag {
			sum++
		}
	}
	return sum
}

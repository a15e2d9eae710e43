// Quad-Ominos: lay a tile whose corners agree with all corners that they meet.

package main

import "strings"

func quadominos(view Map) (found []rated) {
	hand, step := texts(view["hand"]), view["step"].(string)
	switch step {
	case "open": // with the highest quad, or with the quad-zero, which earns points and two more tiles
		highest := ""
		for _, tile := range hand {
			if tile == strings.Repeat(tile[:1], 4) && tile > highest {
				highest = tile
			}
		}
		if contains(hand, "0000") {
			found = append(found, rated{25, lay(cell{0, 0}, "0000")})
		}
		if highest != "0000" {
			found = append(found, rated{total(highest), lay(cell{0, 0}, highest)})
		}
		return found
	case "bonus":
		return []rated{{25, Map{"action": "points"}}} // two more tiles may score more: try it
	case "extra":
		found = append(found, rated{-1, Map{"action": "done"}})
	}
	board, numbers := cells(view["board"]), map[cell]byte{}
	for at, tile := range board {
		for i, corner := range corners(at) {
			numbers[corner] = tile[i]
		}
	}
	for _, at := range freeCells(board) {
		for _, tile := range hand {
			for _, turned := range distinct([]string{tile, tile[1:] + tile[:1], tile[2:] + tile[:2], tile[3:] + tile[:3]}) {
				met, agrees := meeting(numbers, at, turned)
				if value := total(tile); agrees && met >= 3 && step == "lay" {
					found = append(found, rated{value + 25, lay(at, turned)}) // that is a bonus
				} else if agrees {
					found = append(found, rated{value, lay(at, turned)})
				}
			}
		}
	}
	return found
}

// meeting counts the corners of a tile that meet others on the table, and tells whether all numbers agree there.
func meeting(numbers map[cell]byte, at cell, tile string) (met int, agrees bool) {
	agrees = true
	for i, corner := range corners(at) {
		if number, isMet := numbers[corner]; isMet {
			met++
			agrees = agrees && number == tile[i]
		}
	}
	return met, agrees
}

// corners returns the corners of a cell, clockwise from the top left; each is named by the cell at its bottom right.
func corners(at cell) []cell {
	return []cell{at, at.shifted(axes[0], 1), at.shifted(lines[2], 1), at.shifted(axes[1], 1)}
}

func total(tile string) (sum int) {
	for _, digit := range tile {
		sum += int(digit - '0')
	}
	return sum
}

func lay(at cell, tile string) Map {
	return Map{"action": "lay", "row": at.row, "column": at.column, "tile": tile}
}

// The Q game: place tiles in a line, exchange the hand, or pass.

package main

import "strings"

func q(view Map) []rated {
	board, hand := cells(view["map"]), texts(view["hand"])
	found := []rated{{-2, Map{"action": "pass"}}}
	if len(hand) <= integer(view["tiles_left"]) {
		found = append(found, rated{-1, Map{"action": "exchange"}})
	}
	for _, first := range freeCells(board) {
		for _, tile := range distinct(hand) {
			if fits(board, first, tile) {
				for _, axis := range axes {
					found = append(found, placement(board, hand, first, tile, axis))
				}
			}
		}
	}
	return found
}

// near returns the neighbours of a cell along an axis.
func near(board map[cell]string, at cell, axis cell) (found []string) {
	for _, times := range []int{-1, 1} {
		if tile := board[at.shifted(axis, times)]; tile != "" {
			found = append(found, tile)
		}
	}
	return found
}

// fits tells whether a tile agrees with its neighbours along each axis: all in colour or all in shape.
func fits(board map[cell]string, at cell, tile string) bool {
	color, shape, _ := strings.Cut(tile, "-")
	for _, axis := range axes {
		sameColor, sameShape := true, true
		for _, other := range near(board, at, axis) {
			sameColor = sameColor && strings.HasPrefix(other, color+"-")
			sameShape = sameShape && strings.HasSuffix(other, "-"+shape)
		}
		if !sameColor && !sameShape {
			return false
		}
	}
	return true
}

// placement lays a first tile, then more of the hand next to it, along one axis in both directions.
func placement(board map[cell]string, hand []string, first cell, tile string, axis cell) rated {
	after := map[cell]string{first: tile}
	for at, other := range board {
		after[at] = other
	}
	rest, laid := without(hand, tile), []cell{first}
	for _, sign := range []int{1, -1} {
		at := edge(after, first, axis, sign)
		for next := fitting(after, at, rest); next != ""; next = fitting(after, at, rest) {
			after[at], rest, laid = next, without(rest, next), append(laid, at)
			at = edge(after, at, axis, sign)
		}
	}
	value, tiles := len(laid), []any{}
	for _, at := range laid {
		value += len(near(after, at, axes[0])) + len(near(after, at, axes[1]))
		tiles = append(tiles, []any{at.row, at.column, after[at]})
	}
	return rated{value, Map{"action": "place", "tiles": tiles}}
}

// edge returns the first free cell from a cell in one direction.
func edge(board map[cell]string, at cell, axis cell, sign int) cell {
	for board[at] != "" {
		at = at.shifted(axis, sign)
	}
	return at
}

// fitting returns the first of some tiles that fits on a cell; empty if none does.
func fitting(board map[cell]string, at cell, tiles []string) string {
	for _, tile := range tiles {
		if fits(board, at, tile) {
			return tile
		}
	}
	return ""
}

// without returns the items without the first one that equals an item.
func without(items []string, one string) []string {
	for i, item := range items {
		if item == one {
			return append(append([]string{}, items[:i]...), items[i+1:]...)
		}
	}
	return items
}

// The common parts of the games. Each game has its own file, which finds the legal moves from the view alone. Its
// function takes a view and returns rated moves, where a simple heuristic gives the value.
// `referee list GAME` prints a game's rules, `referee list GAME --schema` the form of its views and moves.

package main

import "sort"

type rated struct {
	value int
	move  Map
}

type cell struct{ row, column int }

var (
	axes  = []cell{{0, 1}, {1, 0}}
	lines = []cell{{0, 1}, {1, 0}, {1, 1}, {1, -1}}
)

var games = map[string]func(view Map) []rated{
	"q": q, "quincy": quincy, "quincala": quincala, "quadominos": quadominos,
}

func (at cell) shifted(step cell, times int) cell {
	return cell{at.row + times*step.row, at.column + times*step.column}
}

func (at cell) pair() []any { return []any{at.row, at.column} }

func list(value any) []any  { return value.([]any) }
func integer(value any) int { return int(value.(int64)) }
func cellOf(value any) cell { return cell{integer(list(value)[0]), integer(list(value)[1])} }

func texts(value any) (found []string) {
	for _, item := range list(value) {
		found = append(found, item.(string))
	}
	return found
}

// distinct returns the items in order, each once.
func distinct(items []string) (found []string) {
	for _, item := range items {
		if !contains(found, item) {
			found = append(found, item)
		}
	}
	return found
}

func contains(items []string, wanted string) bool {
	for _, item := range items {
		if item == wanted {
			return true
		}
	}
	return false
}

// ordered returns the cells of a map row by row: Go's order of maps changes.
func ordered[T any](board map[cell]T) []cell {
	found := make([]cell, 0, len(board))
	for at := range board {
		found = append(found, at)
	}
	sort.Slice(found, func(i, j int) bool {
		return found[i].row < found[j].row || (found[i].row == found[j].row && found[i].column < found[j].column)
	})
	return found
}

// cells reads the lists `[row, column, tile]` of a view.
func cells(value any) map[cell]string {
	board := map[cell]string{}
	for _, item := range list(value) {
		board[cellOf(item)] = list(item)[2].(string)
	}
	return board
}

// grid reads a text for each row; rows and columns count from 1.
func grid(value any) map[cell]byte {
	found := map[cell]byte{}
	for row, line := range texts(value) {
		for column := range line {
			found[cell{row + 1, column + 1}] = line[column]
		}
	}
	return found
}

// freeCells returns the free cells next to an occupied one.
func freeCells(board map[cell]string) []cell {
	free := map[cell]bool{}
	for at := range board {
		for _, axis := range axes {
			for _, times := range []int{-1, 1} {
				if other := at.shifted(axis, times); board[other] == "" {
					free[other] = true
				}
			}
		}
	}
	return ordered(free)
}

// The wire: turns bytes into messages and messages into bytes, and answers the referee's messages.
// It follows protocol/SPEC.md, and knows no game. You need not change anything here.

package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"unicode/utf8"
)

// Map is a message, or a map in one. Its values, and those of lists, are nil, bool, int64, float64, string, []any, Map.
type Map map[string]any

const (
	maxFrameBytes = 4 * 1024 * 1024 // SPEC.md, "Limits": the longest body from the referee
	maxDepth      = 16
)

// --- values -> bytes: the part of msgpack that the protocol allows

func encode(out *bytes.Buffer, value any) {
	switch value := value.(type) {
	case nil:
		out.WriteByte(0xc0)
	case bool:
		if value {
			out.WriteByte(0xc3)
		} else {
			out.WriteByte(0xc2)
		}
	case int:
		encode(out, int64(value))
	case int64:
		put(out, 0xd3, value)
	case float64:
		put(out, 0xcb, math.Float64bits(value))
	case string:
		put(out, 0xdb, uint32(len(value)))
		out.WriteString(value)
	case []any:
		put(out, 0xdd, uint32(len(value)))
		for _, item := range value {
			encode(out, item)
		}
	case Map:
		put(out, 0xdf, uint32(len(value)))
		for key, item := range value {
			encode(out, key)
			encode(out, item)
		}
	default:
		panic(fmt.Sprintf("the protocol has no %T: %v", value, value))
	}
}

func put(out *bytes.Buffer, tag byte, number any) {
	out.WriteByte(tag)
	binary.Write(out, binary.BigEndian, number)
}

// frame returns a message as a frame: its length, then the message.
func frame(message Map) []byte {
	var body bytes.Buffer
	encode(&body, message)
	return append(binary.BigEndian.AppendUint32(nil, uint32(body.Len())), body.Bytes()...)
}

// --- bytes -> values

// A reader reads values from the bytes of one body; it panics with an error if there is no value.
type reader struct{ left []byte }

func (in *reader) take(count uint64) []byte {
	if count > uint64(len(in.left)) {
		panic(errors.New("a value ends too early: only a part of the frame was read"))
	}
	front := in.left[:count]
	in.left = in.left[count:]
	return front
}

func (in *reader) unsigned(width uint64) uint64 {
	number := uint64(0)
	for _, one := range in.take(width) {
		number = number<<8 | uint64(one)
	}
	return number
}

func (in *reader) text(count uint64) string {
	text := string(in.take(count))
	if !utf8.ValidString(text) {
		panic(errors.New("a string is not UTF-8"))
	}
	return text
}

func checkDepth(depth int) {
	if depth > maxDepth {
		panic(errors.New("arrays and maps are nested too deep"))
	}
}

func (in *reader) list(count uint64, depth int) []any {
	checkDepth(depth)
	items := []any{}
	for ; count > 0; count-- {
		items = append(items, in.value(depth))
	}
	return items
}

func (in *reader) pairs(count uint64, depth int) Map {
	checkDepth(depth)
	pairs := Map{}
	for ; count > 0; count-- {
		key, isText := in.value(depth).(string)
		if !isText {
			panic(errors.New("a key is not a string"))
		}
		pairs[key] = in.value(depth)
	}
	return pairs
}

func (in *reader) value(depth int) any {
	tag := byte(in.unsigned(1))
	switch {
	case tag < 0x80 || tag >= 0xe0:
		return int64(int8(tag))
	case tag < 0x90:
		return in.pairs(uint64(tag&0x0f), depth+1)
	case tag < 0xa0:
		return in.list(uint64(tag&0x0f), depth+1)
	case tag < 0xc0:
		return in.text(uint64(tag & 0x1f))
	}
	switch tag {
	case 0xc0:
		return nil
	case 0xc2, 0xc3:
		return tag == 0xc3
	case 0xca:
		return float64(math.Float32frombits(uint32(in.unsigned(4))))
	case 0xcb:
		return math.Float64frombits(in.unsigned(8))
	case 0xcc, 0xcd, 0xce, 0xcf:
		return int64(in.unsigned(1 << (tag - 0xcc)))
	case 0xd0:
		return int64(int8(in.unsigned(1)))
	case 0xd1:
		return int64(int16(in.unsigned(2)))
	case 0xd2:
		return int64(int32(in.unsigned(4)))
	case 0xd3:
		return int64(in.unsigned(8))
	case 0xd9, 0xda, 0xdb:
		return in.text(in.unsigned(1 << (tag - 0xd9)))
	case 0xdc, 0xdd:
		return in.list(in.unsigned(2<<(tag-0xdc)), depth+1)
	case 0xde, 0xdf:
		return in.pairs(in.unsigned(2<<(tag-0xde)), depth+1)
	}
	panic(fmt.Errorf("no value of the protocol begins with the byte %#x", tag))
}

// readFrame returns the next message, or io.EOF at the end.
func readFrame(from io.Reader) (message Map, wrong error) {
	defer func() {
		if problem := recover(); problem != nil {
			wrong = problem.(error)
		}
	}()
	prefix := make([]byte, 4)
	if _, err := io.ReadFull(from, prefix); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(prefix)
	if length == 0 || length > maxFrameBytes {
		return nil, fmt.Errorf("a frame of %d bytes", length)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(from, body); err != nil {
		return nil, err
	}
	in := reader{body}
	message, isMap := in.value(0).(Map)
	if !isMap || len(in.left) > 0 {
		return nil, errors.New("a frame is not exactly one map")
	}
	return message, nil
}

// --- the conversation

func connect(address string) (net.Conn, error) {
	kind, place, _ := strings.Cut(address, ":")
	if (kind != "tcp" && kind != "unix") || place == "" {
		return nil, fmt.Errorf("REFEREE_ADDRESS is tcp:HOST:PORT or unix:PATH, not %q", address)
	}
	connection, err := net.Dial(kind, place) // of a TCP connection, Go sends small packets at once
	if err != nil {
		return nil, fmt.Errorf("no referee at %s: %w; is it running?", address, err)
	}
	return connection, nil
}

// play connects, plays every match that is offered, and returns when the referee closes the connection.
func play(choose func(game string, view Map) Map) error {
	connection, err := connect(os.Getenv("REFEREE_ADDRESS"))
	if err != nil {
		return err
	}
	defer connection.Close()
	hello := Map{"type": "hello", "version": 1, "name": "player", "token": nil}
	if name := os.Getenv("REFEREE_NAME"); name != "" {
		hello["name"] = name
	}
	if token := os.Getenv("REFEREE_TOKEN"); token != "" {
		hello["token"] = token
	}
	// Ignore a closed connection: the referee's last messages may still have to be read.
	connection.Write(frame(hello))
	for game, nonce := "", ""; ; {
		message, err := readFrame(connection)
		var gone *net.OpError
		if err == io.EOF || errors.As(err, &gone) {
			return nil // the end of the connection, even by an error, is the end of the match
		}
		if err != nil {
			return err
		}
		if message["type"] == "refused" {
			return fmt.Errorf("the referee refuses this player: %v (%v)", message["reason"], message["code"])
		}
		if name, isText := message["game"].(string); isText { // in offer and resumed
			game = name
		}
		if message["type"] == "offer" {
			nonce = newNonce()
		}
		for _, answer := range answers(message, game, nonce, choose) {
			connection.Write(frame(answer))
		}
	}
}

// newNonce returns a nonce, which enters the shuffle: nobody may foresee it, not even the referee.
func newNonce() string {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		panic(err)
	}
	return hex.EncodeToString(nonce)
}

// answers returns the messages that answer a message.
func answers(message Map, game, nonce string, choose func(game string, view Map) Map) (found []Map) {
	match := message["match"]
	switch message["type"] {
	case "offer":
		hash := sha256.Sum256([]byte(fmt.Sprintf("nonce:%v:%v:%s", match, message["seat"], nonce)))
		found = append(found, Map{"type": "ready", "match": match, "commitment": hex.EncodeToString(hash[:])})
	case "reveal": // all players have committed
		found = append(found, Map{"type": "nonce", "match": match, "nonce": nonce})
	case "turn":
		move := choose(game, message["view"].(Map))
		found = append(found, Map{"type": "move", "match": match, "turn": message["turn"], "move": move})
	case "expelled":
		fmt.Fprintln(os.Stderr, "expelled:", message["foul"], message["rule"], message["detail"])
	}
	if message["ack"] != nil {
		found = append(found, Map{"type": "ack", "match": match, "ack": message["ack"]})
	}
	return found // "told", "end" and "paused" need no answer of their own
}

//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

const recording = "../../docs/watch.txt"

// The size of the recorded terminal. The test of the recording in internal/watch has the same.
const (
	recordedWidth  = 80
	recordedHeight = 24
)

const recordingHead = `# What one sees who watches the demo in a terminal of 80 x 24: four looks of one run. Between them, after the seconds since
# its start, is what the demo says. Without colours; with them each member has its own, in the list and in the grid.
# Made by: go test ./cmd/dynamolease -run TestWatchRecording -args -update
`

// docs/watch.txt shows a run of the demo: one of four workers is killed, and the others take over
// its partitions. With -update this test records it anew. Another test in internal/watch checks its
// form.
func TestWatchRecording(t *testing.T) {
	if *update {
		text := recordingHead
		for _, s := range record(t) {
			text += "\n" + s.String()
		}
		if err := os.WriteFile(recording, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	scenes := readScenes(string(written))
	if chosen := chooseScenes(scenes); len(chosen) != len(scenes) || !strings.HasPrefix(string(written), recordingHead) {
		t.Errorf("of %d scenes, %d tell the story:\n%s", len(scenes), len(chosen), written)
	}
}

// A scene is a picture with the demo's messages since the one before.
type scene struct {
	said    []string
	picture string
}

func (s scene) String() string {
	text := ""
	for _, line := range s.said {
		text += "# " + line + "\n"
	}
	if text != "" {
		text += "\n"
	}
	return text + s.picture
}

func readScenes(text string) []scene {
	scenes := []scene{{}}
	for line := range strings.Lines(strings.TrimPrefix(text, recordingHead)) {
		last := &scenes[len(scenes)-1]
		said, isSaid := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "# ")
		if last.picture != "" && (isSaid || strings.HasPrefix(line, "service ")) {
			scenes = append(scenes, scene{})
			last = &scenes[len(scenes)-1]
		}
		switch {
		case isSaid:
			last.said = append(last.said, said)
		case last.picture != "" || line != "\n":
			last.picture += line
		}
	}
	for i := range scenes {
		scenes[i].picture = strings.TrimRight(scenes[i].picture, "\n") + "\n"
	}
	return scenes
}

// record runs the demo, and watches it in a terminal until it has seen the whole story.
func record(t *testing.T) []scene {
	t.Helper()
	demo := exec.CommandContext(t.Context(), "go", "run", "-C", "../../tools", "./demo", "--plain")
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	watch := append(invited(t, lines), "--interval", "500ms")
	c := openConsole(t, asProcess(t, []string{"NO_COLOR=1"}, watch...), recordedWidth, recordedHeight)
	said := make(chan string, 1000)
	go func() {
		defer close(said)
		for lines.Scan() {
			if news.MatchString(lines.Text()) {
				said <- strings.TrimSpace(lines.Text()) // there is room for all
			}
		}
	}()
	var all, chosen []scene
	for last := ""; chosen == nil; {
		s := scene{picture: c.still(last)}
		last = s.picture
		for len(said) > 0 {
			s.said = append(s.said, <-said)
		}
		all = append(all, s)
		chosen = chooseScenes(all)
	}
	c.enter(ctrlC)
	if code, rest := c.wait(); code != 0 {
		t.Errorf("watch: code %d, %q", code, rest)
	}
	for range said { // until the demo has nothing more to say
	}
	if err := demo.Wait(); err != nil {
		t.Errorf("demo: %v", err)
	}
	return chosen
}

// still waits until the screen shows another picture, and nothing more is drawn.
func (c *console) still(before string) string {
	c.Helper()
	c.shows("another picture", func(lines []string) bool {
		return len(lines) > 0 && strings.HasPrefix(lines[0], "service ") && strings.Join(lines, "\n")+"\n" != before
	})
	for {
		select {
		case <-c.changed:
		case <-time.After(100 * time.Millisecond):
			return strings.Join(c.lines(), "\n") + "\n"
		}
	}
}

// news matches the demo's messages on events.
var news = regexp.MustCompile(`s  w\d (now owns|is killed|is stopped|goes on)`)

// invited returns the arguments with which the demo invites the user to watch it.
func invited(t *testing.T, lines *bufio.Scanner) []string {
	t.Helper()
	for lines.Scan() {
		if command, ok := strings.CutPrefix(lines.Text(), "  go run ./cmd/dynamolease "); ok {
			return strings.Fields(command)
		}
	}
	t.Fatal("the demo invites nobody")
	return nil
}

// chooseScenes returns the four scenes that tell the story, or none while one is missing: the first
// in which four workers share everything; the last in which the killed one has time left; the first
// without it; and the first in which everything is held again.
func chooseScenes(all []scene) []scene {
	killed := regexp.MustCompile(`(w\d) is killed`)
	victim, alive, chosen := "", 0, []int(nil)
	for i, s := range all {
		if found := killed.FindStringSubmatch(strings.Join(s.said, "\n")); found != nil {
			victim = found[1]
		}
		if victim != "" && regexp.MustCompile(`(?m)^\S `+victim+` +\S+-(0\.[1-9]|[1-9])`).MatchString(s.picture) {
			alive = i
		}
		listed := victim == "" || regexp.MustCompile(`(?m)^\S `+victim+` `).MatchString(s.picture)
		switch {
		case len(chosen) == 0 && s.allHeld() && s.nodes() == 4:
			chosen = append(chosen, i)
		case len(chosen) == 1 && !listed:
			chosen = append(chosen, alive, i)
		case len(chosen) == 3 && s.allHeld():
			return merge(all, append(chosen, i))
		}
	}
	return nil
}

func (s scene) allHeld() bool {
	held := regexp.MustCompile(`(?m)^demo   (\d+) of 0-(\d+) held$`).FindStringSubmatch(s.picture)
	return held != nil && held[1] == "64" && held[2] == "63"
}

func (s scene) nodes() int {
	return len(regexp.MustCompile(`(?m)^\S w\d +\d`).FindAllString(s.picture, -1))
}

// merge leaves scenes out, but no message.
func merge(all []scene, chosen []int) []scene {
	var kept []scene
	next := 0
	for _, i := range chosen {
		s := scene{picture: all[i].picture}
		for ; next <= i; next++ {
			s.said = append(s.said, all[next].said...)
		}
		kept = append(kept, s)
	}
	return kept
}

package watch

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

const recording = "../../../../docs/watch.txt"

// The recorded pictures are as they would be drawn today. cmd/dynamolease makes the recording.
func TestRecording(t *testing.T) {
	text, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	frames := framesOf(string(text))
	if len(frames) < 3 {
		t.Fatalf("there are %d pictures", len(frames))
	}
	for _, frame := range frames {
		got := strings.TrimRight(drawn(read(t, frame), 80, 24, mono()), "\n")
		if want := strings.Join(frame, "\n"); timeless(got) != timeless(want) {
			t.Errorf("recorded:\n%s\nit would be drawn as:\n%s\nrecord it anew: go test ./cmd/dynamolease -run TestWatchRecording -args -update", want, got)
		}
	}
}

// framesOf are the pictures of a recording, by lines.
func framesOf(text string) (frames [][]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "service "):
			frames = append(frames, []string{line})
		case len(frames) > 0:
			frames[len(frames)-1] = append(frames[len(frames)-1], line)
		}
	}
	for i, frame := range frames {
		frames[i] = strings.Split(strings.TrimRight(strings.Join(frame, "\n"), "\n"), "\n")
	}
	return frames
}

// timeless is a picture without the bounds of the store's clock, which it shows rounded.
func timeless(picture string) string {
	return regexp.MustCompile(`(?m)^the store's clock .*$`).ReplaceAllStringFunc(picture, func(line string) string {
		return regexp.MustCompile(`\d`).ReplaceAllString(line, "0")
	})
}

// The lines of a picture, as far as they have something to read.
var (
	headLine  = regexp.MustCompile(`^service (\S+)   (\d\d:\d\d:\d\d)   ([\d.]+) read units$`)
	clockLine = regexp.MustCompile(`^the store's clock (\S+) - (\S+) UTC`)
	nodesLine = regexp.MustCompile(`^  node +left +(\S+)$`)
	nodeLine  = regexp.MustCompile(`^(\S) (\S+) +([\d.]+)-([\d.]+) s +(\d+)(  drained)?$`)
	groupLine = regexp.MustCompile(`^(\S+)   (\d+) of 0-(\d+) held(?:, \d+ unowned)?$`)
	gridLine  = regexp.MustCompile(`^ *(\d+)  ([0-9A-Za-z. ]+)$`)
	moveLine  = regexp.MustCompile(`^(\d\d:\d\d:\d\d)  (\S+)/(\d+)  (\S+) -> (\S+)  epoch (\d+)$`)
)

// read is the snapshot that a picture of one group shows.
func read(t *testing.T, frame []string) *snapshot {
	t.Helper()
	s := &snapshot{}
	for _, line := range frame {
		switch {
		case line == "" || nodesLine.MatchString(line):
		case headLine.MatchString(line):
			found := headLine.FindStringSubmatch(line)
			s.Service, s.At, s.Units = found[1], clock(t, found[2]), number(t, found[3])
		case clockLine.MatchString(line):
			found := clockLine.FindStringSubmatch(line)
			s.Clock = &bounds{clock(t, found[1]), clock(t, found[2])}
		case moveLine.MatchString(line):
			found := moveLine.FindStringSubmatch(line)
			s.news = slices.Insert(s.news, 0, move{
				clock(t, found[1]), found[2], int(number(t, found[3])), someone(found[4]), someone(found[5]), int64(number(t, found[6])),
			})
		case nodeLine.MatchString(line):
			found := nodeLine.FindStringSubmatch(line)
			s.Members = append(s.Members, member{
				Node: found[2], Here: true, Drained: found[6] != "", number: strings.Index(marks, found[1]), Shares: []int{int(number(t, found[5]))},
				Left: &operate.Left{AtLeast: seconds(t, found[3]), AtMost: seconds(t, found[4])},
			})
		case groupLine.MatchString(line):
			found := groupLine.FindStringSubmatch(line)
			s.Groups = append(s.Groups, group{Name: found[1], Held: int(number(t, found[2])), size: int(number(t, found[3])) + 1, nodes: make(map[int]int)})
		case gridLine.MatchString(line) && len(s.Groups) > 0:
			found := gridLine.FindStringSubmatch(line)
			s.readGrid(int(number(t, found[1])), strings.ReplaceAll(found[2], " ", ""))
		default:
			t.Errorf("what is %q in:\n%s", line, strings.Join(frame, "\n"))
		}
	}
	for i, g := range s.Groups {
		s.Groups[i].Unowned = g.gaps()
	}
	return s
}

// gaps lists the partitions that nobody holds.
func (g group) gaps() (list []unowned) {
	for partition := range g.size {
		if _, held := g.nodes[partition]; !held {
			list = append(list, unowned{Partition: partition})
		}
	}
	return list
}

func (s *snapshot) readGrid(first int, cells string) {
	for i, mark := range strings.Split(cells, "") {
		for index, m := range s.Members {
			if nodeMark(m.number) == mark {
				s.Groups[0].nodes[first+i] = index
			}
		}
	}
}

func clock(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse("15:04:05", text) // it takes fractions too
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	return time.Duration(number(t, text) * float64(time.Second)).Round(time.Millisecond)
}

func someone(name string) string {
	if name == "nobody" {
		return ""
	}
	return name
}

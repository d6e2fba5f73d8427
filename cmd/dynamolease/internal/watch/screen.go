package watch

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// A screen is a view that fills the terminal.
type screen struct {
	program *tea.Program
	ended   chan struct{}
	err     error // readable after ended
}

// newScreen takes over the terminal. It calls quit when the user ends the view, or when the
// terminal fails.
func newScreen(cfg Config, quit func()) *screen {
	options := append([]tea.ProgramOption{
		tea.WithInput(cfg.In), tea.WithOutput(cfg.Out), tea.WithoutSignalHandler(),
	}, cfg.options...)
	m := model{theme: mono()}
	if cfg.Style == Color {
		m.theme = colored()
	}
	v := &screen{program: tea.NewProgram(m, options...), ended: make(chan struct{})}
	go func() {
		defer close(v.ended)
		defer quit()
		if _, err := v.program.Run(); err != nil {
			v.err = fmt.Errorf("draw on the terminal: %w", err)
		}
	}()
	return v
}

func (v *screen) show(s *snapshot) error {
	v.program.Send(s)
	return nil
}

// close leaves the terminal as it was.
func (v *screen) close() error {
	v.program.Quit()
	<-v.ended
	return v.err
}

// A model is the content of the screen.
type model struct {
	snapshot      *snapshot
	width, height int
	theme         theme
}

// Init starts nothing: snapshots come from outside.
func (m model) Init() tea.Cmd { return nil }

// Update follows the terminal's size, the snapshots and the keys.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case *snapshot:
		m.snapshot = msg
	case tea.KeyPressMsg:
		return m, onKey(msg.String())
	}
	return m, nil
}

func onKey(key string) tea.Cmd {
	switch key {
	case "q", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	default:
		return nil
	}
}

// View draws the latest snapshot.
func (m model) View() tea.View {
	var v tea.View
	if m.snapshot != nil {
		v.SetContent(draw(m.snapshot, m.width, m.height, m.theme))
	}
	v.AltScreen = true
	return v
}

package demo

import "fmt"

// A chunk is a run of files of a partition, counted in one go: From up to To, without To, in the
// partition's order. The result of a partition lists its chunks, each with the worker that added it
// and the epoch.
type chunk struct {
	From, To int
	Words    int
	Owner    string
	Epoch    int64
}

// String returns the chunk as the result lists it.
func (c chunk) String() string {
	return fmt.Sprintf("%d-%d %d words %s %d", c.From, c.To, c.Words, c.Owner, c.Epoch)
}

func parseChunk(text string) (c chunk, err error) {
	if _, err := fmt.Sscanf(text, "%d-%d %d words %s %d", &c.From, &c.To, &c.Words, &c.Owner, &c.Epoch); err != nil {
		return chunk{}, fmt.Errorf("decode chunk %q: %w", text, err)
	}
	return c, nil
}

//go:build linux

package chaos

import (
	"context"
	"fmt"
	"time"
)

// progress waits until each partition has more items than at the time of the call.
func (d *driver) progress(ctx context.Context) error {
	before := make([]int, partitions)
	for p := range partitions {
		n, err := d.database.written(ctx, p)
		if err != nil {
			return err
		}
		before[p] = n
	}
	for p := range partitions {
		for {
			n, err := d.database.written(ctx, p)
			if err != nil {
				return fmt.Errorf("no worker writes items of partition %d: %w", p, err)
			}
			if n > before[p] {
				break
			}
			rest(ctx, 50*time.Millisecond)
		}
	}
	return nil
}

// dismiss asks all processes to end, and waits for them.
func (d *driver) dismiss(ctx context.Context) error {
	for _, p := range d.nodes {
		_ = p.stdin.Close() // the process ends when its standard input does
	}
	for _, p := range d.nodes {
		select {
		case <-p.gone:
			if p.err != nil {
				return fmt.Errorf("%s: %w\n%s", p.Process, p.err, &p.stderr)
			}
		case <-ctx.Done():
			return fmt.Errorf("%s does not end: %w", p.Process, ctx.Err())
		}
	}
	return nil
}

// evidence collects the records and the rows.
func (d *driver) evidence(ctx context.Context) (evidence, error) {
	e := evidence{died: make(map[string]instant), rows: make(map[int][]row)}
	for _, p := range d.all {
		events, err := readRecord(p.Record)
		if err != nil {
			return e, err
		}
		e.events = append(e.events, events...)
		if p.died != 0 {
			e.died[p.Process] = p.died
		}
	}
	for p := range partitions {
		rows, err := d.database.rows(ctx, p)
		if err != nil {
			return e, err
		}
		e.rows[p] = rows
	}
	return e, nil
}

// close ends everything, however the run went.
func (d *driver) close() {
	for _, p := range d.all {
		p.kill()
	}
	for _, p := range d.proxies {
		p.close()
	}
}

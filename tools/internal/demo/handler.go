package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
)

// A handler counts so many files between two checkpoints. It draws the number each time, so that
// handlers that begin together do not write at the same moments for ever.
const (
	minFiles = 1
	maxFiles = 5
)

// A checkpoint says how far a partition is counted. It moves with the result, in the same
// transaction.
type checkpoint struct {
	Next     int  `json:"next"` // the first file without its count, in the partition's order
	Complete bool `json:"complete"`
}

// readCheckpoint decodes the checkpoint of the last holder, if there was one.
func readCheckpoint(data []byte) (checkpoint, error) {
	var at checkpoint
	if data == nil {
		return at, nil
	}
	if err := json.Unmarshal(data, &at); err != nil {
		return at, fmt.Errorf("decode checkpoint %q: %w", data, err)
	}
	return at, nil
}

// handle counts one partition from its checkpoint on. An error while the worker holds the partition
// ends the worker, and so the demo. Losing the partition is no error: its next owner goes on from
// the checkpoint.
func (w *worker) handle(ctx context.Context, lease coordinator.Assignment) error {
	err := w.count(ctx, lease)
	if err != nil && ctx.Err() == nil && lease.Remaining() > 0 {
		w.fail(fmt.Errorf("%w: partition %d: %w", errHandler, lease.Partition, err))
	}
	return err
}

func (w *worker) count(ctx context.Context, lease coordinator.Assignment) (err error) {
	at, err := readCheckpoint(lease.Checkpoint)
	if err != nil || at.Complete {
		return err
	}
	claim, err := w.claimed(lease, at.Next)
	if err != nil {
		return err
	}
	// Record this before the coordinator learns that the handler has returned, and gives the
	// partition away.
	defer func() { err = errors.Join(err, claim.note(returned, chunk{})) }()
	for !at.Complete {
		part, err := w.read(ctx, claim, at.Next)
		if err != nil {
			return err
		}
		at = checkpoint{Next: part.To, Complete: part.To == len(w.parts[lease.Partition])}
		if err := w.add(ctx, lease, claim, part, at); err != nil {
			return err
		}
	}
	return nil
}

// read counts the words of the next files. It finishes each file that it begins, also when ctx ends
// meanwhile.
func (w *worker) read(ctx context.Context, claim *claim, from int) (chunk, error) {
	files := w.parts[claim.partition]
	to := min(from+minFiles+rand.N(maxFiles-minFiles+1), len(files))
	part := chunk{From: from, To: to, Owner: w.name, Epoch: claim.epoch}
	for _, name := range files[part.From:part.To] {
		if ctx.Err() != nil {
			return chunk{}, context.Cause(ctx)
		}
		if err := claim.renewed(); err != nil {
			return chunk{}, err
		}
		due := time.Now().Add(w.pace)
		text, err := fs.ReadFile(w.input, name)
		if err != nil {
			return chunk{}, fmt.Errorf("read a file: %w", err)
		}
		part.Words += countWords(text)
		time.Sleep(time.Until(due)) // leaves time to watch
	}
	return part, nil
}

// add adds a chunk to the result, and moves the checkpoint behind it. This is not cut short when ctx ends: if the
// partition is to be handed over, it is still ours until the handler returns. If it was lost, for example while this
// process was stopped a moment ago, the store turns the transaction away.
func (w *worker) add(ctx context.Context, lease coordinator.Assignment, claim *claim, part chunk, at checkpoint) error {
	data, err := json.Marshal(at)
	if err != nil {
		return fmt.Errorf("encode a checkpoint: %w", err)
	}
	if err := claim.note(adding, part); err != nil {
		return err
	}
	err = w.store.Transact(context.WithoutCancel(ctx), lease.Lease, data, w.results.add(lease.Partition, part, at.Complete))
	return errors.Join(err, claim.note(outcomeOf(err), part))
}

func outcomeOf(err error) kind {
	var fenced *dynamolease.FencedError
	switch {
	case err == nil:
		return added
	case errors.As(err, &fenced) && !errors.Is(err, dynamolease.ErrUnknownOutcome):
		return refused
	default:
		return unknown
	}
}

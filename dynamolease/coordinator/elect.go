package coordinator

import (
	"context"
	"errors"
	"sync"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Elect takes part in the election of one leader among the nodes that call it with one name, and
// calls lead on the node that is elected. The context of lead ends when the node does not lead any
// more; [context.Cause] tells why. The election is a group of one partition: cfg is as for [Run],
// and its Groups must be empty. The name is unique in the table, across services. Elect is a node
// of its own: beside a Run of one Service it needs another Node, for example the host's name and
// "-leader". With one name for both, the older one ends with [ErrReplaced].
//
// When lead returns while this node leads, Elect resigns and returns lead's error. When the node
// loses leadership, Elect waits for lead to return and takes part again. It returns nil when ctx
// has ended, and otherwise an error as [Run] does.
func Elect(ctx context.Context, store *dynamolease.Store, cfg Config, name string, lead Handler) error {
	if len(cfg.Groups) > 0 {
		return refuse("Config.Groups", "must be empty: Elect makes its own group")
	}
	if name == "" {
		return refuse("name", "must not be empty")
	}
	if lead == nil {
		return refuse("lead", "must not be nil")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var once sync.Once
	var result error
	cfg.Groups = []Group{{Name: name, Partitions: 1, Handler: func(ctx context.Context, a Assignment) error {
		err := lead(ctx, a)
		if ctx.Err() == nil { // it resigns
			once.Do(func() { result = err })
			stop()
		}
		return nil
	}}}
	err := Run(ctx, store, cfg)
	return errors.Join(result, err)
}

// Package dynamoleaseotel reports the work of a process with dynamolease to OpenTelemetry: its
// requests, the capacity that they consume, the store's clock, and its part in a service.
//
//	metrics, err := dynamoleaseotel.New(provider)
//	...
//	defer metrics.Close()
//	store, err := dynamolease.New(client, "leases", metrics.StoreOptions)
//	...
//	metrics.ObserveStore(store)
//
//	cfg.Hooks = metrics.Hooks(cfg)
//	c, err := coordinator.New(store, cfg)
//	...
//	metrics.ObserveCoordinator(cfg.Service, c)
//	err = c.Run(ctx)
//
// Each call works without the others: if you leave one out, only its figures are missing. A process
// that uses several tables makes a [Metrics] for each, with an attribute that tells them apart. The
// owner of the provider sets up its readers and exporters.
//
// # Instruments
//
// Names, units and attributes are stable. Attributes begin with "dynamolease.", as in
// "dynamolease.operation". None of them names a partition, an epoch or a node. So the number of
// series does not grow with the fleet's work.
//
//	name                           kind       unit         attributes
//	dynamolease.requests           counter    {request}    operation, outcome
//	dynamolease.request.duration   histogram  s            operation, outcome
//	dynamolease.capacity.read      counter    {unit}       operation
//	dynamolease.capacity.write     counter    {unit}       operation
//	dynamolease.clock.width        gauge      s
//	dynamolease.rounds             counter    {round}      service
//	dynamolease.round.duration     histogram  s            service
//	dynamolease.renewal.duration   histogram  s            service, success
//	dynamolease.leases.gained      counter    {lease}      service, group
//	dynamolease.leases.lost        counter    {lease}      service, group, cause
//	dynamolease.handler.failures   counter    {failure}    service, group
//	dynamolease.handler.stuck      counter    {handler}    service, group
//	dynamolease.leases.held        gauge      {lease}      service, group
//	dynamolease.leases.share       gauge      {lease}      service, group
//	dynamolease.leases.free        gauge      {lease}      service, group
//	dynamolease.partitions.idle    gauge      {partition}  service, group, reason
//	dynamolease.members            gauge      {member}     service
//	dynamolease.session.remaining  gauge      s            service
//	dynamolease.healthy            gauge      {node}       service
//	dynamolease.calls.dropped      counter    {call}       service
//
// Operation is an operation of DynamoDB, such as UpdateItem. Outcome is a
// [dynamolease.RequestOutcome]. Capacity is the capacity that requests consumed, as DynamoDB
// reports it: it excludes refused requests and those without an answer. Success is true if the
// heartbeat succeeded. Cause is revoked, shutdown or lost. Reason is a [coordinator.Reason]; of one that
// all nodes know of (unowned, excluded, malformed), the figures of the nodes are not to be added up.
//
// The counters of requests and leases exist with 0 before they first count, so that a rate sees
// even the first of a rare event. The process reads gauges when the figures are collected. It
// omits a gauge whose value is unknown at that time: the clock's width before the first answer;
// the session's remaining time before the first session; shares, free partitions, those that are idle
// for a reason in the table, and members while there is no session.
package dynamoleaseotel

// Package dynamoleaseotel tells OpenTelemetry what a process does with dynamolease: its requests, the capacity that they
// consume, the store's clock, and its part in a service.
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
// Each call stands for itself: what is left out is not measured. A process that uses several tables makes a [Metrics] for
// each, with an attribute that tells them apart. The readers and exporters of the provider are its owner's.
//
// # Instruments
//
// Names, units and attributes are steady. Attributes begin with "dynamolease.", as in "dynamolease.operation". None of them
// names a partition, an epoch or a node, so that the number of series does not grow with the fleet's work.
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
//	dynamolease.leases.held        gauge      {lease}      service, group
//	dynamolease.leases.share       gauge      {lease}      service, group
//	dynamolease.leases.free        gauge      {lease}      service, group
//	dynamolease.members            gauge      {member}     service
//	dynamolease.session.remaining  gauge      s            service
//	dynamolease.healthy            gauge      {node}       service
//
// Operation is DynamoDB's, such as UpdateItem. Outcome is a [dynamolease.RequestOutcome]. Capacity is what the store says
// that requests have consumed, which leaves out refused ones and those without an answer. Success is that of a heartbeat. Cause
// is revoked, shutdown or lost.
//
// The counters of requests and leases are there with 0 before they first count, so that a rate sees the first of what is rare.
// Gauges are read when the figures are collected, and leave out what is not known then: the clock's width before the
// first answer, what remains of a session before the first, and shares, free partitions and members while there is none.
package dynamoleaseotel

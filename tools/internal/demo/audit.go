package demo

// An entry is one chunk in the result of a partition.
type entry struct {
	partition int
	chunk     chunk // without its words
}

// audit compares the results with the input and with what the workers recorded.
func (v *Verdict) audit(f facts) {
	inResults := make(map[entry]bool)
	for partition, want := range f.expected {
		res := f.results[partition]
		v.Expected += want.words
		v.Words += res.tally.words
		v.Duplicates += miscounted(res, want.files)
		if res.complete {
			v.Partitions++
		}
		if res.tally != want {
			v.problem("partition %d: the result is %+v and must be %+v", partition, res.tally, want)
		}
		v.order(partition, res.chunks)
		for _, c := range res.chunks {
			inResults[entryOf(partition, c)] = true
		}
	}
	v.answers(f.events, inResults)
}

// miscounted counts the files that went into a result more than once or not at all, by the chunks
// that the result lists and by its own number of files.
func miscounted(res result, files int) int {
	times := make([]int, files)
	off, listed := 0, 0
	for _, c := range res.chunks {
		listed += c.To - c.From
		for i := c.From; i < c.To; i++ {
			if i < 0 || i >= files {
				off++ // no such file
				continue
			}
			times[i]++
		}
	}
	for _, n := range times {
		off += distance(n, 1)
	}
	return off + distance(res.tally.files, listed)
}

func distance(a, b int) int { return max(a-b, b-a) }

// order checks that nobody added to a partition after its next owner had added to it.
func (v *Verdict) order(partition int, chunks []chunk) {
	for i := 1; i < len(chunks); i++ {
		if before := chunks[i-1]; chunks[i].Epoch < before.Epoch {
			v.problem("partition %d: %s added to it under epoch %d after %s had under epoch %d",
				partition, chunks[i].Owner, chunks[i].Epoch, before.Owner, before.Epoch)
		}
	}
}

// answers compares the store's answers with its rows. A chunk that the store accepted is in the
// results, and one that it refused is not; and a worker asked for each chunk that is there. If a
// worker never learned the outcome, the results tell it.
func (v *Verdict) answers(events []event, inResults map[entry]bool) {
	asked := make(map[entry]bool)
	for _, e := range events {
		what := entryOf(e.Partition, chunk{From: e.From, To: e.To, Owner: e.Owner, Epoch: e.Epoch})
		switch e.Kind {
		case adding:
			asked[what] = true
		case added:
			if !inResults[what] {
				v.problem("partition %d: %v is not in the result although the store said so", e.Partition, what.chunk)
			}
		case refused:
			v.Refused++
			if inResults[what] {
				v.problem("partition %d: %v is in the result although it was turned away", e.Partition, what.chunk)
			}
		case unknown:
			if !inResults[what] {
				v.Refused++
			}
		}
	}
	for what := range inResults {
		if !asked[what] {
			v.problem("partition %d: %v is in the result although nobody asked for that", what.partition, what.chunk)
		}
	}
}

func entryOf(partition int, c chunk) entry {
	c.Words = 0
	return entry{partition, c}
}

package history

import (
	"fmt"
	"strings"
)

// leavers lists the holders that released a lease of the partition and did not see the answer, each
// with the expiry of the lease. If such a holder releases again, the answer reports the earlier
// release, even if another owner has acquired the partition since.
type leavers string

func (l leavers) find(owner, session string) (exp int64, before, after leavers, found bool) {
	mark := fmt.Sprintf("[%q %q ", owner, session)
	begin := strings.Index(string(l), mark)
	if begin < 0 {
		return 0, l, "", false
	}
	end := begin + strings.Index(string(l[begin:]), "]") + 1
	if _, err := fmt.Sscanf(string(l[begin+len(mark):end-1]), "%d", &exp); err != nil {
		panic(err)
	}
	return exp, l[:begin], l[end:], true
}

func (l leavers) with(owner, session string, exp int64) leavers {
	return l.without(owner, session) + leavers(fmt.Sprintf("[%q %q %d]", owner, session, exp))
}

func (l leavers) without(owner, session string) leavers {
	_, before, after, _ := l.find(owner, session)
	return before + after
}

// toldLate is the step of a release that an earlier call of the holder has already done; the answer
// of that call was lost. The answer reports it as long as the lease would not have expired by
// itself.
func (m machine) toldLate(s leaseState, in leaseInput) (leaseState, bool) {
	exp, before, after, found := s.leavers.find(in.owner, in.session)
	s.leavers = before + after
	lease := leaseState{owner: in.owner, session: in.session, exp: exp}
	return s, found && m.mayLive(lease, in)
}

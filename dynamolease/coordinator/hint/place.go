package hint

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// Path is where a node takes hints, unless [Sender].URL says otherwise.
const Path = "/dynamolease/look"

// atAddress returns where a member takes hints whose Address is a host and a port that speak HTTP.
func atAddress(m dynamolease.Member) string { return at(m.Address) }

// OnPort returns a function for [Sender].URL. It finds a member's hints at a port of their own on the
// host of its Address, for services whose Address is not one of HTTP. The Address may have a port or
// none.
func OnPort(port int) func(dynamolease.Member) string {
	return func(m dynamolease.Member) string {
		host, _, err := net.SplitHostPort(m.Address)
		if err != nil {
			host = strings.Trim(m.Address, "[]")
		}
		return at(net.JoinHostPort(host, strconv.Itoa(port)))
	}
}

func at(hostPort string) string {
	return (&url.URL{Scheme: "http", Host: hostPort, Path: Path}).String()
}

package bench

import "time"

// Prices of DynamoDB on demand in us-east-1, in dollars, as they have been since 2024-11-01. They are what public sources
// say of AWS's price list; other Regions cost more.
const (
	dollarsPerWriteUnit = 0.625 / 1e6
	dollarsPerReadUnit  = 0.125 / 1e6
)

// month is how long AWS counts one.
const month = 730 * time.Hour

// dollars is what so many units in each second cost in a month.
func dollars(readRate, writeRate float64) float64 {
	return month.Seconds() * (readRate*dollarsPerReadUnit + writeRate*dollarsPerWriteUnit)
}

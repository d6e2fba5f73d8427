package bench

import "time"

// Prices of DynamoDB on demand in us-east-1, in dollars, since 2024-11-01, as public sources report
// AWS's price list. Other Regions cost more.
const (
	dollarsPerWriteUnit = 0.625 / 1e6
	dollarsPerReadUnit  = 0.125 / 1e6
)

// month is the length of a month in AWS's calculations.
const month = 730 * time.Hour

// dollars returns the monthly cost of so many units a second.
func dollars(readRate, writeRate float64) float64 {
	return month.Seconds() * (readRate*dollarsPerReadUnit + writeRate*dollarsPerWriteUnit)
}

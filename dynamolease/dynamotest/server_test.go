package dynamotest_test

const dieEnv = "DYNAMOTEST_DIE"

func startAndDie() {}

// Package acceptance holds tests only: the program as the processes that a shop
// runs. They start it, call it, kill it, cut its power, fill or break its disk,
// look at it in a browser, and then compare what it acknowledged with what is
// there. The test binary is the program when AS_BAOCO is set.
//
// Every test has a directory and a port of its own, so they run beside one
// another. By default they do a few rounds of what they repeat, and have fences look and
// Litestream copy sooner than in a shop; with BAOCO_FULL=1 they do all rounds, at a
// shop's pace.
package acceptance

import Foundation

/// Waits until this process does nothing, and what was written is on disk: what one peer goes on with in the background, or
/// has left to the system to write, is not to be timed in another's turn. No longer than `limit` seconds, and a sync.
package func waitForRest(limit: Double) {
  sync()
  let end = Stopwatch.seconds(CLOCK_MONOTONIC) + limit
  var quietLooks = 0
  while quietLooks < 3, Stopwatch.seconds(CLOCK_MONOTONIC) < end {
    let (began, used) = (Stopwatch.seconds(CLOCK_MONOTONIC), Stopwatch.seconds(CLOCK_PROCESS_CPUTIME_ID))
    usleep(5_000)
    let share =
      (Stopwatch.seconds(CLOCK_PROCESS_CPUTIME_ID) - used) / (Stopwatch.seconds(CLOCK_MONOTONIC) - began)
    quietLooks = share < 0.1 ? quietLooks + 1 : 0
  }
}

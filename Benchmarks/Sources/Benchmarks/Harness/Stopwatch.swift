/// Measures how long `body` takes.
/// - Returns: Seconds, and what `body` returned.
func timed<Result>(_ body: () throws -> Result) rethrows -> (seconds: Double, result: Result) {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try body()
  return (seconds(start.duration(to: clock.now)), result)
}

/// Runs `body` again and again until `least` seconds have passed, so that a fast peer's few operations still
/// take time that can be measured. Only for work that changes nothing.
/// - Returns: Seconds of one run, and what the first run returned.
func timedRepeatedly<Result>(
  least: Double, _ body: () throws -> Result
) rethrows -> (seconds: Double, result: Result) {
  var (total, first) = try timed(body)
  var runs = 1
  while total < least {
    total += try timed(body).seconds
    runs += 1
  }
  return (total / Double(runs), first)
}

private func seconds(_ duration: Duration) -> Double {
  let (seconds, attoseconds) = duration.components
  return Double(seconds) + Double(attoseconds) * 1e-18
}

import Foundation

/// Measures how long `body` takes.
/// - Returns: Seconds, and what `body` returned.
@inlinable
public func timed<Result>(_ body: () throws -> Result) rethrows -> (seconds: Double, result: Result) {
  let start = Stopwatch.seconds()
  let result = try body()
  return (Stopwatch.seconds() - start, result)
}

/// Runs `body` again and again until `least` seconds have passed, so that a fast peer's few operations still
/// take time that can be measured. Only for work that changes nothing.
/// - Returns: Seconds of one run, and what the first run returned.
@inlinable
public func timedRepeatedly<Result>(
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

/// The clock of all measurements.
public enum Stopwatch {
  /// Whether the processor's time is counted instead of the clock's: for a machine that has other work to do.
  /// Waiting for the disk is then left out.
  public static let countsProcessorTime = CommandLine.arguments.contains("--cpu")

  /// Seconds since some moment: of the clock, or of the processor with `--cpu`.
  public static func seconds() -> Double {
    seconds(countsProcessorTime ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC)
  }

  /// Seconds since some moment, by a clock of the system.
  public static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }
}

/// The result of an exploration of crashes.
public struct CrashReport: Sendable, CustomStringConvertible {
  /// The number of calls of the workload that changed something or made it durable. Crashes were explored
  /// before each of them and after the last.
  public internal(set) var calls = 0
  /// The number of such calls during recoveries.
  public internal(set) var recoveryCalls = 0
  /// The number of images that the crashes could leave.
  public internal(set) var images = 0
  /// The number of images that differed from all earlier ones in their names and bytes or in the
  /// acknowledgements. Only these are verified.
  public internal(set) var distinctImages = 0
  /// The duration in seconds.
  public internal(set) var seconds = 0.0
  /// The failure, reduced as far as possible; nil if every image passed.
  public internal(set) var failure: CrashFailure?

  /// Checks that every image passed.
  ///
  /// - Throws: The failure.
  public func check() throws(CrashFailure) {
    if let failure { throw failure }
  }

  /// The figures on one line, and the failure.
  public var description: String {
    let tenths = (seconds * 10).rounded() / 10
    let recoveries = recoveryCalls > 0 ? ", \(recoveryCalls) calls of recoveries" : ""
    let figures = "\(calls) calls\(recoveries), \(images) images, \(distinctImages) of them distinct"
    return "\(figures), \(tenths) s" + (failure.map { "\n\($0)" } ?? "")
  }
}

/// A crash image that failed the verification.
public struct CrashFailure: Error, Sendable, CustomStringConvertible {
  /// A description of the call just before which the workload crashed, and of the calls of the recoveries.
  public let moment: String
  /// The disk that failed. Its description lists what survived. It can be mounted, or exported to a real
  /// directory for inspection.
  public let image: CrashImage
  /// The error of the verification.
  public let message: String
  /// The line that reproduces the failure with `CrashExplorer.replay`.
  public let reproduction: CrashReproduction

  /// The failure and the line that reproduces it.
  public var description: String {
    "crash before \(moment), \(image): \(message)\nreproduce with: \(reproduction)"
  }
}

/// What an exploration of crashes did and found.
public struct CrashReport: Sendable, CustomStringConvertible {
  /// How many calls of the workload changed something or made it durable: before each of them, and after
  /// the last, crashes were looked at.
  public internal(set) var calls = 0
  /// How many calls of recoveries did.
  public internal(set) var recoveryCalls = 0
  /// How many images the crashes could leave.
  public internal(set) var images = 0
  /// How many of them differed, in their names and bytes or in what had been acknowledged, from all before
  /// them: only those are verified.
  public internal(set) var distinctImages = 0
  /// How long it took, in seconds.
  public internal(set) var seconds = 0.0
  /// The failure, made as small as it could be; nil where every image passed.
  public internal(set) var failure: CrashFailure?

  /// Makes sure that every image passed.
  ///
  /// - Throws: the failure.
  public func check() throws(CrashFailure) {
    if let failure { throw failure }
  }

  /// The figures in one line, and the failure.
  public var description: String {
    let tenths = (seconds * 10).rounded() / 10
    let recoveries = recoveryCalls > 0 ? ", \(recoveryCalls) calls of recoveries" : ""
    let figures = "\(calls) calls\(recoveries), \(images) images, \(distinctImages) of them distinct"
    return "\(figures), \(tenths) s" + (failure.map { "\n\($0)" } ?? "")
  }
}

/// An image of a crash that did not pass.
public struct CrashFailure: Error, Sendable, CustomStringConvertible {
  /// The call of the workload just before which the crash came, and those of the recoveries; in words.
  public let moment: String
  /// The disk that did not pass: printed, it says what survived; it can be mounted, and exported to a real
  /// directory to be looked at.
  public let image: CrashImage
  /// What the verification threw.
  public let message: String
  /// The line that makes `CrashExplorer.replay` do this again.
  public let reproduction: CrashReproduction

  /// What failed, and the line that reproduces it.
  public var description: String {
    "crash before \(moment), \(image): \(message)\nreproduce with: \(reproduction)"
  }
}

/// The result of verifying a store.
public struct VerificationReport: Sendable {
  /// One sentence for each problem found; the first ten thousand.
  public internal(set) var findings: [String] = []
  /// The number of findings beyond those in `findings`.
  public internal(set) var furtherFindings = 0
  /// The generation that was verified.
  public internal(set) var generation = Generation(rawValue: 0)
  /// The number of its keys.
  public internal(set) var keys: UInt64 = 0
  /// The number of the log's frames that were read.
  public internal(set) var frames = 0
  /// The number of records in them.
  public internal(set) var records = 0
  /// The number of pages on disk that were read.
  public internal(set) var pages = 0

  private static let findingLimit = 10_000

  /// Whether nothing was found.
  public var isSound: Bool { findings.isEmpty }

  mutating func add(_ finding: String) {
    if findings.count < Self.findingLimit { findings.append(finding) } else { furtherFindings += 1 }
  }
}

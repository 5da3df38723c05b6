/// What reading all of a store has found.
public struct VerificationReport: Sendable {
  /// One sentence for each thing that is not as it should be; the first ten thousand.
  public internal(set) var findings: [String] = []
  /// How many there are besides those.
  public internal(set) var furtherFindings = 0
  /// The generation that was read.
  public internal(set) var generation = Generation(rawValue: 0)
  /// How many keys it has.
  public internal(set) var keys: UInt64 = 0
  /// How many frames of the log were read.
  public internal(set) var frames = 0
  /// How many records they hold.
  public internal(set) var records = 0
  /// How many pages on disk were read.
  public internal(set) var pages = 0

  private static let findingLimit = 10_000

  /// True where nothing was found.
  public var isSound: Bool { findings.isEmpty }

  mutating func add(_ finding: String) {
    if findings.count < Self.findingLimit { findings.append(finding) } else { furtherFindings += 1 }
  }
}

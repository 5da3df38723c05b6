/// The result of verifying a store.
public struct StoreReport: Sendable {
  /// One sentence for each problem, those of the engine first.
  public let findings: [String]

  init(findings: [String]) { self.findings = findings }

  /// Whether there are no findings.
  public var isSound: Bool { findings.isEmpty }
}

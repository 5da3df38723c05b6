/// What verifying a store found.
public struct StoreReport: Sendable {
  /// A sentence for each thing that is not as it should be, those of the engine first.
  public let findings: [String]

  init(findings: [String]) { self.findings = findings }

  /// Whether nothing was found.
  public var isSound: Bool { findings.isEmpty }
}

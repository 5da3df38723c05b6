/// An engine that is measured: its name in the table, and its type.
public struct EnginePeerKind: Sendable {
  /// The name in the table, in errors and after `--peers`.
  public let name: String
  /// The type whose objects are its stores.
  public let type: any EnginePeer.Type

  /// An engine to measure.
  public init(name: String, type: any EnginePeer.Type) {
    self.name = name
    self.type = type
  }

  /// Heartwood's engine.
  public static var heartwood: EnginePeerKind { EnginePeerKind(name: "Heartwood", type: HeartwoodPeer.self) }
}

/// A generation that a store keeps by name: it can be opened until the hold is released or over, by any process.
public struct GenerationHold: Hashable, Sendable {
  /// The name, which is unique in the store.
  public let name: String
  /// The generation.
  public let generation: Generation
  /// When the hold was taken, by the clock of the machine that took it, in nanoseconds since 1970.
  public let created: Int64
  /// When it is over, in nanoseconds since 1970; nil if only its release ends it. The generation goes with the next reclamation after that.
  public let end: Int64?

  init(_ record: HoldRecord) {
    name = record.name
    generation = Generation(rawValue: record.needs.generation)
    created = record.created
    end = record.end == .max ? nil : record.end
  }
}

import Heartwood

/// The option `--type`: the kind of a new store.
enum StoreTypeOption {
  private static let types: [(name: String, type: PersistentStore.StoreType)] = [
    ("log", .log), ("binary", .binary), ("json", .json), ("xml", .xml),
  ]

  static func option(_ summary: String) -> SubcommandSyntax.Option {
    SubcommandSyntax.Option(name: "type", value: types.map(\.name).joined(separator: "|"), summary: summary)
  }

  /// The kind that is given; nil if none is.
  static func type(_ arguments: ParsedArguments) throws(CommandFailure) -> PersistentStore.StoreType? {
    guard let name = arguments.value("type") else { return nil }
    guard let found = types.first(where: { $0.name == name }) else {
      throw .usage("--type is log, binary, json or xml, not \"\(name)\"")
    }
    return found.type
  }

  /// The name of a kind.
  static func name(_ type: PersistentStore.StoreType) -> String {
    types.first { $0.type == type }?.name ?? type.rawValue
  }
}

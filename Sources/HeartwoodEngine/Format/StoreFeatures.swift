/// The parts of a store that versions of format 1 cannot read. Bits of the field `incompatibleFeatures`.
struct StoreFeatures: OptionSet, Hashable, Sendable {
  let rawValue: UInt32

  /// Records whose values are compressed.
  static let compressedValues = StoreFeatures(rawValue: 1)
  /// All that this code knows.
  static let known: StoreFeatures = [.compressedValues]

  var areKnown: Bool { isSubset(of: .known) }

  /// The format of a store with these features. Versions that know no features compare it with theirs, and name it
  /// when they refuse the store.
  var format: UInt32 { isEmpty ? Format.version : Format.newestVersion }
}

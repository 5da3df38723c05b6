import BenchmarkHarness

/// A store of persons that is migrated. Each method is one row, on a store that is closed before and after.
protocol MigrationPeer: Sendable {
  /// The store in a directory.
  init(directory: String)

  /// Makes the store, and closes it.
  func make(_ people: People) throws

  /// A new attribute that may be empty.
  func addOptional() throws

  /// A new mandatory attribute with the same value for all persons; every row is written again.
  func addDefault() throws

  /// A new mandatory attribute that is computed from two others; every row is written again.
  func addComputed() throws

  /// The same, without an object of each person.
  func updateComputed() throws

  /// The same as a copy of the whole store: by a mapping, or a second table.
  func copyComputed() throws

  /// Copies the bytes of the store through the engine, to another store.
  func copyBytes() throws

  /// All persons, with the new attribute if there is one.
  func digest(_ row: MigrationRow) throws -> UInt64
}

/// The lines of the migration's table.
enum MigrationRow: String, CaseIterable {
  case optional = "a new optional attribute"
  case fallback = "a new mandatory attribute, one value, all rows written"
  case computed = "a new mandatory attribute, computed"
  case updated = "the same by a batch update"
  case copied = "the same to a new store or table"
  case bytes = "copy of the store's bytes"

  func run(_ peer: any MigrationPeer) throws {
    switch self {
    case .optional: try peer.addOptional()
    case .fallback: try peer.addDefault()
    case .computed: try peer.addComputed()
    case .updated: try peer.updateComputed()
    case .copied: try peer.copyComputed()
    case .bytes: try peer.copyBytes()
    }
  }
}

extension People.PersonData {
  /// Different for each of a million persons, which `email` alone is not.
  var address: String { "\(number).\(email)" }
}

/// A digest of persons in any order.
struct PersonsDigest {
  private(set) var value: UInt64 = 0

  mutating func add(_ number: Int64, _ name: String, _ added: Int64) {
    var digest = ReadDigest()
    digest.add(name)
    digest.add(UInt64(bitPattern: number))
    digest.add(UInt64(bitPattern: added))
    value &+= SplitMix64.mixed(digest.value)
  }
}

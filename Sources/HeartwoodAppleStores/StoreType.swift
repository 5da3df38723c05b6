import Heartwood

extension PersistentStore.StoreType {
  /// A SQLite file that Core Data or SwiftData wrote on Apple's systems, which is read only; see ``AppleSQLiteStore``.
  public static let appleSQLite = PersistentStore.StoreType(rawValue: "AppleSQLite")
}

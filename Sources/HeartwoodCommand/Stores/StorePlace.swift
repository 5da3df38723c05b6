import HeartwoodFiles

/// The files by which the store at a path is known. While the store is open no other file gets their numbers.
struct StorePlace: Equatable {
  let folder: DirectoryIdentity?
  let anchor: DirectoryIdentity?

  /// Nil if there is no folder.
  init?(_ path: String) {
    let resolved = CommandStore.resolved(path).joined(separator: "/")
    guard let directory = try? PosixFileSystem().openDirectory(resolved) else { return nil }
    folder = try? directory.identity()
    anchor = (try? directory.status(of: "anchor"))?.identity
  }
}

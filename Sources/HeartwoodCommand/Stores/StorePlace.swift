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

  /// Throws if the store of a command that follows it is at its path no more.
  ///
  /// - Parameter place: Where it was when the command began.
  static func check(_ path: String, isAt place: StorePlace?) throws(CommandFailure) {
    guard StorePlace(path) == place else {
      throw CommandFailure(
        .unavailable, "the store \(path) was moved, replaced or deleted: follow the one that is meant")
    }
  }
}

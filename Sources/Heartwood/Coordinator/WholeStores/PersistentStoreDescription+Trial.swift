import Foundation
import HeartwoodFiles

extension PersistentStoreDescription {
  /// Calls `body` with the description of a store that has what this one has, and whose changes are lost afterwards: they go to a layer in
  /// memory, or to a copy of a store of one file in a temporary folder.
  ///
  /// The store is only read, without locks: others may write to it meanwhile, and the trial does not have what they write.
  ///
  /// - Throws: `.persistentStoreOpen` if the files cannot be read; what `body` throws.
  package func withTrial<Result>(_ body: (PersistentStoreDescription) throws -> Result) throws -> Result {
    let trial = PersistentStoreDescription(copying: self)
    (trial.isReadOnly, trial.createsStore) = (false, false)
    trial.durability = .none
    trial.postsRemoteChangeNotifications = false
    trial.shouldAddStoreAsynchronously = false
    guard let url = place else { return try body(trial) }
    let doing = "the store at \(LogStore.path(of: url)) could not be opened"
    guard StoreFileFormat(rawValue: type.rawValue) != nil else {
      trial.fileSystem = try HeartwoodError.translating(doing, .persistentStoreOpen) {
        try LogStore.overlay(over: fileSystem, LogStore.path(of: url))
      }
      return try body(trial)
    }
    return try PrivateFolder.with(in: FileManager.default.temporaryDirectory) { folder in
      let copy = folder.appending(path: url.lastPathComponent)
      try HeartwoodError.translating(doing, .persistentStoreOpen) {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: url, to: copy)
      }
      trial.url = copy
      return try body(trial)
    }
  }
}

import Cutting
import Foundation

/// What became of one image.
enum Outcome {
  /// The store has all transactions up to this one, and all is sound.
  case sound(transactions: Int)
  /// It is sound, and acknowledged transactions are missing.
  case lost(transactions: Int, acknowledged: Int)
  /// The store is refused, or holds what it should not.
  case damaged(String)
  /// The file system itself could not be mounted, so the store was not looked at.
  case unmountable(String)
}

/// Mounts images, where the file system recovers itself, and checks the store on them.
struct ImageChecker {
  let format: DiskFormat
  let seed: UInt64
  let folder: URL
  /// Is given the store's folder as the file system has left it, before the store is opened.
  var look: (String) throws -> Void = { _ in }

  /// Changes the image, as mounting does.
  func check(_ image: ImageFile, acknowledged: Int) throws -> Outcome {
    let place = folder.appending(path: "mounted").path
    try? FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let mounting = try Tool.end(of: ["mount", "-o", "loop", "-t", format.rawValue, image.path, place])
    guard mounting.status == 0 else { return .unmountable(mounting.output) }
    defer { _ = try? Tool.end(of: ["umount", place]) }
    try look(place + "/store")
    return try outcome(of: place + "/store", acknowledged)
  }

  private func outcome(of path: String, _ acknowledged: Int) throws -> Outcome {
    let words = ["timeout", "120", CommandLine.arguments[0], "check", path, "\(seed)"]
    let result = try Tool.end(of: words)
    guard result.status == 0,
      let answer = try? JSONDecoder().decode(StoreCheck.Answer.self, from: Data(result.output.utf8))
    else { return .damaged("the checker ended with \(result.status): \(result.output)") }
    if let finding = answer.finding { return .damaged(finding) }
    guard answer.transactions >= acknowledged else {
      return .lost(transactions: answer.transactions, acknowledged: acknowledged)
    }
    return .sound(transactions: answer.transactions)
  }
}

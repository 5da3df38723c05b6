import Cutting
import Foundation

/// The result of the check of one image.
enum Outcome {
  /// The store is intact and has all transactions up to this one.
  case sound(transactions: Int)
  /// The store is intact, but acknowledged transactions are missing.
  case lost(transactions: Int, acknowledged: Int)
  /// The store is refused or has wrong contents.
  case damaged(String)
  /// The file system could not be mounted, so the store was not checked.
  case unmountable(String)
}

/// Mounts images, which makes the file system recover, and checks the store on them.
struct ImageChecker {
  let format: DiskFormat
  let seed: UInt64
  let folder: URL
  /// Called with the store's folder after the file system has recovered, before the store is opened.
  var look: (String) throws -> Void = { _ in }

  /// Checks an image. Mounting modifies it.
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

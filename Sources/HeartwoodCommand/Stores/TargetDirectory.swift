import Foundation

/// The directory that a command makes a copy of a store in.
enum TargetDirectory {
  /// Calls `body`, and removes what it has left in the directory if it throws, unless something was there before.
  static func filling<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    let files = FileManager.default
    let existed = files.fileExists(atPath: path)
    let former = try? files.contentsOfDirectory(atPath: path)
    do {
      return try body()
    } catch {
      if !existed {
        try? files.removeItem(atPath: path)
      } else if former?.isEmpty == true {
        for name in (try? files.contentsOfDirectory(atPath: path)) ?? [] {
          try? files.removeItem(atPath: "\(path)/\(name)")
        }
      }
      throw error
    }
  }
}

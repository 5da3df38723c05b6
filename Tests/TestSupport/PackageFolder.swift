import Foundation

/// The folder of the package, for tests that read its sources and documents.
package enum PackageFolder {
  package static let url = (0..<3).reduce(URL(filePath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }

  /// - Parameter path: Relative to the package.
  package static func text(of path: String) throws -> String {
    try String(contentsOf: url.appending(path: path), encoding: .utf8)
  }

  /// The Swift files in a folder and the folders in it, by their paths relative to it; without hidden folders.
  package static func sources(in folder: String) throws -> [String: String] {
    let root = url.appending(path: folder)
    let names = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter {
      $0.hasSuffix(".swift") && !$0.split(separator: "/").contains { $0.hasPrefix(".") }
    }
    return try Dictionary(
      uniqueKeysWithValues: names.map {
        ($0, try String(contentsOf: root.appending(path: $0), encoding: .utf8))
      })
  }
}

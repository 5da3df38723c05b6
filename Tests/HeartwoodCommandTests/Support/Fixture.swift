import Foundation

/// The folder of data that the project carries.
enum Fixture {
  static func path(_ name: String) -> String {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let root = tests.deletingLastPathComponent().deletingLastPathComponent()
    return root.appending(path: "Fixtures").appending(path: name).path
  }
}

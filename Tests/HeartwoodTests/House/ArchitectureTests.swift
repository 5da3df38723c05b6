import Foundation
import TestSupport
import Testing

/// The map of the sources, as ARCHITECTURE has it, beside the sources.
struct ArchitectureTests {
  private let chapters: [String]

  init() throws {
    chapters = try PackageFolder.text(of: "ARCHITECTURE.md").components(separatedBy: "\n## ")
  }

  /// The words between backquotes in the rows of a table, of all columns from one on.
  private func names(in chapter: String, after columns: Int) throws -> [String] {
    let text = try #require(chapters.first { $0.hasPrefix(chapter) })
    return text.split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap { row in
      row.split(separator: "|", omittingEmptySubsequences: false).dropFirst(columns + 1)
        .flatMap { $0.matches(of: #/`([^`]+)`/#).map { String($0.output.1) } }
    }
  }

  @Test func `what tells where to add something names files and folders that are there`() throws {
    let names = try names(in: "Where to add something", after: 1)
    #expect(names.count > 20)
    for name in names {
      let place = PackageFolder.url.appending(path: "Sources/\(name)").path
      let isThere = ["", ".swift"].contains { FileManager.default.fileExists(atPath: place + $0) }
      #expect(isThere, "\(name)")
    }
  }

  @Test func `the map names every module and every folder of one`() throws {
    let map = try Set(names(in: "Code map", after: 0))
    let text = try #require(chapters.first { $0.hasPrefix("Code map") })
    let sources = PackageFolder.url.appending(path: "Sources")
    let modules = try FileManager.default.contentsOfDirectory(atPath: sources.path).sorted()
    #expect(modules.count > 20)
    for module in modules where module != "Plugins" {
      #expect(text.contains(module), "\(module)")
      // A package of its own has its module in a folder of sources.
      let own = "Sources/\(module)/Sources/\(module)"
      let isPackage = FileManager.default.fileExists(atPath: PackageFolder.url.appending(path: own).path)
      for file in try PackageFolder.sources(in: isPackage ? own : "Sources/\(module)").keys {
        let folder = file.split(separator: "/").dropLast().joined(separator: "/")
        #expect(folder.isEmpty || map.contains(folder), "\(module)/\(folder)")
      }
    }
  }
}

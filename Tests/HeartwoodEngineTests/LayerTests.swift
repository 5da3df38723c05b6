import Foundation
import TestSupport
import Testing

/// The folders of the engine are layers: each uses types of itself and of the folders before it.
struct LayerTests {
  static let engine = LayerRules(
    root: "Sources/HeartwoodEngine",
    layers: [
      // Values without files.
      "Errors", "Memory", "Format", "Events", "Options",
      // Files, and the memory that readers share.
      "Lease", "Folder", "Tables",
      // The data structures.
      "Log", "Pages", "Generations", "Tree", "Reading",
      // From files to a tree, and what the locks of an open store guard.
      "Recovery", "Transactions", "PageSegments", "Store",
      // Operations on an open store.
      "Checkpoints", "Coordination", "History", "Reclamation", "Inspection", "Commits", "Opening", "Backup",
      // Its users.
      "Observation", "Handles", "", "Salvage", "Following",
    ])

  @Test func `the folders of the engine use only types of lower folders`() throws {
    let violations = try Self.engine.violations(in: Self.package)
    #expect(violations == [])
  }

  private static let package = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent().path

  @Test func `a use of a type of a higher folder is reported with file, type and folders`() throws {
    let violations = try Self.violations([
      "Low/A.swift": "struct A { let b: B } // C\n/* C */ let s = \"C \\(1 + (2)) C\"; let n = A.C.self",
      "High/B.swift": "struct B { let a: A }\nprivate struct Hidden {}\nprivate let x = 1\nstruct C {}",
      "Low/D.swift": "struct D { let hidden: Hidden }",
    ])
    #expect(violations == ["Low/A.swift uses B: Low is below High"])
  }

  @Test func `a use in an interpolation is reported`() throws {
    let violations = try Self.violations([
      "Low/A.swift": "let s = \"\\(B())\"", "High/B.swift": "struct B {}",
    ])
    #expect(violations == ["Low/A.swift uses B: Low is below High"])
  }

  @Test func `an exception allows one use, and must be needed`() throws {
    let files = ["Low/A.swift": "struct A { let b: B }", "High/B.swift": "struct B {}"]
    let needed = LayerRules.Exception(file: "Low/A.swift", type: "B", reason: "a test")
    let idle = LayerRules.Exception(file: "Low/A.swift", type: "C", reason: "a test")
    #expect(try Self.violations(files, exceptions: [needed]) == [])
    #expect(
      try Self.violations(files, exceptions: [needed, idle])
        == ["the exception of Low/A.swift for C is not needed"])
  }

  @Test func `every folder must be in a layer, and every layer must have files`() throws {
    let violations = try Self.violations(["Low/A.swift": "", "Other/B.swift": ""])
    #expect(violations == ["High is a layer without files", "Other is in no layer"])
  }

  private static func violations(
    _ files: [String: String], exceptions: [LayerRules.Exception] = []
  ) throws -> [String] {
    let folder = try TemporaryFolder()
    for (path, text) in files {
      let url = folder.url.appending(path: "Module/" + path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    let rules = LayerRules(root: "Module", layers: ["Low", "High"], exceptions: exceptions)
    return try withExtendedLifetime(folder) { try rules.violations(in: folder.url.path) }
  }
}

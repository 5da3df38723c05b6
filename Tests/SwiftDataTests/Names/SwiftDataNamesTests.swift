import Foundation
import TestSupport
import Testing

/// Each public name of Apple's module is here, or is unavailable with a reason, or the article of differences names it.
@Suite struct `Names of Apple's SwiftData` {
  private static let package = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in
    url.deletingLastPathComponent()
  }
  private let names: DeclaredNames
  private let differences: String

  init() throws {
    names = try DeclaredNames(folders: ["Sources/SwiftData"], package: Self.package)
    differences = try String(
      contentsOf: Self.package.appending(
        path: "Sources/SwiftData/Documentation.docc/DifferencesFromSwiftData.md"), encoding: .utf8)
  }

  /// Whether the article of differences has a name.
  private func isListed(_ name: String) -> Bool { differences.contains("`\(name)`") }

  private func words(_ text: String) -> [String] {
    text.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  @Test func `each type has its members`() {
    for (type, list) in AppleSwiftDataNames.types {
      if !names.hasType(type), !isListed(type) { Issue.record("\(type) is absent, and not listed") }
      for member in words(list) where names.has(member, of: type) == false {
        if !isListed("\(type).\(member)") { Issue.record("\(type).\(member) is absent, and not listed") }
      }
    }
  }

  @Test func `each macro is here, and that of SwiftUI is unavailable`() {
    for macro in words(AppleSwiftDataNames.macros) {
      #expect(names.has(macro, of: "") != false, "\(macro)")
      #expect((names.has(macro, of: "") == nil) == (macro == "@Query"), "\(macro)")
    }
    for name in words(AppleSwiftDataNames.ofSwiftUI) {
      if !isListed(name) { Issue.record("\(name) is not listed") }
    }
  }

  @Test func `what is unavailable says what to use instead`() {
    #expect(names.withoutReason.isEmpty)
    #expect(names.has("private(_:)", of: "ModelConfiguration.CloudKitDatabase") == nil)
    #expect(names.has("identifier(_:)", of: "ModelConfiguration.GroupContainer") == nil)
  }

  // That the list is compared at all.
  @Test func `a name that is nowhere is found to be absent`() {
    #expect(names.has("saveLater()", of: "ModelContext") == false && !names.hasType("ModelDrawer"))
    #expect(names.has("save()", of: "ModelContext") == true)
  }
}

import Foundation

/// The files of a module that may use unsafe code, each with its reason.
package struct UnsafeCodeRules: Sendable {
  /// The folder of the module's sources, relative to the package.
  package let root: String
  /// By reason, the files that handle memory without a length or an owner: see `SourceFile.usesRawMemory`.
  package let rawMemory: [String: [String]]
  /// By reason, the files with an `@unchecked Sendable` type; nil if they are not checked.
  package let uncheckedSendable: [String: [String]]?

  package init(
    root: String, rawMemory: [String: [String]], uncheckedSendable: [String: [String]]? = nil
  ) {
    (self.root, self.rawMemory, self.uncheckedSendable) = (root, rawMemory, uncheckedSendable)
  }

  /// The differences between the lists and the sources, one line each; empty if there are none.
  ///
  /// - Parameter package: The path of the package.
  package func violations(in package: String) throws -> [String] {
    let files = try SourceFile.all(in: package + "/" + root)
    var lines = Self.differences(files.filter(\.usesRawMemory), rawMemory, "raw memory")
    if let uncheckedSendable {
      lines += Self.differences(
        files.filter(\.hasUncheckedSendable), uncheckedSendable, "an unchecked Sendable type")
    }
    return lines.sorted()
  }

  private static func differences(
    _ files: [SourceFile], _ reasons: [String: [String]], _ kind: String
  ) -> [String] {
    let found = Set(files.map(\.path))
    let listed = Set(reasons.values.joined())
    return found.subtracting(listed).map { "\($0) uses \(kind) and is not listed" }
      + listed.subtracting(found).map { "\($0) is listed and does not use \(kind)" }
  }
}

import Foundation

/// The layers of a module: its folders from bottom to top. A file uses types of its own layer and of lower ones.
package struct LayerRules: Sendable {
  /// The folder of the module's sources, relative to the package.
  package let root: String
  /// The folders of each layer, relative to `root`, from bottom to top; "" for `root` itself.
  package let layers: [[String]]
  package let exceptions: [Exception]

  /// An allowed use of a higher type.
  package struct Exception: Sendable {
    /// Relative to `root`.
    package let file: String
    package let type: String
    package let reason: String

    package init(file: String, type: String, reason: String) {
      (self.file, self.type, self.reason) = (file, type, reason)
    }
  }

  package init(root: String, layers: [[String]], exceptions: [Exception] = []) {
    (self.root, self.layers, self.exceptions) = (root, layers, exceptions)
  }

  /// Each folder is a layer of its own.
  package init(root: String, layers: [String], exceptions: [Exception] = []) {
    self.init(root: root, layers: layers.map { [$0] }, exceptions: exceptions)
  }

  /// A use of a type of a higher layer.
  private struct UpwardUse: Hashable {
    let file: String
    let type: String
    let from: String
    let to: String
  }

  /// The violations of the rules, one line each; empty if there are none.
  ///
  /// - Parameter package: The path of the package.
  package func violations(in package: String) throws -> [String] {
    let files = try SourceFile.all(in: package + "/" + root)
    var lines = unlistedFolders(files)
    let uses = upwardUses(files)
    for use in uses where !exceptions.contains(where: { $0.file == use.file && $0.type == use.type }) {
      lines.append("\(use.file) uses \(use.type): \(name(use.from)) is below \(name(use.to))")
    }
    for exception in exceptions
    where !uses.contains(where: { $0.file == exception.file && $0.type == exception.type }) {
      lines.append("the exception of \(exception.file) for \(exception.type) is not needed")
    }
    return lines.sorted()
  }

  private func unlistedFolders(_ files: [SourceFile]) -> [String] {
    let present = Set(files.map(\.folder))
    let listed = Set(layers.joined())
    return present.subtracting(listed).map { "\(name($0)) is in no layer" }
      + listed.subtracting(present).map { "\(name($0)) is a layer without files" }
  }

  private func name(_ folder: String) -> String { folder.isEmpty ? "the root" : folder }

  private func upwardUses(_ files: [SourceFile]) -> Set<UpwardUse> {
    var heights: [String: Int] = [:]
    for (height, folders) in layers.enumerated() {
      for folder in folders { heights[folder] = height }
    }
    var homes: [String: String] = [:]
    for file in files {
      for type in file.declaredTypes { homes[type] = file.folder }
    }
    var uses: Set<UpwardUse> = []
    for file in files {
      guard let height = heights[file.folder] else { continue }
      for type in file.usedNames {
        guard let home = homes[type], let above = heights[home], above > height else { continue }
        uses.insert(UpwardUse(file: file.path, type: type, from: file.folder, to: home))
      }
    }
    return uses
  }
}

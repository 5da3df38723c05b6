/// Checks of the tree of a store from an untrusted source.
enum UntrustedTree {
  /// Inspects a checkpoint's tree before the log is applied to it. Any page can be read safely, but only a
  /// consistent tree can be changed safely.
  ///
  /// - Throws: `.tooLarge` if the tree is too high, `.damaged` with the first finding.
  static func check(
    _ checkpoint: NamedCheckpoint?, _ space: PageSpace, _ options: EngineOptions, path: String
  ) throws(EngineError) {
    guard let limits = options.untrusted, let root = checkpoint?.root else { return }
    guard root.level <= limits.treeLevels else { throw tooManyLevels(root.level, limits, path) }
    var finding: String?
    _ = try TreeInspector.inspect(
      TreeView(space: space, root: root), report: { finding = finding ?? $0 },
      visit: { (_, _) throws(EngineError) in })
    if let finding { throw EngineError.damaged("the store is not opened: the tree: \(finding)", file: path) }
  }

  static func tooManyLevels(
    _ levels: Int, _ limits: EngineOptions.UntrustedLimits, _ path: String
  ) -> EngineError {
    EngineError(
      .tooLarge,
      "the store is not opened: its tree has \(levels) levels of branches, and \(limits.treeLevels) are allowed",
      file: path)
  }
}

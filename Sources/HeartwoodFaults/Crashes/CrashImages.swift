/// The images that a crash at one moment can leave of a simulated disk. The sequence builds each image on
/// demand and skips those equal to an earlier one.
public struct CrashImages: Sequence, Sendable {
  private let moment: CrashMoment
  private let choices: [CrashChoice]
  private let imageCount: Int

  init(_ moment: CrashMoment, limits: CrashImageLimits) {
    self.moment = moment
    choices = limits.choices(at: moment)
    imageCount = limits.imageCount
  }

  /// Starts with the image that loses nothing, followed by the one that loses every unsynced change.
  public func makeIterator() -> Iterator {
    Iterator(
      moment: moment, choices: choices[...], remaining: imageCount,
      fingerprints: FingerprintBuilder(moment.changes))
  }

  /// Builds one image at a time.
  public struct Iterator: IteratorProtocol {
    fileprivate let moment: CrashMoment
    fileprivate var choices: ArraySlice<CrashChoice>
    fileprivate var remaining: Int
    fileprivate var fingerprints: FingerprintBuilder
    fileprivate var seen: Set<Int> = []

    /// The next image that differs from all previous ones, or nil at the end.
    public mutating func next() -> CrashImage? {
      while remaining > 0, let choice = choices.popFirst() {
        let recipe = moment.possible(choice.recipe(at: moment))
        let state = moment.state(after: recipe)
        let fingerprint = fingerprints.fingerprint(of: state)
        guard seen.insert(fingerprint).inserted else { continue }
        remaining -= 1
        return CrashImage(moment: moment, recipe: recipe, state: state, fingerprint: fingerprint)
      }
      return nil
    }
  }

  /// The image of one recipe, regardless of the limits.
  func image(_ recipe: CrashRecipe) -> CrashImage { moment.image(recipe) }
}

extension CrashMoment {
  func image(_ recipe: CrashRecipe) -> CrashImage {
    var fingerprints = FingerprintBuilder(changes)
    let state = state(after: recipe)
    return CrashImage(
      moment: self, recipe: recipe, state: state, fingerprint: fingerprints.fingerprint(of: state))
  }
}

/// Computes fingerprints from the names and bytes that are reachable in a disk state.
private struct FingerprintBuilder {
  private var ofUntouchedFiles: [FileIdentifier: Int] = [:]
  private let touched: Set<FileIdentifier>

  init(_ changes: [DiskChange]) {
    touched = Set(changes.compactMap(\.file))
  }

  mutating func fingerprint(of state: DiskState) -> Int {
    var hasher = Hasher()
    combine(.root, of: state, into: &hasher)
    return hasher.finalize()
  }

  private mutating func combine(_ folder: FolderIdentifier, of state: DiskState, into hasher: inout Hasher) {
    let entries = state.entries(of: folder).sorted { $0.key < $1.key }
    hasher.combine(entries.count)
    for (name, entry) in entries {
      hasher.combine(name)
      switch entry {
      case .folder(let folder): combine(folder, of: state, into: &hasher)
      case .file(let file): hasher.combine(hash(of: file, state))
      }
    }
  }

  /// Hashes a file that no pending change touches only once for all images.
  private mutating func hash(of file: FileIdentifier, _ state: DiskState) -> Int {
    if let known = ofUntouchedFiles[file] { return known }
    var hasher = Hasher()
    let bytes = state.bytes(of: file)
    hasher.combine(bytes.count)
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
    let result = hasher.finalize()
    if !touched.contains(file) { ofUntouchedFiles[file] = result }
    return result
  }
}

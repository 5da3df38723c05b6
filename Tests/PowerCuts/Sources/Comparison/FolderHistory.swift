import HeartwoodFaults
import HeartwoodFiles

/// The states of a folder from its durable state to the last change. Step 0 is the durable state; each
/// further step adds one unsynced change.
public struct FolderHistory: Sendable {
  private let states: [FolderState]
  private let files: [String: FileVersions]

  /// Creates a history with these states.
  public init(_ states: [FolderState]) {
    self.states = states
    var files: [String: FileVersions] = [:]
    for (step, state) in states.enumerated() {
      for (name, bytes) in state {
        files[name, default: FileVersions(isNew: states[0][name] == nil)].append(bytes, step: step)
      }
    }
    self.files = files
  }

  /// The history of a simulated disk at this moment, from the images of the prefixes of its unsynced changes.
  public init(of disk: SimulatedFileSystem, at path: String) throws {
    var limits = CrashImageLimits.prefixesOnly
    limits.imageCount = .max
    let images = Array(disk.crashImages(limits)).sorted { $0.keptChangeCount < $1.keptChangeCount }
    var states: [FolderState] = []
    for image in images {
      var state = try folderState(path, in: image.mounted())
      // Most files are equal in consecutive steps and share one array.
      for (name, bytes) in states.last ?? [:] {
        if let same = state[name], areSame(same, bytes) { state[name] = bytes }
      }
      states.append(state)
    }
    self.init(states)
  }

  /// The number of steps.
  public var count: Int { states.count }

  /// The effects of a cut that left the folder in the state `found`.
  public func effects(in found: FolderState) -> Set<Effect> {
    let steps = found.reduce(into: Set(states.indices.filter { states[$0].keys == found.keys })) {
      steps, file in
      steps.formIntersection(files[file.key]?.steps(with: file.value) ?? [])
    }
    if steps.contains(states.count - 1) { return [.everythingKept] }
    if steps.contains(0) { return [.nothingKept] }
    return steps.isEmpty ? nameEffects(found).union(contentEffects(found)) : [.tailLost]
  }

  private func nameEffects(_ found: FolderState) -> Set<Effect> {
    var effects: Set<Effect> = []
    if found.keys.contains(where: { files[$0] == nil }) { effects.insert(.unknownName) }
    let certain = states.dropFirst().reduce(into: Set((states.first ?? [:]).keys)) {
      $0.formIntersection($1.keys)
    }
    if !certain.isSubset(of: found.keys) { effects.insert(.durableNameLost) }
    if !states.contains(where: { $0.keys == found.keys }) { effects.insert(.namesReordered) }
    return effects
  }

  private func contentEffects(_ found: FolderState) -> Set<Effect> {
    var effects: Set<Effect> = []
    var common = Set(states.indices.filter { states[$0].keys == found.keys })
    for (name, bytes) in found {
      guard let versions = files[name] else { continue }
      let steps = versions.steps(with: bytes)
      if steps.isEmpty {
        effects.formUnion(versions.effects(in: bytes))
      } else {
        common.formIntersection(steps)
      }
      if bytes.isEmpty, states.last?[name]?.isEmpty == false { effects.insert(.nameWithoutBytes) }
    }
    let missing = (states.last ?? [:]).keys.filter { found[$0] == nil && states.first?[$0] == nil }
    if missing.contains(where: { files[$0]?.beginsWithBytes == true }) { effects.insert(.bytesWithoutName) }
    if common.isEmpty { effects.insert(.reorderedBetweenFiles) }
    return effects
  }
}

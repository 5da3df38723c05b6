import HeartwoodFaults
import HeartwoodFiles

/// A moment of a trace on simulated disks of every crash model.
public final class SimulatedCut {
  private let replays: [CrashModel: TraceReplay]
  private var histories: [CrashModel: FolderHistory] = [:]
  /// The images at the moment, by crash model.
  private var enumerations: [CrashModel: [FolderState]] = [:]
  private let imagesPerCut: Int

  /// Creates simulated disks before the first call.
  ///
  /// - Parameter imagesPerCut: The maximum number of images for each crash model and cut.
  public init(_ trace: CallTrace, imagesPerCut: Int, seed: UInt64) {
    replays = Dictionary(
      uniqueKeysWithValues: CrashModel.allCases.map { ($0, TraceReplay(trace, $0, seed: seed)) })
    self.imagesPerCut = imagesPerCut
  }

  /// Excludes the prefixes: with many changes they would use up the image count, and they are known anyway.
  private var limits: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.includesPrefixes = false
    limits.includesSingleLosses = unsyncedChangeCount < imagesPerCut / 4
    limits.includesSingleSurvivors = limits.includesSingleLosses
    limits.tornWrites = 2
    limits.sectorTears = 4
    limits.byteTears = []
    limits.drawnImages = imagesPerCut
    limits.imageCount = imagesPerCut
    return limits
  }

  /// Advances to a later moment and counts the effects on the simulated disks.
  public func advance(to moment: Int, _ table: inout EffectTable) throws {
    for replay in replays.values { try replay.advance(to: moment) }
    for terms in [CrashModel.ext4Ordered, .posix] {
      histories[terms] = try replays[terms].map { try FolderHistory(of: $0.disk, at: TraceReplay.path) }
    }
    for (crashModel, replay) in replays {
      let terms = crashModel.terms
      guard let history = histories[terms] else { continue }
      let states = try replay.disk.crashImages(limits).map {
        try folderState(TraceReplay.path, in: $0.mounted())
      }
      enumerations[crashModel] = states
      let column = EffectTable.Column(source: "\(crashModel)", terms: terms)
      for state in states { table.add(history.effects(in: state), to: column) }
    }
  }

  /// Counts the effects that were found on a real file system after the cut, in both terms.
  ///
  /// - Returns: The effects in the terms of the crash model `ext4Ordered`, and in those of the others.
  @discardableResult
  public func add(
    _ found: FolderState, of source: String, _ table: inout EffectTable
  ) -> (ordered: Set<Effect>, posix: Set<Effect>) {
    func effects(_ terms: CrashModel, _ sources: [CrashModel]) -> Set<Effect> {
      let effects = histories[terms]?.effects(in: found) ?? []
      // Every prefix of the changes is an image in every crash model.
      let isEnumerated =
        effects.contains { $0 <= .tailLost }
        || sources.contains { enumerations[$0]?.contains { areSame($0, found) } == true }
      table.add(effects, to: .init(source: source, terms: terms), isEnumerated: isEnumerated)
      return effects
    }
    return (effects(.ext4Ordered, [.ext4Ordered]), effects(.posix, [.posix, .hostile]))
  }

  /// The number of unsynced changes at the moment, according to the syncs of POSIX.
  public var unsyncedChangeCount: Int { replays[.posix]?.disk.unsyncedChangeCount ?? 0 }
}

extension CrashModel {
  /// The crash model with the same syncs. `hostile` differs from `posix` only in its images.
  public var terms: CrashModel { self == .ext4Ordered ? .ext4Ordered : .posix }
}

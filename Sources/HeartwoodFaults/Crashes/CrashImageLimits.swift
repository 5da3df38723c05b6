/// How many of the possible images of a crash are enumerated.
///
/// What survives nothing and what survives everything is always among them.
public struct CrashImageLimits: Hashable, Sendable {
  /// Whether every prefix of the unsynced changes makes an image.
  public var includesPrefixes = true
  /// Whether the loss of each change alone makes an image.
  public var includesSingleLosses = true
  /// Whether the survival of each change alone makes an image.
  public var includesSingleSurvivors = true
  /// At how many boundaries of 512-byte sectors the last write is torn; where it crosses more, those at
  /// its two ends are taken.
  public var sectorTears = 16
  /// After how many of its bytes the last write is torn besides; negative numbers count from its end.
  public var byteTears = [1, 7, 8, 39, 40, 41, -8, -1]
  /// The most images of one moment.
  public var imageCount = 600

  /// The usual limits.
  public init() {}

  /// Only the two images that lose nothing and everything, and the prefixes between them.
  public static var prefixesOnly: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.includesSingleLosses = false
    limits.includesSingleSurvivors = false
    limits.sectorTears = 0
    limits.byteTears = []
    return limits
  }
}

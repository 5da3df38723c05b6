/// How many of the possible images of a crash are enumerated.
///
/// What survives nothing and what survives everything is always among them; what the personality of the
/// disk does not allow never is.
public struct CrashImageLimits: Hashable, Sendable {
  /// Whether every prefix of the unsynced changes makes an image.
  public var includesPrefixes = true
  /// Whether the loss of each change alone makes an image.
  public var includesSingleLosses = true
  /// Whether the survival of each change alone makes an image.
  public var includesSingleSurvivors = true
  /// Up to how many unsynced changes every subset of them makes an image; 20 at most.
  public var everySubsetUpTo = 0
  /// How many of the last writes are torn, one in each image.
  public var tornWrites = 1
  /// At how many boundaries of 512-byte sectors a write is torn; where it crosses more, those at
  /// its two ends are taken.
  public var sectorTears = 16
  /// After how many of its bytes a write is torn besides, on disks that tear sectors; negative numbers
  /// count from its end.
  public var byteTears = [1, 7, 8, 39, 40, 41, -8, -1]
  /// How many subsets, orders and tears are drawn by the seed of the disk besides. Nil for as many as
  /// the personality wants: 64 of a hostile disk, and none of others.
  public var drawnImages: Int?
  /// The most images of one moment.
  public var imageCount = 600

  /// The usual limits.
  public init() {}

  /// Only the two images that lose nothing and everything, and the prefixes between them.
  public static var prefixesOnly: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.includesSingleLosses = false
    limits.includesSingleSurvivors = false
    limits.tornWrites = 0
    limits.drawnImages = 0
    return limits
  }

  /// Everything that the usual limits have, every subset of up to eight changes, tears of the last four
  /// writes, and 256 images drawn by the seed; up to 5,000 images of one moment.
  public static var thorough: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.everySubsetUpTo = 8
    limits.tornWrites = 4
    limits.drawnImages = 256
    limits.imageCount = 5000
    return limits
  }
}

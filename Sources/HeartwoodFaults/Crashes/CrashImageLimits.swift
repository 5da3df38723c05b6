/// Selects which of the possible images of a crash are enumerated.
///
/// The image that loses nothing and the image that loses every unsynced change are always included. Images
/// that the crash model rules out never are.
public struct CrashImageLimits: Hashable, Sendable {
  /// Whether each prefix of the unsynced changes makes an image.
  public var includesPrefixes = true
  /// Whether the loss of each change alone makes an image.
  public var includesSingleLosses = true
  /// Whether the survival of each change alone makes an image.
  public var includesSingleSurvivors = true
  /// The largest number of unsynced changes for which every subset makes an image; at most 20.
  public var everySubsetUpTo = 0
  /// The number of most recent writes that are torn, one in each image.
  public var tornWrites = 1
  /// The maximum number of 512-byte sector boundaries at which a write is torn. A write that crosses more is
  /// torn at those nearest its two ends.
  public var sectorTears = 16
  /// Additional positions in bytes at which a write is torn, except on ext4, which tears at sectors only.
  /// Negative numbers count from the end of the write.
  public var byteTears = [1, 7, 8, 39, 40, 41, -8, -1]
  /// The number of additional random subsets, orders and tears, drawn with the seed of the disk. Nil for the
  /// default of the crash model: 64 for a hostile disk, 0 for others.
  public var drawnImages: Int?
  /// The maximum number of images of one moment.
  public var imageCount = 600

  /// The default limits.
  public init() {}

  /// Only the prefixes of the unsynced changes, including the empty and the full one.
  public static var prefixesOnly: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.includesSingleLosses = false
    limits.includesSingleSurvivors = false
    limits.tornWrites = 0
    limits.drawnImages = 0
    return limits
  }

  /// The default limits, every subset of up to eight changes, tears of the last four writes, and 256 random
  /// images; up to 5,000 images of one moment.
  public static var thorough: CrashImageLimits {
    var limits = CrashImageLimits()
    limits.everySubsetUpTo = 8
    limits.tornWrites = 4
    limits.drawnImages = 256
    limits.imageCount = 5000
    return limits
  }
}

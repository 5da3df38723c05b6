import Foundation

/// How much is done.
enum Size: String {
  case short, standard

  /// How many cuts are made of one recording.
  var cuts: Int { self == .short ? 12 : 50 }

  /// How many full commits a recording has at least.
  var commits: Int { self == .short ? 150 : 400 }

  /// How many machines are killed on one file system, besides those of the recordings.
  var kills: Int { self == .short ? 2 : 10 }
}

/// What `run` was asked for.
struct Arguments {
  static let usage = """
    usage: Tests/PowerCuts/run [short|standard] [--filesystems ext4,xfs,btrfs] [--seed N] [--folder PATH]
                               [--mutant NAME] [--keep]
      --folder PATH  where images are made (some 1 GB); /dev/shm unless told
      --mutant NAME  with a mutant of the engine; no controls, and findings are what is wanted
      --keep         keep the images that failed
    """

  var size = Size.short
  var formats = DiskFormat.allCases
  var seed: UInt64 = 1
  var folder = "/dev/shm"
  var keepsImages = false
  /// The mistake that the victim's engine makes; nil for none.
  var mutant: String?
  var (kernel, initialRamDisk) = ("", "")

  init(_ words: [String]) throws {
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "short", "standard": size = Size(rawValue: word) ?? .short
      case "--keep": keepsImages = true
      case "--seed": seed = try Self.value(of: word, &rest, UInt64.init)
      case "--folder": folder = try Self.value(of: word, &rest) { $0 }
      case "--mutant": mutant = try Self.value(of: word, &rest) { $0 }
      case "--kernel": kernel = try Self.value(of: word, &rest) { $0 }
      case "--initial-ram-disk": initialRamDisk = try Self.value(of: word, &rest) { $0 }
      case "--filesystems": formats = try Self.value(of: word, &rest, Self.formats)
      default: throw Failure(Self.usage)
      }
    }
  }

  private static func value<Value>(
    of word: String, _ rest: inout ArraySlice<String>, _ parse: (String) -> Value?
  ) throws -> Value {
    guard let value = rest.popFirst().flatMap(parse) else { throw Failure("\(word) needs a value\n\(usage)") }
    return value
  }

  private static func formats(_ list: String) -> [DiskFormat]? {
    let names = list.split(separator: ",").map(String.init)
    let formats = names.compactMap(DiskFormat.init)
    return formats.count == names.count && !names.isEmpty ? formats : nil
  }
}

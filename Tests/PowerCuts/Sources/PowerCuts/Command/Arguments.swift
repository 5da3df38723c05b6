import Foundation

/// The scope of a run.
enum Size: String {
  case short, standard

  /// The number of cuts for one recording.
  var cuts: Int { self == .short ? 12 : 50 }

  /// The minimum number of full commits in a recording.
  var commits: Int { self == .short ? 150 : 400 }

  /// The number of machines that are killed for each file system, in addition to those of the recordings.
  var kills: Int { self == .short ? 2 : 10 }
}

/// The arguments of `run`.
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
  /// The mutant of the victim's engine; nil for none.
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

/// The effect of a power cut on a folder, in terms of the calls that were made. Real and simulated disks are
/// compared by these classes.
public enum Effect: String, CaseIterable, Comparable, Sendable {
  // The folder is in the state after a prefix of the uncertain calls.
  case everythingKept = "all unsynced changes are there"
  case nothingKept = "no unsynced change is there"
  case tailLost = "the first unsynced changes are there, the others not"

  // The folder is in no such state.
  case reorderedInFile = "of one file, a later write is there and an earlier one not"
  case reorderedInSector = "of one sector, a later write is there and an earlier one not"
  case reorderedBetweenFiles = "a change of one file is there, an earlier one of another file or name not"
  case namesReordered = "a later change of names is there, an earlier one not"
  case tornAtEnd = "of a write the first sectors are there, the others not"
  case tornElsewhere = "of a write later sectors are there, earlier ones not"
  case lengthInsideWrite = "a file ends inside a write"
  case lengthWithoutBytes = "a file has a new length, and zeros where bytes were written"
  case nameWithoutBytes = "a file has its name and no bytes yet"
  case bytesWithoutName = "a file's bytes were synced, its name is missing"
  case zeroedSector = "zeros are in the place of old or new bytes"

  // Effects that only the crash model `hostile` allows.
  case foreignSector = "a sector has bytes that no call wrote there"

  // Effects that no crash model allows.
  case durableNameLost = "a name is missing that was durable"
  case unknownName = "a name is there that no call made"
  case durableBytesChanged = "bytes are not there that were durable, and that no unsynced call touched"

  /// Compares by the order of declaration.
  public static func < (one: Effect, other: Effect) -> Bool {
    guard let first = allCases.firstIndex(of: one), let second = allCases.firstIndex(of: other) else {
      return false
    }
    return first < second
  }
}

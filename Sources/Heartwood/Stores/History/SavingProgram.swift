import Foundation

/// The program that made a save, as its history names it.
struct SavingProgram: Hashable, Sendable {
  /// The identifier of the program's bundle; nil for a program without one, as most are on Linux.
  var bundleID: String?
  /// The name of the program, which is the same in each of its processes.
  var processID: String?

  /// This program.
  static let current = SavingProgram(
    bundleID: Bundle.main.bundleIdentifier, processID: ProcessInfo.processInfo.processName)
}

import Foundation

/// A process that migrates a store, and waits to be killed.
///
///     FaultProgramme migrating PATH WAY
///
/// It prints a line when it begins, and another one when it is done.
enum MigrationVictim {
  static let command = "migrating"

  static func run(_ words: [String]) throws -> Never {
    Worker.limitTime()
    guard words.count == 2, let way = MigrationWay(rawValue: words[1]) else {
      throw Finding("usage: \(command) PATH WAY")
    }
    // Work that a process does once only is not part of what is interrupted.
    _ = way.model.entitiesByName
    say("begins")
    try way.migrate(URL(filePath: words[0]))
    say("done")
    while true { pause() }
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

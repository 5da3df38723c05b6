import Foundation
import Testing

@testable import HeartwoodCommand

@Suite struct `Watched statistics` {
  private let world: SmallWorld

  init() throws { world = try SmallWorld() }

  /// The lines that are printed while another program changes the store.
  ///
  /// - Parameter changes: One for each time that the figures are read again.
  private func watch(_ format: StatisticsCommand.Format, _ changes: [() -> Void]) throws -> [String] {
    let console = RecordingConsole()
    var waiting = changes[...]
    try CommandStore.with(world.path, for: .reading, console) { store in
      try StatisticsCommand.watch(store, format, console) {
        guard let change = waiting.popFirst() else { return false }
        change()
        return true
      }
    }
    return console.output.split(separator: "\n").map(String.init)
  }

  private func change() {
    let run = world.run("update", "Country", "--where", #"code == "FR""#, "--set", "population = 7")
    #expect(run.status == .success, "\(run.notes)")
  }

  @Test func `a line says what has changed, and none is printed where nothing has`() throws {
    let lines = try watch(.text, [{}, change, {}])
    try #require(lines.count == 1, "\(lines)")
    #expect(
      lines[0].hasPrefix("generation ") && lines[0].contains(": +1 transaction")
        && lines[0].contains(" of log"), "\(lines)")
  }

  @Test(arguments: [false, true])
  func `watching ends if the store is moved, also if another one is at its path`(isReplaced: Bool) {
    #expect {
      _ = try watch(
        .text,
        [
          {
            let moved = world.path + ".moved"
            #expect(rename(world.path, moved) == 0)
            if isReplaced { try? FileManager.default.copyItem(atPath: moved, toPath: world.path) }
          }
        ])
    } throws: { error in
      guard let failure = error as? CommandFailure else { return false }
      return failure.code == .unavailable && failure.message.contains("was moved, replaced or deleted")
    }
  }

  @Test func `in JSON each line has the new figures`() throws {
    let lines = try watch(.json, [change, {}])
    try #require(lines.count == 1, "\(lines)")
    guard case .object(let object) = try ImportDocument.parse(Array(lines[0].utf8)),
      case .integer(let generation)? = object["generation"]
    else { throw CommandFailure.data("no generation") }
    #expect(generation > 0 && object["logBytes"] != nil)
  }
}

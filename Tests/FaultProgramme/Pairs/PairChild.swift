import Foundation
import Heartwood

/// A process that does one deed, when it is told to.
///
///     FaultProgramme deed TYPE PATH DEED NUMBER
///
/// It prints a line when it is ready, and another one at the end: `done`, or `failed` with the code of the error and the error.
enum PairChild {
  static let command = "deed"

  static func run(_ words: [String]) throws -> Never {
    Worker.limitTime()
    guard words.count == 4, let deed = PairDeed(rawValue: words[2]), let number = Int(words[3]) else {
      throw Finding("usage: \(command) TYPE PATH DEED NUMBER")
    }
    let type = PersistentStore.StoreType(rawValue: words[0])
    let store = PairStore(url: URL(filePath: words[1]), type: type)
    // Work that a process does once only is not part of what happens at the same time.
    for model in MigratedBoxes.models { _ = model.versionChecksum }
    say("ready")
    _ = readLine()
    say(PairOutcome(of: deed, on: store, number).line)
    exit(0)
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  /// The arguments of a process.
  static func arguments(_ deed: PairDeed, _ store: PairStore, _ number: Int) -> [String] {
    [command, store.type.rawValue, store.url.path, deed.rawValue, "\(number)"]
  }
}

/// How a deed has ended.
enum PairOutcome: Sendable {
  case done
  case failed(code: Int, String)
  case killed

  /// Does a deed in this process.
  init(of deed: PairDeed, on store: PairStore, _ number: Int) {
    do {
      try deed.perform(on: store, number)
      self = .done
    } catch let error as HeartwoodError {
      self = .failed(code: error.code.rawValue, "\(error)")
    } catch {
      self = .failed(code: 0, "\(error)")
    }
  }

  var line: String {
    switch self {
    case .done: "done"
    case .killed: "killed"
    case .failed(let code, let text): "failed \(code) \(text.split(separator: "\n").joined(separator: " "))"
    }
  }

  /// Of a line that a process has printed.
  init(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 2)
    self = line == "done" ? .done : .failed(code: words.count > 1 ? Int(words[1]) ?? 0 : 0, line)
  }

  var isDone: Bool { if case .done = self { true } else { false } }
}

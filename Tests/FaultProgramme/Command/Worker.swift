import Foundation
import HeartwoodFiles

/// A process of this program that runs pieces, one after the other. Threads of one process would wait for one another
/// at every map of memory; and a piece that ends its process, or does not end, is a finding, and not the end of the
/// programme.
///
///     FaultProgramme worker SIZE SEED
///
/// Each line that it reads names a part and one of its pieces; it answers with a line of JSON.
final class Worker {
  /// What became of a piece.
  struct Answer: Codable {
    var seconds = 0.0
    var figures = Figures()
    /// What was found; nil for nothing.
    var finding: String?

    init(finding: String) { self.finding = finding }

    /// Runs a piece.
    init(running piece: Piece) {
      let duration = ContinuousClock().measure {
        do {
          try piece.run(&figures)
        } catch {
          finding = "\(error)"
        }
      }
      seconds = duration / .seconds(1)
    }
  }

  /// After so many seconds a process is ended that still runs its piece, or is a victim; a long piece takes ten.
  private static let backoff: UInt32 = 600

  private let process = Process()
  private let requests = Pipe()
  private let answers = Pipe()
  private var rest = Data()

  /// Starts one.
  init(
    _ size: Size, seed: UInt64, program: URL = URL(fileURLWithPath: CommandLine.arguments[0])
  ) throws {
    process.executableURL = program
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.arguments = ["worker", size.rawValue, "\(seed)"]
    process.standardInput = requests
    process.standardOutput = answers
    try KilledProcess.inheritance.withLock { try process.run() }
  }

  /// Whether it can be asked for more.
  var isRunning: Bool { process.isRunning }

  var identifier: Int32 { process.processIdentifier }

  /// Lets it run a piece, whose answer it gives then.
  func ask(_ part: String, _ piece: Int) throws {
    try requests.fileHandleForWriting.write(contentsOf: Data("\(part) \(piece)\n".utf8))
  }

  /// Waits for what becomes of the piece that was asked for.
  func answer() throws -> Answer {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[(end + 1)...]) }
        return try JSONDecoder().decode(Answer.self, from: rest[..<end])
      }
      let more = answers.fileHandleForReading.availableData
      if more.isEmpty {
        process.waitUntilExit()
        return Answer(finding: howItEnded)
      }
      rest += more
    }
  }

  private var howItEnded: String {
    switch (process.terminationReason, process.terminationStatus) {
    case (.exit, let code): "its process ended with \(code)"
    case (_, SIGALRM): "it had not ended after \(Self.backoff) s"
    case (_, let signal): "its process was ended by signal \(signal)"
    }
  }

  /// Lets it end; it does when nothing more is asked of it.
  func end() {
    try? requests.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  // MARK: The process itself

  /// Runs what it is asked to, until nobody can ask any more.
  static func serve(_ words: [String], _ parts: [any Part]) throws -> Never {
    guard words.count == 2, let size = Size(rawValue: words[0]), let seed = UInt64(words[1]) else {
      throw Finding("usage: worker SIZE SEED")
    }
    while let request = readLine() {
      let words = request.split(separator: " ")
      guard words.count == 2, let part = parts.first(where: { $0.name == words[0] }),
        let number = Int(words[1]), let piece = part.piece(number, of: size, seed: seed)
      else { throw Finding("there is no piece \(request)") }
      limitTime()
      let answer = try JSONEncoder().encode(Answer(running: piece))
      try FileHandle.standardOutput.write(contentsOf: answer + Data("\n".utf8))
    }
    exit(0)
  }

  /// Lets the system end this process where it goes on for too long.
  static func limitTime() {
    // Kept away by the thread that has started it, as threads of Dispatch do.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGALRM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    alarm(backoff)
  }
}

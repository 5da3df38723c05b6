import Foundation
import HeartwoodFiles

/// A process of this program that runs pieces one after the other. Processes are used because threads of one
/// process would block each other in memory maps, and because a piece that crashes or hangs must be reported
/// as a finding without ending the programme.
///
///     FaultProgramme worker SIZE SEED
///
/// Each input line names a part and one of its pieces. The process answers with a line of JSON.
final class Worker {
  /// The result of a piece.
  struct Answer: Codable {
    var seconds = 0.0
    var figures = Figures()
    /// The finding; nil if there is none.
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

  /// The time in seconds after which a process that still runs its piece is killed. The longest piece of the standard size takes 130 seconds of
  /// a processor, and several times that beside other work.
  static func timeLimit(_ size: Size) -> UInt32 { size == .short ? 600 : 3600 }

  private let size: Size

  private let process = Process()
  private let requests = Pipe()
  private let answers = Pipe()
  private var rest = Data()

  /// Starts a worker process.
  init(
    _ size: Size, seed: UInt64, program: URL = URL(fileURLWithPath: CommandLine.arguments[0])
  ) throws {
    self.size = size
    process.executableURL = program
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.arguments = ["worker", size.rawValue, "\(seed)"]
    process.standardInput = requests
    process.standardOutput = answers
    try KilledProcess.inheritance.withLock { try process.run() }
  }

  /// Whether the process accepts further pieces.
  var isRunning: Bool { process.isRunning }

  var identifier: Int32 { process.processIdentifier }

  /// Sends a piece to the process. `answer` returns its result.
  func ask(_ part: String, _ piece: Int) throws {
    try requests.fileHandleForWriting.write(contentsOf: Data("\(part) \(piece)\n".utf8))
  }

  /// Waits for the result of the piece that was sent.
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
    case (_, SIGALRM): "it had not ended after \(Self.timeLimit(size)) s"
    case (_, let signal): "its process was ended by signal \(signal)"
    }
  }

  /// Closes the input of the process, which makes it end.
  func end() {
    try? requests.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  // MARK: In the worker process

  /// Runs the requested pieces until the end of the input.
  static func serve(_ words: [String], _ parts: [any Part]) throws -> Never {
    guard words.count == 2, let size = Size(rawValue: words[0]), let seed = UInt64(words[1]) else {
      throw Finding("usage: worker SIZE SEED")
    }
    while let request = readLine() {
      let words = request.split(separator: " ")
      guard words.count == 2, let part = parts.first(where: { $0.name == words[0] }),
        let number = Int(words[1]), let piece = part.piece(number, of: size, seed: seed)
      else { throw Finding("there is no piece \(request)") }
      limitTime(timeLimit(size))
      let answer = try JSONEncoder().encode(Answer(running: piece))
      try FileHandle.standardOutput.write(contentsOf: answer + Data("\n".utf8))
    }
    exit(0)
  }

  /// Sets a timer that kills this process after some seconds.
  static func limitTime(_ seconds: UInt32 = timeLimit(.short)) {
    // The signal is blocked in this thread, because threads of Dispatch block it and pass their mask on.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGALRM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    alarm(seconds)
  }
}

import Foundation
import HeartwoodFiles

/// Runs the pieces of the parts in several processes, reports the progress, and adds up the figures.
final class Programme: @unchecked Sendable {
  private let parts: [any Part]
  private let arguments: Arguments
  private let journal: Journal
  private let started = ContinuousClock.now
  private let lock = Lock()
  /// The time after which the current part starts no further piece, in seconds since the start; nil for no
  /// limit.
  private var deadline: Double?
  private var lastReport = ContinuousClock.now
  /// One worker process for each concurrent piece; nil before its first piece.
  private var workers: [Worker?]

  init(_ parts: [any Part], _ arguments: Arguments) throws {
    self.parts = parts
    self.arguments = arguments
    journal = try Journal(at: arguments.piece == nil ? arguments.state : nil)
    workers = Array(
      repeating: nil, count: arguments.processes ?? ProcessInfo.processInfo.activeProcessorCount)
  }

  /// Returns whether the run had no findings.
  func run() throws -> Bool {
    if let number = arguments.piece { return runOne(parts[0], number) }
    say("\(arguments.size.rawValue) programme, seed \(arguments.seed), \(workers.count) processes")
    let courses = parts.map { Course($0, arguments, journal.entries) }
    var unfinished = courses
    // Time that a part does not use is divided among the others. A second pass gives the remaining time to
    // the unfinished parts.
    for _ in 0..<2 {
      for (number, course) in unfinished.enumerated() {
        deadline = arguments.seconds.map { ($0 - elapsed) / Double(unfinished.count - number) + elapsed }
        run(course)
        say(course.summary)
      }
      unfinished = courses.filter { !$0.isFinished && $0.failures.isEmpty }
      if (arguments.seconds ?? 0) - elapsed < 5 { break }
    }
    for worker in workers { worker?.end() }
    let failures = courses.flatMap(\.failures)
    for failure in failures { say(failure) }
    if arguments.size != .long, !unfinished.isEmpty {
      let names = unfinished.map(\.part.name).joined(separator: ", ")
      say("time is up; not finished: \(names); run again to continue")
    }
    return failures.isEmpty
  }

  private func runOne(_ part: any Part, _ number: Int) -> Bool {
    guard let piece = part.piece(number, of: arguments.size, seed: arguments.seed) else {
      say("\(part.name) has no piece \(number)")
      return false
    }
    let answer = Worker.Answer(running: piece)
    say("\(part.name) \(number), \(piece.name): \(answer.finding ?? "\(answer.figures)")")
    return answer.finding == nil
  }

  private func run(_ course: Course) {
    DispatchQueue.concurrentPerform(iterations: workers.count) { place in
      while !isTimeUp, let (number, piece) = lock.withLock({ course.next() }) {
        let result = Result { () throws -> Worker.Answer in
          let worker = try worker(at: place)
          try worker.ask(course.part.name, number)
          return try worker.answer()
        }
        lock.withLock { finish(course, number, piece, result) }
      }
    }
  }

  /// The worker of a thread. Starts another one if it has ended.
  private func worker(at place: Int) throws -> Worker {
    if let worker = lock.withLock({ workers[place] }), worker.isRunning { return worker }
    let worker = try Worker(arguments.size, seed: arguments.seed)
    lock.withLock { workers[place] = worker }
    return worker
  }

  private func finish(
    _ course: Course, _ number: Int, _ piece: Piece, _ result: Result<Worker.Answer, any Error>
  ) {
    do {
      let answer = try result.get()
      if let finding = answer.finding { throw Finding(finding) }
      let entry = Journal.Entry(
        part: course.part.name, piece: number, seconds: answer.seconds, figures: answer.figures)
      course.add(entry)
      try journal.add(entry)
    } catch {
      course.fail(number, piece, error)
    }
    if ContinuousClock.now - lastReport > .seconds(20) {
      lastReport = .now
      say("  … \(course.summary)")
    }
  }

  private var elapsed: Double { (ContinuousClock.now - started) / .seconds(1) }

  private var isTimeUp: Bool { deadline.map { elapsed > $0 } ?? false }

  private func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }
}

/// The progress of one part. Guarded by the programme's lock.
private final class Course: @unchecked Sendable {
  let part: any Part
  private let arguments: Arguments
  private var number = 0
  private var done: Set<Int> = []
  private var figures = Figures()
  private var seconds = 0.0
  private(set) var failures: [String] = []

  init(_ part: any Part, _ arguments: Arguments, _ entries: [Journal.Entry]) {
    self.part = part
    self.arguments = arguments
    for entry in entries where entry.part == part.name { add(entry) }
  }

  /// Whether the goals are reached and the required pieces are done.
  var isFinished: Bool {
    (0..<part.leastPieces(of: arguments.size)).allSatisfy(done.contains)
      && figures.reaches(part.goals(of: arguments.size))
  }

  /// The next piece to run; nil if the part has ended or failed.
  func next() -> (Int, Piece)? {
    guard failures.isEmpty, arguments.size == .long || !isFinished else { return nil }
    while done.contains(number) { number += 1 }
    defer { number += 1 }
    return part.piece(number, of: arguments.size, seed: arguments.seed).map { (number, $0) }
  }

  func add(_ entry: Journal.Entry) {
    done.insert(entry.piece)
    figures += entry.figures
    seconds += entry.seconds
  }

  func fail(_ number: Int, _ piece: Piece, _ error: any Error) {
    failures.append(
      """
      FAILED \(part.name) \(number), \(piece.name): \(error)
        again: Tests/FaultProgramme/run \(arguments.size.rawValue) --seed \(arguments.seed) \
      --piece \(number) \(part.name)
      """)
  }

  var summary: String {
    let short = part.goals(of: arguments.size).filter { figures[$0.figure] < $0.count }
    let missing = short.map { ", \(($0.count - figures[$0.figure]).grouped) \($0.figure) to go" }
    return "\(part.name): \(figures)\(missing.joined()); "
      + "\(done.count) pieces, \(Int(seconds)) s of processors"
  }
}

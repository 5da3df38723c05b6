import Glibc
import HeartwoodEngine
import HeartwoodFiles
import Workload

/// Commits until the power is cut, and prints the number of each full commit after it has returned.
///
///     power-cut-victim FOLDER SEED THREADS KIND [TRACE]
///
/// TRACE is a disk to which the file system calls are written.
@main
struct PowerCutVictim {
  static func main() {
    let words = CommandLine.arguments
    guard words.count >= 5, let seed = UInt64(words[2]), let threads = Int(words[3]),
      let kind = VictimKind(rawValue: words[4])
    else {
      fail("usage: power-cut-victim FOLDER SEED THREADS KIND [TRACE]")
    }
    let course = Course(
      path: words[1], seed: seed, threads: threads, kind: kind, trace: words.dropFirst(5).first)
    do {
      try course.run()
    } catch {
      fail("\(error)")
    }
  }

  static func fail(_ message: String) -> Never {
    Console.write("victim failed: \(message)\n")
    exit(1)
  }
}

/// The serial line, which is the only output of the machine.
enum Console {
  /// Writes a line with one system call, so that lines of several threads do not mix.
  static func write(_ line: String) {
    let bytes = Array(line.utf8)
    _ = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
  }
}

import Foundation
import Workload

/// A virtual machine in software emulation that runs the victim. Its only disk is served over a socket.
///
/// The guest sees a disk with a write cache, so its flushes are requests. qemu itself caches nothing
/// (`cache.direct`).
final class Machine {
  /// The files for starting a machine.
  struct Boot {
    var kernel: String
    var initialRamDisk: String
  }

  /// The program that runs in the machine.
  struct Victim {
    var format: DiskFormat
    var seed: UInt64
    var threads = 1
    var kind = VictimKind.full
    var processors = 1
    /// Whether the guest's kernel writes unsynced data as soon as possible instead of after 30 seconds.
    var hasHastyWriteback = false
    /// Whether the file system calls are traced.
    var isTraced = false
    /// The mutant of the engine; nil for none.
    var mutant: String?
  }

  private let process = Process()
  private let output = Pipe()

  /// Starts a machine. Its console is passed to the recorder.
  init(_ boot: Boot, _ victim: Victim, disks socket: String, _ recorder: Recorder) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "\(victim.processors)", "-m", "768"]
      + ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-serial", "stdio"]
      + ["-kernel", boot.kernel, "-initrd", boot.initialRamDisk]
      + ["-append", Self.commandLine(victim)] + Self.disk("disk", socket)
      + (victim.isTraced ? Self.disk("trace", socket) : [])
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let handle = output.fileHandleForReading
    Thread.detachNewThread { Self.readLines(handle, into: recorder) }
  }

  /// Kills the machine at an arbitrary point, as a power cut would.
  func kill() {
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static func commandLine(_ victim: Victim) -> String {
    "console=ttyS0 quiet loglevel=2 panic=-1 mitigations=off "
      + "format=\(victim.format.rawValue) seed=\(victim.seed) threads=\(victim.threads) "
      + "kind=\(victim.kind) writeback=\(victim.hasHastyWriteback ? "hasty" : "usual")"
      + (victim.isTraced ? " trace=/dev/vdb" : "") + (victim.mutant.map { " HEARTWOOD_MUTANT=\($0)" } ?? "")
  }

  private static func disk(_ name: String, _ socket: String) -> [String] {
    let block =
      "driver=nbd,node-name=\(name),server.type=unix,server.path=\(socket),export=\(name),"
      + "cache.direct=on,cache.no-flush=off,discard=unmap"
    return ["-blockdev", block, "-device", "virtio-blk-pci,drive=\(name),write-cache=on"]
  }

  private static func readLines(_ handle: FileHandle, into recorder: Recorder) {
    var rest = Data()
    while case let more = handle.availableData, !more.isEmpty {
      rest += more
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: rest[..<end], as: UTF8.self)
        recorder.append(line: line.trimmingCharacters(in: .whitespacesAndNewlines))
        rest = Data(rest[(end + 1)...])
      }
    }
    recorder.endLines()
  }
}

extension Machine.Victim: CustomStringConvertible {
  var description: String {
    "\(format), \(kind), \(threads) threads, seed \(seed)\(isTraced ? ", traced" : "")"
      + (mutant.map { ", \($0)" } ?? "")
  }
}

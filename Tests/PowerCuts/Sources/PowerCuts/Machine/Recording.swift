import Comparison
import Cutting
import Foundation

/// The life of one machine, from its initial disk image to the moment at which it was killed.
struct Recording {
  let victim: Machine.Victim
  /// The initial disk image.
  let base: ImageFile
  let record: DiskRecord
  /// The file system calls of the victim; nil if they were not traced.
  let trace: CallTrace?

  /// Runs a machine on a copy of `base` and kills it.
  ///
  /// - Parameter isEnough: Called after each printed line. The machine is killed `delay` seconds after it has
  ///   returned true.
  static func make(
    _ victim: Machine.Victim, on base: ImageFile, _ boot: Machine.Boot, in folder: URL, delay: Double = 0,
    until isEnough: (DiskRecord) -> Bool
  ) throws -> Recording {
    let recorder = Recorder()
    let live = folder.appending(path: "live.img").path
    let socket = folder.appending(path: "disk.socket").path
    defer { try? FileManager.default.removeItem(atPath: live) }
    let disk = try RecordedDisk(try base.copied(to: live), recorder)
    let trace = TraceDisk(recorder)
    let server = try DiskServer(at: socket, disks: ["disk": disk, "trace": trace])
    defer { server.close() }
    let machine = try Machine(boot, victim, disks: socket, recorder)
    do {
      defer { machine.kill() }
      try recorder.wait(seconds: 300, until: isEnough)
      Thread.sleep(forTimeInterval: delay)
    }
    return Recording(
      victim: victim, base: base, record: recorder.record, trace: victim.isTraced ? trace.calls : nil)
  }
}

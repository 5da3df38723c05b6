#if os(Linux)
  import Synchronization

  /// What the system tells of a directory (`inotify`), and a pipe by which threads wake the one that waits.
  final class PosixDirectoryWatch: DirectoryWatch {
    private let changes: Int32
    private let alarm: (read: Int32, write: Int32)
    private let isAwake = Atomic(false)

    init(_ directory: Int32, path: String) throws(FileSystemError) {
      do throws(SystemError) {
        changes = try SystemCall.watchDirectory(directory)
        do throws(SystemError) {
          alarm = try SystemCall.makePipe()
        } catch {
          try? SystemCall.close(changes)
          throw error
        }
      } catch {
        throw FileSystemError(error, .watch, path: path)
      }
    }

    deinit {
      for descriptor in [changes, alarm.read, alarm.write] { try? SystemCall.close(descriptor) }
    }

    func wait(seconds: Double?) -> Bool {
      let isReadable: [Bool]
      do {
        isReadable = try SystemCall.waitUntilReadable([changes, alarm.read], seconds: seconds)
      } catch {
        // Never seen, and better than a thread that runs in circles.
        CurrentThread.sleep(microseconds: 50_000)
        return true
      }
      if isReadable[0] { SystemCall.empty(changes) }
      if isReadable[1] {
        SystemCall.empty(alarm.read)
        // Whoever calls from now on rings again; what was done before a call is seen by whoever returns from here.
        _ = isAwake.exchange(false, ordering: .acquiringAndReleasing)
      }
      return isReadable.contains(true)
    }

    func wake() {
      if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { SystemCall.ring(alarm.write) }
    }
  }
#endif

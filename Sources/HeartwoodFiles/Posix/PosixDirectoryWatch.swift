#if os(Linux)
  import Synchronization

  /// A directory watch by `inotify`, with a pipe that wakes the waiting thread.
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
        // Never observed. The pause keeps a repeated error from becoming a busy loop.
        CurrentThread.sleep(microseconds: 50_000)
        return true
      }
      if isReadable[0] { SystemCall.empty(changes) }
      if isReadable[1] {
        SystemCall.empty(alarm.read)
        // From here on `wake()` writes to the pipe again. The exchange makes everything done before an
        // earlier `wake()` visible to the thread that returns from here.
        _ = isAwake.exchange(false, ordering: .acquiringAndReleasing)
      }
      return isReadable.contains(true)
    }

    func wake() {
      if !isAwake.exchange(true, ordering: .acquiringAndReleasing) { SystemCall.ring(alarm.write) }
    }
  }
#endif

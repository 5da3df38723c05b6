import Dispatch
import HeartwoodFiles
import Testing

@Suite struct SystemTests {
  @Test func `a lock lets one thread in at a time`() {
    final class Counter: @unchecked Sendable { var value = 0 }
    let lock = Lock()
    let counter = Counter()
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<5000 { lock.withLock { counter.value += 1 } }
    }
    #expect(counter.value == 20_000)
    lock.lock()
    let isTakenTwice = lock.tryLock()
    #expect(!isTakenTwice)
    lock.unlock()
    let isTaken = lock.tryLock()
    #expect(isTaken)
    lock.unlock()
  }

  @Test func `a queue does its work in order and drains`() {
    let worker = QueueWorker()
    let seen = Guarded<[Int]>([])
    for number in 0..<100 {
      worker.submit { seen.withLock { $0.append(number) } }
    }
    worker.drain()
    #expect(seen.withLock { $0 } == Array(0..<100))
  }

  @Test func `a queue does delayed work in the order of its times`() async {
    let worker = QueueWorker()
    let seen = Guarded<[Int]>([])
    await withCheckedContinuation { done in
      worker.submit(afterSeconds: 0.02) {
        seen.withLock { $0.append(2) }
        done.resume()
      }
      worker.submit(afterSeconds: 0) { seen.withLock { $0.append(1) } }
    }
    #expect(seen.withLock { $0 } == [1, 2])
  }

  @Test func `an inline worker has finished when it returns`() {
    let count = Guarded(0)
    InlineWorker().submit { count.withLock { $0 += 1 } }
    #expect(count.withLock { $0 } == 1)
    InlineWorker().drain()
  }

  @Test func `reserved memory reads as zeros, before use and after it is discarded`() throws {
    // Far more than the machine has: only touched pages use memory.
    let memory = try AnonymousMemory(byteCount: 1 << 36)
    let page = AnonymousMemory.pageSize
    memory.preferLargePages(from: page)
    memory.preferLargePages(from: 1 << 36)
    memory.base.storeBytes(of: 7, toByteOffset: 3 * page, as: UInt8.self)
    memory.base.storeBytes(of: 8, toByteOffset: 4 * page, as: UInt8.self)
    #expect(memory.base.load(as: UInt64.self) == 0)
    #expect(memory.base.load(fromByteOffset: (1 << 36) - 8, as: UInt64.self) == 0)
    try memory.discard(3 * page..<4 * page)
    #expect(memory.base.load(fromByteOffset: 3 * page, as: UInt8.self) == 0)
    #expect(memory.base.load(fromByteOffset: 4 * page, as: UInt8.self) == 8)
  }

  @Test func `a reservation of more addresses than exist is an error`() {
    #expect(failure { _ = try AnonymousMemory(byteCount: 1 << 60) } == "map: out of memory")
  }

  @Test func `the clock is after the year 2020 and two random numbers differ`() {
    #expect(SystemClock().nanosecondsSince1970 > 1_577_836_800_000_000_000)
    #expect(SystemEntropy().next() != SystemEntropy().next())
    #expect(CurrentProcess.identifier > 0)
    #expect(CurrentThread.identifier == CurrentThread.identifier)
  }

  @Test(arguments: [
    ("a", "."), ("a/", "."), ("/", "/"), ("/a", "/"), ("/a/", "/"), ("/a/b", "/a/"), ("a//b//", "a//"),
  ])
  func `the parent of a path is the folder of its last part`(path: String, parent: String) {
    #expect(FileName.parent(of: path) == parent)
  }

  @Test func `a path without links is resolved from its text`() {
    #expect(FileName.components(of: "/a/./b//../c/") == ["a", "c"])
    #expect(FileName.components(of: "../..") == [])
  }
}

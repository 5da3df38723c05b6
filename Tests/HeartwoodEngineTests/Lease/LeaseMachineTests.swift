import Testing

@testable import HeartwoodEngine

@Suite("The states of a writer lease")
struct LeaseMachineTests {
  /// All states that events can reach, with at most two operations.
  private static let reachable: Set<LeaseMachine> = {
    var seen: Set<LeaseMachine> = [LeaseMachine(.released), LeaseMachine(.held)]
    var open = Array(seen)
    while let state = open.popLast() {
      for event in LeaseMachine.Event.allCases {
        guard let next = state.after(event), next.operations <= 2, seen.insert(next).inserted else {
          continue
        }
        open.append(next)
      }
    }
    return seen
  }()

  @Test func `every phase is reachable, announced and unannounced where the diagram allows both`() {
    let phases = Set(Self.reachable.map(\.phase))
    #expect(phases == Set(LeaseMachine.Phase.allCases))
    // Five phases, three counts of operations, announced or not.
    #expect(Self.reachable.count == 30)
  }

  @Test(arguments: LeaseMachine.Phase.allCases)
  func `each phase accepts exactly the events of the diagram`(phase: LeaseMachine.Phase) {
    let expected: [LeaseMachine.Phase: [LeaseMachine.Event: LeaseMachine.Phase]] = [
      .released: [.request: .waiting, .closed: .closed],
      .waiting: [.fileLocked: .takingOver, .failed: .released],
      .takingOver: [.takenOver: .held, .failed: .released, .announced: .takingOver],
      .held: [.announced: .held, .released: .released, .closed: .closed],
      .closed: [.closed: .closed],
    ]
    for state in Self.reachable where state.phase == phase {
      for event in LeaseMachine.Event.allCases {
        let next = state.after(event)
        switch event {
        case .operationBegan: #expect(next?.operations == state.operations + 1 && next?.phase == phase)
        case .operationEnded:
          #expect(state.operations == 0 ? next == nil : next?.operations == state.operations - 1)
        case .released where state.operations > 0: #expect(next == nil)
        default: #expect(next?.phase == expected[phase]?[event], "\(event) in \(state)")
        }
      }
    }
  }

  @Test func `the lease is released only while it is held and no operation needs it`() {
    for state in Self.reachable {
      #expect(state.mayRelease == (state.after(.released) != nil), "\(state)")
    }
  }

  @Test func `a lease that is acquired again is not announced yet`() {
    for state in Self.reachable {
      if let next = state.after(.fileLocked) { #expect(!next.isAnnounced) }
    }
  }

  @Test func `while one thread acquires the lease, no other thread writes the shared header`() {
    for state in Self.reachable {
      #expect(state.mayAnnounce(isWriter: false) == (state.phase == .held))
      #expect(state.mayAnnounce(isWriter: true) == (state.phase == .held || state.phase == .takingOver))
    }
  }

  @Test func `the newest record decides what a process does before it writes`() {
    #expect(LeaseMachine.takeover(counter: nil, isHeld: true, lastOwn: 0) == .recover)
    #expect(LeaseMachine.takeover(counter: 7, isHeld: true, lastOwn: 7) == .resume)
    #expect(LeaseMachine.takeover(counter: 7, isHeld: false, lastOwn: 7) == .resume)
    #expect(LeaseMachine.takeover(counter: 8, isHeld: false, lastOwn: 7) == .refresh)
    #expect(LeaseMachine.takeover(counter: 8, isHeld: true, lastOwn: 7) == .recover)
  }

  @Test func `an answer waits for a recovery, and is given at once while the writer lives`() {
    func settling(held: Bool, recovering: Bool = false, free: Bool, successor: Bool, newest: Bool = true)
      -> LeaseMachine.Settling
    {
      LeaseMachine.settling(
        isHeld: held, isRecovering: recovering, isFileLockFree: free, hasSuccessor: successor,
        isNewest: newest)
    }
    #expect(settling(held: false, free: true, successor: false) == .isSettled)
    #expect(settling(held: false, free: false, successor: true) == .isSettled)
    #expect(settling(held: true, free: true, successor: false) == .isAbandoned)
    #expect(settling(held: true, free: true, successor: true) == .isAbandoned)
    #expect(settling(held: true, free: false, successor: false) == .isSettled)
    #expect(settling(held: true, free: false, successor: true) == .isOpen)
    #expect(settling(held: true, recovering: true, free: false, successor: false) == .isOpen)
    #expect(settling(held: true, free: false, successor: false, newest: false) == .isOpen)
  }
}

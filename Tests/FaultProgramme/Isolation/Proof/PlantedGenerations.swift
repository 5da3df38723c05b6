extension PlantedAnomaly {
  /// Anomalies of snapshots.
  static let snapshots = [
    PlantedAnomaly("a snapshot older than an acknowledgement", .staleSnapshot, .snapshots) { planter in
      let x = planter.freshList()
      planter.commit(.append(x, 1_000_001))
      planter.run(.read(x, []), from: planter.newest - 1)
    },
    PlantedAnomaly("a session that goes back, nothing acknowledged", .sessionGoesBack, .snapshots) {
      planter in
      let x = planter.freshList()
      let (writing, first, second) = (planter.tick(), planter.tick(), planter.tick())
      planter.commit(.append(x, 1_000_001), begin: writing)
      planter.run(.read(x, [1_000_001]), session: 77, begin: first)
      planter.run(.read(x, []), from: planter.newest - 1, session: 77, begin: second)
    },
    PlantedAnomaly("a generation with half of a transaction", .splitGeneration, .snapshots) { planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      planter.commit(.append(x, 1_000_001), .append(y, 1_000_002))
      planter.run(.read(x, [1_000_001]), .read(y, []))
    },
    PlantedAnomaly("a read of a later generation", .futureRead, .snapshots) { planter in
      let x = planter.freshList()
      let begin = planter.tick()
      planter.commit(.append(x, 1_000_001))
      planter.run(.read(x, [1_000_001]), from: planter.newest - 1, begin: begin)
    },
    PlantedAnomaly("a snapshot of what has not begun", .futureRead, .snapshots) { planter in
      let x = planter.freshList()
      planter.run(.read(x, []), from: planter.newest + 1)
      planter.commit(.append(planter.freshList(), 1_000_001))
    },
    PlantedAnomaly("an acknowledged commit that is nowhere", .lostCommit, .snapshots) { planter in
      let x = planter.freshList()
      planter.commit(.read(x, []), .append(x, 1_000_001))
      planter.show(x, [])
    },
  ]

  /// Anomalies of commits.
  static let commits = [
    PlantedAnomaly("a second committer of an object", .secondCommitter, .snapshots) { planter in
      let r = planter.freshRegister()
      let (base, begin) = (planter.newest, planter.tick())
      planter.commit(.set(r, [1_000_001]), from: base)
      planter.commit(.set(r, [1_000_002]), from: base, begin: begin)
    },
    PlantedAnomaly("a second committer among those who see the newest", .secondCommitter, .snapshots, .newest)
    {
      planter in
      let r = planter.freshRegister()
      planter.commit(.read(r, []), .set(r, [1_000_001]))
      planter.commit(.read(r, []), .set(r, [1_000_002]))
    },
    PlantedAnomaly("two transactions of one generation", .sharedGeneration, .snapshots) { planter in
      planter.commit(.append(planter.freshList(), 1_000_001))
      let second = planter.commit(.append(planter.freshList(), 1_000_002))
      let generation = planter.newest - 1
      planter.changeTransaction(second) { $0.outcome = .committed(generation) }
    },
    PlantedAnomaly("a generation that no transaction made", .generationGap, .snapshots) { planter in
      let id = planter.commit(.append(planter.freshList(), 1_000_001))
      let generation = planter.newest + 1
      planter.changeTransaction(id) { $0.outcome = .committed(generation) }
      planter.change { $0.account[$0.account.count - 1].generation = generation }
    },
    PlantedAnomaly("a commit not after its own snapshot", .commitBeforeSnapshot, .snapshots) { planter in
      planter.commit(.append(planter.freshList(), 1_000_001), from: planter.newest + 1)
    },
    PlantedAnomaly("a serial writer that missed a commit", .commitBeforeSnapshot, .snapshots, .serial) {
      planter in
      let (base, begin) = (planter.newest, planter.tick())
      planter.commit(.append(planter.freshList(), 1_000_001))
      planter.commit(.append(planter.freshList(), 1_000_002), from: base, begin: begin)
    },
    PlantedAnomaly("an unknown outcome that flips", .outcomeFlips, .snapshots) { planter in
      let id = planter.commit(.append(planter.freshList(), 1_000_001))
      let generation = planter.newest
      planter.changeTransaction(id) { $0.outcome = .unknown([generation, nil, generation]) }
    },
  ]

  /// Anomalies of the store's history.
  static let accounts = [
    PlantedAnomaly("a history without a commit", .historyGap, .snapshots) { planter in
      let index = planter.anyEntry()
      planter.change { history in _ = history.account.remove(at: index) }
    },
    PlantedAnomaly("a history with a commit twice", .historyDuplicate, .snapshots) { planter in
      let index = planter.anyEntry()
      planter.change { $0.account.insert($0.account[index], at: index) }
    },
    PlantedAnomaly("a commit in two generations, half in each", .historyDuplicate, .snapshots) { planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      let id = planter.commit(.append(x, 1_000_001), .append(y, 1_000_002))
      let generation = planter.newest
      planter.change { history in
        history.account[history.account.count - 1].changes = .keys([x])
        history.account.append(
          History.Entry(generation: generation + 1, transaction: id, changes: .keys([y])))
      }
    },
    PlantedAnomaly("a history in another order", .historyOrder, .snapshots) { planter in
      planter.commit(.append(planter.freshList(), 1_000_001))
      planter.commit(.append(planter.freshList(), 1_000_002))
      planter.change { $0.account.swapAt($0.account.count - 1, $0.account.count - 2) }
    },
    PlantedAnomaly("a history with other changes", .historyChanges, .snapshots) { planter in
      let index = planter.anyEntry()
      planter.change { $0.account[index].changes = .count(99) }
    },
    PlantedAnomaly("a history without one of the changes", .historyChanges, .snapshots) { planter in
      let (x, y) = (planter.freshList(), planter.freshList())
      planter.commit(.append(x, 1_000_001), .append(y, 1_000_002))
      planter.change { $0.account[$0.account.count - 1].changes = .keys([x]) }
    },
    PlantedAnomaly("a history with a commit of no transaction", .ghostCommit, .snapshots) { planter in
      let generation = planter.newest + 1
      planter.change {
        $0.account.append(History.Entry(generation: generation, transaction: 99_999, changes: .keys([0])))
      }
    },
  ]
}

extension Planter {
  /// The index of a random commit in the store's history.
  fileprivate mutating func anyEntry() -> Int {
    if history.account.isEmpty { commit(.append(freshList(), 1_000_009)) }
    return random.below(history.account.count)
  }
}
